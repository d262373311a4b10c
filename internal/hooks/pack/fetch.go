package pack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/readfile"
)

// Fetched is a pack that is not in place yet.
type Fetched struct {
	Source  Source
	Commit  string // of git; "" = it has none
	Content Content
	Notes   []string // what a person should know of it
}

// Fetch gets the present content of a source.
func Fetch(ctx context.Context, s Source) (Fetched, error) {
	if s.Kind == FromGit {
		return fetchGit(ctx, s, "")
	}
	f := Fetched{Source: s}
	var err error
	kind := "folder"
	if s.Kind == FromGallery {
		f.Content, err = readGallery(s.Location)
	} else {
		f.Content, err = ReadFolder(filepath.Join(s.Location, filepath.FromSlash(s.Path)))
	}
	if err == nil {
		f.Content, f.Notes, err = f.Content.Check()
	}
	if err == nil {
		err = f.Content.NeedHooks(kind)
	}
	if err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", s, err)
	}
	return f, nil
}

// readGallery is the folder of one hook.
func readGallery(name string) (c Content, err error) {
	folder, err := gallery.Files(name)
	if err != nil {
		return nil, fmt.Errorf("there is no such hook: there are %s", strings.Join(gallery.Names(), ", "))
	}
	err = fs.WalkDir(folder, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, file)
		c = append(c, File{Path: file, Exec: gallery.Mode(text)&0o111 != 0, Data: text})
		return err
	})
	return c, err
}

// ReadFolder reads a folder as it is, except for a repository's own .git. Nothing is
// opened that is no regular file.
func ReadFolder(root string) (c Content, err error) {
	size := 0
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case d.Name() == ".git" && d.IsDir():
			return filepath.SkipDir
		case d.Name() == ".git" || d.IsDir():
			return nil
		case len(c) >= MaxFiles || size > MaxBytes:
			return errLarge
		}
		f, err := readEntry(file, name)
		size += len(f.Data)
		c = append(c, f)
		return err
	})
	return c, err
}

func readEntry(file, name string) (File, error) {
	f := File{Path: name}
	info, err := os.Lstat(file)
	if err != nil {
		return f, err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		f.Link, err = os.Readlink(file)
		return f, err
	case !mode.IsRegular():
		return f, fmt.Errorf("%s is %s: a pack holds files only", name, kindOf(mode))
	case mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return f, fmt.Errorf("%s is setuid or setgid: no file of a pack may be", name)
	}
	f.Exec = info.Mode()&0o111 != 0
	f.Data, err = readfile.Read(file, MaxBytes)
	if errors.Is(err, readfile.ErrTooLarge) {
		err = errLarge
	}
	return f, err
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// fetchGit gets a commit of a repository: the one given, or else the commit that the
// source asks for.
func fetchGit(ctx context.Context, s Source, commit string) (f Fetched, err error) {
	err = withRemote(ctx, s, func(r *git.Remote) error {
		if commit == "" {
			if commit, err = resolve(ctx, r, s); err != nil {
				return err
			}
		}
		if err := r.Fetch(ctx, commit); err != nil {
			return err
		}
		f, err = readCommit(ctx, r, s, commit)
		return err
	})
	if err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", s, err)
	}
	return f, nil
}

// withRemote opens the source's repository in a folder that is there as long as
// do runs.
func withRemote(ctx context.Context, s Source, do func(*git.Remote) error) error {
	dir, err := os.MkdirTemp("", "hookd-pack-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := git.OpenRemote(ctx, s.Location, dir)
	if err != nil {
		return err
	}
	return do(r)
}

// resolve finds the commit that a revision stands for. A branch, which moves,
// has to be meant: Track says so.
func resolve(ctx context.Context, r *git.Remote, s Source) (string, error) {
	if git.IsCommit(s.Revision) {
		return s.Revision, nil
	}
	refs, err := r.Refs(ctx)
	if err != nil {
		return "", err
	}
	return pick(refs, s)
}

func pick(refs []git.Ref, s Source) (string, error) {
	commit := func(name string) string {
		for _, ref := range refs {
			if ref.Name == name {
				return ref.Commit
			}
		}
		return ""
	}
	tag, branch := commit("refs/tags/"+s.Revision), commit("refs/heads/"+s.Revision)
	switch {
	case s.Revision == "" || s.Revision == "HEAD":
		if head := commit("HEAD"); head != "" {
			return head, nil
		}
		return "", errors.New("the repository has no HEAD: name a revision, as in URL@v1")
	case s.Track && branch == "":
		return "", fmt.Errorf("it has no branch %s", s.Revision)
	case s.Track:
		return branch, nil
	case tag != "" && branch != "" && tag != branch:
		return "", fmt.Errorf("%s is a tag and a branch: name the commit, %s or %s", s.Revision, tag, branch)
	case tag != "":
		return tag, nil
	case branch != "":
		return "", fmt.Errorf("%s is a branch, which moves: follow it with --track, or name its commit %s",
			s.Revision, branch)
	}
	return "", fmt.Errorf("it has no tag or branch %s; a commit is written with all its 40 digits", s.Revision)
}

// readCommit reads the files of a commit that was fetched.
func readCommit(ctx context.Context, r *git.Remote, s Source, commit string) (Fetched, error) {
	f := Fetched{Source: s, Commit: commit}
	entries, err := r.Tree(ctx, commit, s.Path, MaxFiles)
	if errors.Is(err, git.ErrMany) {
		err = errLarge
	}
	if err != nil {
		return f, err
	}
	var files []git.Entry
	size := int64(0)
	for _, e := range entries {
		switch size += e.Size; {
		case size > MaxBytes:
			return f, errLarge
		case e.Mode == "160000":
			f.Notes = append(f.Notes, e.Path+" is a submodule: it is not fetched")
		default:
			files = append(files, e)
		}
	}
	if err := r.Contents(ctx, files, func(e git.Entry, text []byte) error {
		file := File{Path: e.Path, Exec: e.Mode == "100755"}
		if e.Mode == "120000" {
			file.Link = string(text)
		} else {
			file.Data = text
		}
		f.Content = append(f.Content, file)
		return nil
	}); err != nil {
		return f, err
	}
	var notes []string
	f.Content, notes, err = f.Content.Check()
	f.Notes = append(f.Notes, notes...)
	if err != nil {
		return f, err
	}
	return f, f.Content.NeedHooks("repository")
}

// interrupted repeats a call that a signal interrupted.
func interrupted(call func() error) (err error) {
	for err = call(); errors.Is(err, syscall.EINTR); err = call() {
	}
	return err
}
