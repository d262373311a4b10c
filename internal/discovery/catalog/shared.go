package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// ProjectPrefix begins the names of hooks that a repository brings along.
const ProjectPrefix = "project:"

// sharedTime is how long the file systems of packs and repositories may take.
const sharedTime = 5 * time.Second

// dirs finds the folders of hooks beside the hooks directory under settings c:
// folders that the settings name, packs, and the working trees of repositories
// that are trusted. Where a file system does not answer, the folders that were found
// there before stay; nothing else is affected.
func dirs(c config.Config, p policy.Home) func() discovery.Dirs {
	f := finder{
		config: c, policy: p, patience: readfile.NewPatience(sharedTime, nil), before: map[string]discovery.Dirs{},
	}
	return f.find
}

// finder remembers the folders that dirs has found.
type finder struct {
	config   config.Config
	policy   policy.Home
	patience *readfile.Patience

	mu      sync.Mutex
	before  map[string]discovery.Dirs
	trusted []Trusted
}

func (f *finder) find() discovery.Dirs {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := discovery.Dirs{Allowed: map[string]discovery.Approval{}, Folders: []string{f.config.TrustedDir()}}
	for _, s := range f.config.Sources {
		if s.Type == config.HookDir {
			all.List = append(all.List, discovery.Dir{Root: s.Path, Named: true})
		}
	}
	signed := f.config.PolicyDir()
	f.add(&all, signed, f.look(signed, func() discovery.Dirs { return policyDirs(f.config, f.policy) }))
	packs := pack.NewHome(f.config.Home).PacksDir()
	f.add(&all, packs, f.look(packs, func() discovery.Dirs { return packDirs(f.config) }))
	trusted := make(chan []Trusted, 1)
	if f.patience.Try(f.config.TrustedDir(), func() { trusted <- ListTrusted(f.config) }) {
		f.trusted = <-trusted
	}
	for i, d := range f.projects() {
		f.add(&all, f.trusted[i].Repository, d)
	}
	return all
}

// projects finds the hooks of all trusted repositories at once, so that all repositories
// that do not answer cost the time of one.
func (f *finder) projects() []*discovery.Dirs {
	list := make([]*discovery.Dirs, len(f.trusted))
	var found sync.WaitGroup
	for i, t := range f.trusted {
		found.Go(func() {
			list[i] = f.look(t.Repository, func() discovery.Dirs { return projectDirs(t) })
		})
	}
	found.Wait()
	for i, t := range f.trusted {
		if _, known := f.before[t.Repository]; list[i] == nil && !known {
			f.before[t.Repository] = t.asTrusted()
		}
	}
	return list
}

// look returns the folders that find finds in a place, nil if its file system does not answer.
func (f *finder) look(place string, find func() discovery.Dirs) *discovery.Dirs {
	found := make(chan *discovery.Dirs, 1)
	if !f.patience.Try(place, func() {
		d := find()
		found <- &d
	}) {
		return nil
	}
	return <-found
}

// add adds the folders found in a place, or if found is nil, the folders found there before.
func (f *finder) add(all *discovery.Dirs, place string, found *discovery.Dirs) {
	if found != nil {
		f.before[place] = *found
	} else {
		all.Problems = append(all.Problems, hook.Problem{
			File: place, Message: "its file system does not answer: hooks there are those from before", Hint: "df",
		})
	}
	d := f.before[place]
	all.List, all.Problems = append(all.List, d.List...), append(all.Problems, d.Problems...)
	all.Fixed = append(all.Fixed, d.Fixed...)
	all.Files, all.Folders = append(all.Files, d.Files...), append(all.Folders, d.Folders...)
	maps.Copy(all.Allowed, d.Allowed)
	if d.Off != nil {
		all.Off = d.Off
	}
}

