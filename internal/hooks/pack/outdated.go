package pack

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/git"
)

// Newer says whether there is something newer than a pack that is in place.
type Newer struct {
	Name     string `json:"name"`
	Have     string `json:"have"`   // revision and commit, or "as it was added"
	Latest   string `json:"latest"` // the same of what there is now
	Outdated bool   `json:"outdated"`
	Moved    bool   `json:"moved,omitempty"` // a tag stands for another commit than when it was asked for
	Revision string `json:"-"`               // to ask for to get it; "" = as before
	Why      string `json:"why,omitempty"`   // what a person should know
}

// Outdated looks at where a pack came from.
func Outdated(ctx context.Context, name string, l Locked) (Newer, error) {
	n := Newer{Name: name, Have: version(l.Revision, l.Commit), Latest: version(l.Revision, l.Commit)}
	if l.Kind != FromGit {
		return n, n.compare(ctx, l)
	}
	err := withRemote(ctx, l.Source(), func(r *git.Remote) error {
		refs, err := r.Refs(ctx)
		if err != nil {
			return err
		}
		return n.look(refs, l)
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", l.Source(), err)
	}
	return n, err
}

// compare looks whether a folder, or the gallery, has another content now.
func (n *Newer) compare(ctx context.Context, l Locked) error {
	n.Have, n.Latest = "as it was added", "as it was added"
	f, err := Fetch(ctx, l.Source())
	if err != nil {
		return err
	}
	if file := l.Differs(f.Content); file != "" {
		n.Latest, n.Outdated = file+" differs", true
	}
	return nil
}

// look compares with the refs of a remote: of a branch that is followed its
// commit, of a version the newest one, of another commit HEAD.
func (n *Newer) look(refs []git.Ref, l Locked) error {
	s := l.Source()
	if s.Track || s.Revision == "" || git.IsCommit(s.Revision) || s.Revision == "HEAD" {
		if !s.Track {
			s.Revision = ""
		}
		commit, err := pick(refs, s)
		if err != nil {
			return err
		}
		if n.Latest, n.Outdated = version(s.Revision, commit), commit != l.Commit; !s.Track {
			n.Latest, n.Revision = version("HEAD", commit), commit
			n.Why = "it stays at its commit until another is named"
		}
		return nil
	}
	commit, err := pick(refs, s)
	if err != nil {
		return err
	}
	if commit != l.Commit {
		n.Latest, n.Outdated, n.Moved, n.Revision = version(s.Revision, commit), true, true, commit
		n.Why = l.movedTo(commit)
		return nil
	}
	if tag, commit := newest(refs); tag != "" && newerVersion(tag, s.Revision) {
		n.Latest, n.Outdated, n.Revision = version(tag, commit), true, tag
		n.Why = "it stays at its tag until another is named"
	}
	return nil
}

// Moved says that the tag of the pack stands for another commit in a pack fetched by
// the same tag; "" = it does not.
func (l Locked) Moved(f Fetched) string {
	s := l.Source()
	isTag := l.Kind == FromGit && !s.Track && s.Revision != "" && s.Revision != "HEAD" && !git.IsCommit(s.Revision)
	if !isTag || f.Source.Revision != s.Revision || f.Source.Track || f.Commit == l.Commit {
		return ""
	}
	return l.movedTo(f.Commit)
}

func (l Locked) movedTo(commit string) string {
	return fmt.Sprintf("tag %s was moved from commit %.12s to %.12s, which a tag should never be",
		l.Revision, l.Commit, commit)
}

func version(revision, commit string) string {
	if revision == "" || revision == commit {
		return fmt.Sprintf("%.12s", commit)
	}
	return fmt.Sprintf("%s (%.12s)", revision, commit)
}

// newest is the tag with the highest version, without those of trial versions.
func newest(refs []git.Ref) (tag, commit string) {
	for _, ref := range refs {
		name, ok := strings.CutPrefix(ref.Name, "refs/tags/")
		if ok && numbers(name) != nil && (tag == "" || newerVersion(name, tag)) {
			tag, commit = name, ref.Commit
		}
	}
	return tag, commit
}

func newerVersion(a, b string) bool {
	x, y := numbers(a), numbers(b)
	return x != nil && y != nil && slices.Compare(x, y) > 0
}

// numbers takes a version such as v1.2.3 apart; nil for anything else.
func numbers(tag string) (list []uint64) {
	for part := range strings.SplitSeq(strings.TrimPrefix(tag, "v"), ".") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}
