package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FetchLimit is how long a fetch from a remote may take.
const FetchLimit = 3 * time.Minute

// maxPack is how many bytes a remote may send before the fetch is given up.
const maxPack = 256 << 20

// remoteSettings are the settings of each run for a remote. The user's own
// settings count besides, as a proxy or a credential helper may be needed. A remote sets
// no setting.
var remoteSettings = append(slices.Clone(inert),
	"fetch.recurseSubmodules=false", "fetch.writeCommitGraph=false", "fetch.showForcedUpdates=false",
	"transfer.bundleURI=false", "init.templateDir=", "protocol.version=2",
)

// Remote is a repository at a URL. Its objects are fetched into a bare repository of
// our own, and read from there: there is never a working tree, so none of its hooks,
// filters, monitors or submodules can run.
type Remote struct {
	url string
	dir string
	env []string
}

// Ref is a remote's name and the commit that it stands for.
type Ref struct {
	Name   string // refs/tags/v1, refs/heads/main, HEAD
	Commit string // of an annotated tag the commit that it names
}

// Entry is one entry of a commit's tree.
type Entry struct {
	Path string // with slashes, relative to the top
	Mode string // 100644, 100755, 120000 (link), 160000 (submodule)
	ID   string // of the object
	Size int64  // bytes; 0 for a submodule
}

// OpenRemote prepares dir, an empty folder, to fetch from url. The protocols are
// https, ssh, http and git; file only where the URL says so.
func OpenRemote(ctx context.Context, url, dir string) (*Remote, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, err
	}
	if strings.HasPrefix(url, "-") || strings.Contains(url, "::") || strings.ContainsAny(url, "\n\x00") {
		return nil, fmt.Errorf("%q is no URL that is fetched from", url)
	}
	protocols := "https:ssh:http:git"
	if strings.HasPrefix(url, "file://") {
		protocols = "file"
	}
	env := append(
		Clean(nil), "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL="+protocols, "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_DIR="+dir, "LC_ALL=C.UTF-8",
	)
	for _, own := range []string{"GIT_SSH_COMMAND", "GIT_SSH"} { // how the user reaches a server
		if value := os.Getenv(own); value != "" {
			env = append(env, own+"="+value)
		}
	}
	r := &Remote{url: url, dir: dir, env: withSettings(env, remoteSettings)}
	_, err := r.output(ctx, 1<<16, "init", "--quiet", "--bare", "--template=", dir)
	return r, err
}

// Refs lists HEAD, the branches and the tags of the remote.
func (r *Remote) Refs(ctx context.Context) ([]Ref, error) {
	out, err := r.output(ctx, 16<<20, "ls-remote", "--quiet", "--", r.url)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if tag, peeled := strings.CutSuffix(name, "^{}"); peeled {
			if i := slices.IndexFunc(refs, func(r Ref) bool { return r.Name == tag }); i >= 0 {
				refs[i].Commit = id
			}
			continue
		}
		counts := name == "HEAD" || strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/")
		if ok && counts && IsCommit(id) {
			refs = append(refs, Ref{Name: name, Commit: id})
		}
	}
	return refs, nil
}

// IsCommit reports whether text is a whole object id.
func IsCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// Fetch brings a commit. It asks for that commit alone, and for all branches and
// tags where the server does not give single commits.
func (r *Remote) Fetch(ctx context.Context, commit string) error {
	fetch := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"}
	_, err := r.output(ctx, 1<<16, append(fetch, "--depth=1", "--", r.url, commit+":refs/pack/one")...)
	if err != nil && ctx.Err() == nil {
		fetch = append(fetch, "--", r.url, "+refs/heads/*:refs/pack/heads/*", "+refs/tags/*:refs/pack/tags/*")
		if _, all := r.output(ctx, 1<<16, fetch...); all != nil {
			return err
		}
	}
	if _, err := r.output(ctx, 1<<16, "cat-file", "-e", commit+"^{commit}"); err != nil {
		return fmt.Errorf("commit %s is not in %s", commit, r.url)
	}
	return nil
}

// ErrMany says that a tree has more entries than are asked for.
var ErrMany = errors.New("too many files")

// longEntry is how long a line on an entry may be on average, in bytes.
const longEntry = 1 << 10

// Tree lists the files of a commit below path ("" = all), as they stand in it, at
// most limit of them.
func (r *Remote) Tree(ctx context.Context, commit, path string, limit int) ([]Entry, error) {
	spec := commit + ":" + path
	out, err := r.output(ctx, limit*longEntry, "ls-tree", "-r", "-z", "-l", "--full-tree", spec)
	if errors.Is(err, ErrMuch) {
		return nil, ErrMany
	}
	if err != nil {
		return nil, fmt.Errorf("there is no folder %s in commit %.12s: %w", strconv.Quote(path), commit, fs.ErrNotExist)
	}
	var list []Entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		what, name, ok := strings.Cut(line, "\t")
		words := strings.Fields(what) // mode, type, id, size
		if !ok || len(words) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(words[3], 10, 64) // "-" of a submodule
		if list = append(list, Entry{Path: name, Mode: words[0], ID: words[2], Size: size}); len(list) > limit {
			return nil, ErrMany
		}
	}
	return list, nil
}

// Contents calls each with the bytes of every entry that is a file or a link, in
// their order. They are the object's own: nothing is converted.
func (r *Remote) Contents(ctx context.Context, entries []Entry, each func(Entry, []byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, FetchLimit)
	defer cancel()
	var ask bytes.Buffer
	for _, e := range entries {
		fmt.Fprintln(&ask, e.ID)
	}
	cmd := command(ctx, r.dir, r.env, "cat-file", "--batch")
	cmd.Stdin = &ask
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	err = readContents(bufio.NewReader(out), entries, each)
	if err != nil {
		cancel()
		_ = cmd.Wait() // it was killed
		return err
	}
	return cmd.Wait()
}

func readContents(from *bufio.Reader, entries []Entry, each func(Entry, []byte) error) error {
	for _, e := range entries {
		line, err := from.ReadString('\n')
		words := strings.Fields(line) // id, type, size
		if err != nil || len(words) != 3 || words[0] != e.ID || words[2] != strconv.FormatInt(e.Size, 10) {
			return fmt.Errorf("git cat-file: %s is not there", e.Path)
		}
		text := make([]byte, e.Size+1) // a line end follows
		if _, err := io.ReadFull(from, text); err != nil {
			return fmt.Errorf("git cat-file: %s: %w", e.Path, err)
		}
		if err := each(e, text[:e.Size]); err != nil {
			return err
		}
	}
	return nil
}

// output runs git and returns its output, up to limit bytes. A remote that sends more
// than maxPack is given up.
func (r *Remote) output(ctx context.Context, limit int, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, FetchLimit, fmt.Errorf("no answer within %v", FetchLimit))
	defer cancel()
	full, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go r.watchSize(full, stop)
	out, said, err := output(command(full, r.dir, r.env, args...), limit)
	switch {
	case err == nil, errors.Is(err, ErrMuch):
		return out, err
	case full.Err() != nil:
		return out, &Error{args[0], "", context.Cause(full)}
	}
	return out, &Error{args[0], strings.ReplaceAll(said, "\n", "; "), err}
}

// watchSize stops a fetch that fills the disk.
func (r *Remote) watchSize(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var size int64
		// A file that cannot be read is not counted.
		_ = filepath.WalkDir(r.dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					size += info.Size()
				}
			}
			return nil
		})
		if size > maxPack {
			stop(fmt.Errorf("the remote sends more than %d MiB", maxPack>>20))
			return
		}
	}
}
