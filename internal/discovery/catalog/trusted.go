package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// Trusted is a repository whose hooks a person has looked at. The trust is in
// their content: a version that is not listed waits.
type Trusted struct {
	Repository string    `json:"repository"` // git directory that its working trees share
	At         time.Time `json:"at"`         // of the first time
	By         string    `json:"by"`
	Versions   []Version `json:"versions"` // newest first
}

// Version is one version of a hook that is trusted. Paths are relative to the
// working tree.
type Version struct {
	Hook   string            `json:"hook"`   // its name
	Folder string            `json:"folder"` // that it was in
	Digest string            `json:"digest"`
	Sum    string            `json:"sum"` // of the definition
	Files  map[string]string `json:"files"`
	Texts  map[string][]byte `json:"texts,omitempty"`
	At     time.Time         `json:"at"`
	By     string            `json:"by"`
}

// maxVersions is how many versions of one hook stay trusted: branches differ.
const maxVersions = 16

// maxTrusted is how long the file of a repository may be.
const maxTrusted = 64 << 20

// ListTrusted lists the repositories that are trusted, by path. A file that cannot be read,
// or that others could have written, trusts nothing.
func ListTrusted(c config.Config) (list []Trusted) {
	entries, _ := os.ReadDir(c.TrustedDir()) // none, nothing is trusted
	checker := trust.New().Cached()
	for _, e := range entries {
		file := filepath.Join(c.TrustedDir(), e.Name())
		if t, ok := readTrusted(checker, file); ok && file == trustedFile(c, t.Repository) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b Trusted) int { return strings.Compare(a.Repository, b.Repository) })
	return list
}

func readTrusted(checker *trust.Checker, file string) (t Trusted, ok bool) {
	text, err := readfile.Read(file, maxTrusted)
	if err != nil || checker.Check(file) != nil || json.Unmarshal(text, &t) != nil {
		return Trusted{}, false
	}
	return t, filepath.IsAbs(t.Repository)
}

func trustedFile(c config.Config, repository string) string {
	return filepath.Join(c.TrustedDir(), trust.Sum([]byte(repository))+".json")
}

// approvals are the approvals in one working tree, by ID of the hook.
func (t Trusted) approvals(root string) map[string]discovery.Approval {
	all := map[string]discovery.Approval{}
	for _, v := range t.Versions {
		id := ProjectPrefix + v.Hook + "@" + root
		if a, known := all[id]; known { // of a newer version
			a.Also = append(a.Also, v.Digest)
			all[id] = a
			continue
		}
		folder := filepath.Join(root, filepath.FromSlash(v.Folder))
		all[id] = discovery.Approval{
			Hook: id, Name: ProjectPrefix + v.Hook, Project: root,
			Source: hook.Source{Type: hookdir.SourceType, Path: folder}, File: filepath.Join(folder, hookdir.FileName),
			Digest: v.Digest, At: v.At, By: v.By, Sum: v.Sum, Files: moved(v.Files, root), Texts: moved(v.Texts, root),
		}
	}
	return all
}

// moved has absolute paths for those relative to root.
func moved[T any](files map[string]T, root string) map[string]T {
	list := map[string]T{}
	for path, value := range files {
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		list[path] = value
	}
	return list
}

func relative[T any](files map[string]T, root string) map[string]T {
	list := map[string]T{}
	for path, value := range files {
		list[strings.TrimPrefix(path, root+"/")] = value
	}
	return list
}

// Project has the hooks that a repository brings along, for a person to look at.
type Project struct {
	Repository project.Repository
	Trusted    bool                  // hooks of it run once they are trusted themselves
	Waiting    []Pending             // hooks that are new or have changed
	Allowed    []*hook.Hook          // hooks that are trusted as they are
	Rejected   []hook.Entry          // hooks that cannot be read
	Hooks      map[string]*hook.Hook // all that can, by ID
}

// LookAtProject reads the hooks of the repository that dir is in, whether it is
// trusted or not. It needs no daemon.
func LookAtProject(c config.Config, dir string) (p Project, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return p, err
	}
	repository, ok := project.Find(dir)
	if !ok {
		return p, fmt.Errorf("%s is in no git repository", dir)
	}
	p = Project{Repository: repository, Hooks: map[string]*hook.Hook{}}
	known := map[string]discovery.Approval{}
	if t, ok := readTrusted(trust.New(), trustedFile(c, repository.ID)); ok {
		p.Trusted, known = true, t.approvals(repository.Root)
	}
	o := Options(c, policy.NewHome(c.PolicyDir()))
	o.Root, o.Files, o.Fixed, o.Approved = filepath.Join(repository.Root, ".hookd", "no-hooks-directory"), nil, nil, nil
	here := discovery.Dirs{List: []discovery.Dir{projectDir(repository.Root)}, Allowed: known}
	o.Dirs = func() discovery.Dirs { return here }
	for _, e := range discovery.Scan(o, nil).Entries {
		switch {
		case e.Waits != nil:
			old, was := known[e.Waits.ID]
			p.Waiting = append(p.Waiting, pending(e.Waits, old, was))
			p.Hooks[e.Waits.ID] = e.Waits
		case e.Hook != nil:
			p.Allowed = append(p.Allowed, e.Hook)
			p.Hooks[e.Hook.ID] = e.Hook
		default:
			p.Rejected = append(p.Rejected, e)
		}
	}
	return p, nil
}

// Trust trusts the repository, and the hooks in it that were looked at, as
// they were then.
func (p Project) Trust(c config.Config) error {
	return trustVersions(c, p.Repository.ID, p.Waiting)
}

// trustVersions notes versions of hooks as trusted.
func trustVersions(c config.Config, repository string, list []Pending) error {
	now, by := time.Now().UTC(), person("")
	t, ok := readTrusted(trust.New(), trustedFile(c, repository))
	if !ok {
		t = Trusted{Repository: repository, At: now, By: by}
	}
	for _, p := range list {
		a := p.approval
		name := strings.TrimPrefix(a.Name, ProjectPrefix)
		known := func(v Version) bool { return v.Hook == name && v.Digest == a.Digest }
		t.Versions = slices.DeleteFunc(t.Versions, known)
		t.Versions = slices.Insert(t.Versions, 0, Version{
			Hook: name, Folder: strings.TrimPrefix(a.Source.Path, a.Project+"/"), Digest: a.Digest, Sum: a.Sum,
			Files: relative(a.Files, a.Project), Texts: relative(a.Texts, a.Project), At: now, By: by,
		})
	}
	count := map[string]int{}
	t.Versions = slices.DeleteFunc(t.Versions, func(v Version) bool {
		count[v.Hook]++
		return count[v.Hook] > maxVersions
	})
	return writeTrusted(c, t)
}

func writeTrusted(c config.Config, t Trusted) error {
	text, err := json.MarshalIndent(t, "", " ")
	file := trustedFile(c, t.Repository)
	if err == nil {
		err = replacefile.MkdirAll(c.TrustedDir())
	}
	if err == nil {
		err = replacefile.Write(file, text)
	}
	if err != nil {
		return fmt.Errorf("store that %s is trusted: %w", t.Repository, err)
	}
	return nil
}

// Revoke ends the trust in a repository; it is no error when there was none.
func Revoke(c config.Config, repository string) error {
	err := os.Remove(trustedFile(c, repository))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