// packDirs finds the packs that hooks.lock names. Hooks of the gallery are the hooks of the
// program: they wait no more than the user's own.
func packDirs(c config.Config) discovery.Dirs {
	home := pack.NewHome(c.Home)
	d := discovery.Dirs{Files: []string{home.LockFile()}, Allowed: map[string]discovery.Approval{}}
	lock, err := home.Lock()
	if err != nil {
		d.Problems = append(d.Problems, hook.Problem{
			File: home.LockFile(), Message: "no pack is loaded: " + err.Error(),
			Hint: "restore it, or move it away and add the packs again with `hookd add`",
		})
		return d
	}
	if len(lock.Packs) > 0 {
		packs := home.PacksDir() + "/"
		for id, a := range discovery.NewApprovals(c.AllowedDir()).All() {
			if strings.HasPrefix(a.Source.Path, packs) {
				d.Allowed[id] = a
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Packs)) {
		l := lock.Packs[name]
		dir := discovery.Dir{Root: home.Dir(name), Hooks: l.HookFolders(), Prefix: pack.Prefix(name)}
		if l.Kind != pack.FromGallery {
			dir.Layer = hook.LayerPack
			filesOf := l.FilesOf()
			dir.Files = func(folder string) hook.Files { return packFiles(filesOf, dir.Root, folder) }
		}
		d.List = append(d.List, dir)
	}
	return d
}

// packFiles are the files of a pack that count as one hook's content.
func packFiles(filesOf func(folder string) []string, root, folder string) (f hook.Files) {
	inside, err := filepath.Rel(root, folder)
	if err != nil {
		return hook.Files{Bad: err.Error()}
	}
	for _, name := range filesOf(filepath.ToSlash(inside)) {
		f.Paths = append(f.Paths, filepath.Join(root, filepath.FromSlash(name)))
	}
	if len(f.Paths) > maxContent {
		return hook.Files{Bad: fmt.Sprintf("is made of more than %d files", maxContent)}
	}
	return f
}

// maxContent is how many files a shared hook may be made of: each is looked at
// before each start.
const maxContent = 200

// maxContentBytes is how many bytes a project's hook may be made of: they are
// summed up in each scan.
const maxContentBytes = 16 << 20

// projectDirs finds the hooks of a trusted repository, in all its working trees.
func projectDirs(t Trusted) discovery.Dirs {
	d := discovery.Dirs{
		Folders: []string{project.WorktreesDir(t.Repository)}, Files: project.Watched(t.Repository),
		Allowed: map[string]discovery.Approval{},
	}
	for _, root := range project.Trees(t.Repository) {
		d.List = append(d.List, projectDir(root))
		maps.Copy(d.Allowed, t.approvals(root))
	}
	return d
}

// asTrusted are the hooks of a repository that does not answer, in its main working
// tree, as they were when they were allowed.
func (t Trusted) asTrusted() (d discovery.Dirs) {
	root, main := strings.CutSuffix(t.Repository, "/.git")
	if !main {
		return d
	}
	dir := projectDir(root)
	dir.Hooks = []string{}
	d.Allowed = t.approvals(root)
	for _, a := range d.Allowed {
		if name, err := filepath.Rel(dir.Root, a.Source.Path); err == nil && !slices.Contains(dir.Hooks, name) {
			dir.Hooks = append(dir.Hooks, name)
		}
	}
	slices.Sort(dir.Hooks)
	d.List = []discovery.Dir{dir}
	return d
}

func projectDir(root string) discovery.Dir {
	return discovery.Dir{
		Root:  filepath.Join(root, filepath.FromSlash(project.HooksDir)),
		Layer: hook.LayerProject, Prefix: ProjectPrefix, Project: root,
		Files: func(folder string) hook.Files { return projectFiles(root, folder) },
	}
}

// projectFiles are all files in the folder of a project's hook. Neither the folder nor
// any entry may be a link: the target of a link is not in the project.
func projectFiles(root, folder string) (f hook.Files) {
	for dir := folder; dir != root && dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return hook.Files{Bad: "is not a folder of the project: " + dir + " is a link"}
		}
	}
	size := int64(0)
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case info.IsDir():
			f.Folders = append(f.Folders, path)
		case info.Mode().IsRegular():
			f.Paths, size = append(f.Paths, path), size+info.Size()
		default:
			return fmt.Errorf("holds %s, which is no regular file", e.Name())
		}
		if size > maxContentBytes {
			return fmt.Errorf("has more than %d MiB of files", maxContentBytes>>20)
		}
		if len(f.Paths)+len(f.Folders) > maxContent {
			return fmt.Errorf("is made of more than %d files", maxContent)
		}
		return nil
	})
	if err != nil {
		return hook.Files{Bad: err.Error()}
	}
	return f
}

// HookFile is the HOOK.yaml of a folder that was not put in place yet, or that
// is not trusted yet, as a hook of a layer.
type HookFile struct {
	Hook     *hook.Hook // nil when it is rejected
	Folder   string
	Problems []hook.Problem
}

// ReadPack reads the hooks of a pack that stands in root.
func ReadPack(c config.Config, root, name string, content pack.Content) []HookFile {
	opts := readOptions(c, false)
	opts.Layer, opts.Prefix = hook.LayerPack, pack.Prefix(name)
	return readFolders(root, content.HookFolders(), opts)
}

// readFolders reads the hooks of folders below root, several at a time.
func readFolders(root string, folders []string, opts hookdir.Options) []HookFile {
	list := make([]HookFile, len(folders))
	var reading sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for n := range workers {
		reading.Go(func() {
			for i := n; i < len(list); i += workers {
				h, problems := hookdir.Read(filepath.Join(root, filepath.FromSlash(folders[i])), opts)
				list[i] = HookFile{h, folders[i], problems}
			}
		})
	}
	reading.Wait()
	return list
}

// CheckHooks says why a pack or a policy cannot be put in place as it is: two of its hooks
// have one name, or one cannot be read.
func CheckHooks(list []HookFile) error {
	names := map[string]string{}
	var bad error
	for _, f := range list {
		if f.Hook == nil {
			file := path.Join(f.Folder, hookdir.FileName)
			bad = errors.Join(bad, fmt.Errorf("%s: %s", file, Worst(f.Problems).Message))
			continue
		}
		if other, twice := names[f.Hook.Name]; twice {
			return fmt.Errorf("%s and %s are both called %s", other, f.Folder, escape.Quote(f.Hook.Name))
		}
		names[f.Hook.Name] = f.Folder
	}
	return bad
}

// RemovePack forgets the approvals of a pack's hooks and takes it away.
func RemovePack(c config.Config, name string) error {
	home := pack.NewHome(c.Home)
	dir := home.Dir(name)
	approvals := discovery.NewApprovals(c.AllowedDir())
	for id, a := range approvals.All() {
		if a.Source.Path == dir || strings.HasPrefix(a.Source.Path, dir+"/") {
			if err := approvals.Remove(id); err != nil {
				return err
			}
		}
	}
	return home.Remove(name)
}
