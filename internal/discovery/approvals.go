package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// Approval is the version of a hook that a person allowed (reload.mode: ask).
type Approval struct {
	Hook   string            `json:"hook"` // its ID
	Name   string            `json:"name,omitempty"`
	Source hook.Source       `json:"source"`
	File   string            `json:"file,omitempty"` // that defines it
	Digest string            `json:"digest"`
	At     time.Time         `json:"at"`
	By     string            `json:"by"`              // the user who allowed it
	Sum    string            `json:"sum"`             // of the definition
	Files  map[string]string `json:"files"`           // sums of the contents of its own programs, by path
	Texts  map[string][]byte `json:"texts,omitempty"` // of the definition, and of short programs
	Off    bool              `json:"off,omitempty"`   // a marker may switch the hook off
	Gone   bool              `json:"gone,omitempty"`  // the hook may be gone, and no version is allowed

	Earlier []Approval `json:"earlier,omitempty"` // versions that were allowed before, the newest first

	Project string   `json:"-"` // working tree of a hook that was allowed by trusting its repository
	Also    []string `json:"-"` // digests of other versions that are allowed there
	Unread  []string `json:"-"` // short programs whose texts were other ones when they were read
}

const (
	maxStoredText = 64 << 10 // the longest program, in bytes, that is stored for a comparison
	maxApproval   = 64 << 20 // the longest approval, in bytes
)

// Approve makes the approval of h as it was read: the version that a person was shown is
// allowed, even if the files change meanwhile.
func Approve(h *hook.Hook) Approval {
	a := Approval{
		Hook: h.ID, Name: h.Name, Source: h.Source, File: h.File,
		Sum: h.Sum, Files: h.Seal.Contents(),
	}
	a.Digest, a.Project = AllowDigest(h), h.Project
	a.Texts, a.Unread = h.Seal.Texts(maxStoredText)
	if len(h.Text) > 0 {
		a.Texts[h.File] = h.Text
	}
	return a
}

// AllowDigest returns a digest of the definition of h and the contents of its own
// programs. Unlike hook.Digest it does not change when a file is only touched or
// copied. That of a project's hook is the same in each working tree.
func AllowDigest(h *hook.Hook) string {
	sum, contents := sha256.New(), h.Seal.Contents()
	fmt.Fprintf(sum, "definition %s\n", h.Sum)
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		fmt.Fprintf(sum, "file %q %s\n", h.Relative(path), contents[path])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// holds reports whether the version with the digest is allowed.
func (a Approval) holds(digest string) bool {
	return a.Digest == digest || slices.Contains(a.Also, digest)
}

// Changes returns the differences between the allowed version and h, for people.
func (a Approval) Changes(h *hook.Hook) (list []string) {
	if a.Sum != h.Sum {
		list = append(list, filepath.Base(h.File)+" differs")
	}
	now := h.Seal.Contents()
	for _, path := range slices.Sorted(maps.Keys(now)) {
		switch old, known := a.Files[path]; {
		case !known:
			list = append(list, path+" is new")
		case now[path] == "" && old != "":
			list = append(list, path+" is gone")
		case old != now[path]:
			list = append(list, path+" differs")
		}
	}
	for _, path := range slices.Sorted(maps.Keys(a.Files)) {
		if _, still := now[path]; !still {
			list = append(list, path+" is not run any more")
		}
	}
	return list
}

// Approvals stores the approvals of hooks: one file a hook, in a folder that only the user
// can read. The zero Approvals has none.
type Approvals struct{ dir string }

// NewApprovals returns the approvals in dir, which need not exist.
func NewApprovals(dir string) Approvals { return Approvals{dir} }

// Get returns the approval of a hook. An approval that cannot be read, or that another user
// could have written, counts as absent: the hook then waits.
func (a Approvals) Get(id string) (Approval, bool) {
	if a.dir == "" {
		return Approval{}, false
	}
	got, ok := a.read(trust.New(), a.file(id))
	if !ok || got.Hook != id {
		return Approval{}, false
	}
	return got, true
}

// All returns the approvals of all hooks, by ID. It leaves out approvals that cannot be
// read, or that another user could have written.
func (a Approvals) All() map[string]Approval {
	all := map[string]Approval{}
	entries, _ := os.ReadDir(a.dir) // no folder, nothing allowed
	checker := trust.New().Cached()
	for _, e := range entries {
		path := filepath.Join(a.dir, e.Name())
		if got, ok := a.read(checker, path); ok && path == a.file(got.Hook) {
			all[got.Hook] = got
		}
	}
	return all
}

func (a Approvals) read(checker *trust.Checker, path string) (got Approval, ok bool) {
	text, err := readfile.Read(path, maxApproval)
	if err != nil || checker.Check(path) != nil || json.Unmarshal(text, &got) != nil || got.Digest == "" {
		return Approval{}, false
	}
	return got, true
}

// Put stores an approval and replaces the hook's last one, wholly or not at all.
func (a Approvals) Put(p Approval) error {
	text, err := json.MarshalIndent(p, "", " ")
	if err == nil {
		err = replacefile.MkdirAll(a.dir)
	}
	if err == nil {
		err = replacefile.Write(a.file(p.Hook), text)
	}
	if err != nil {
		return fmt.Errorf("store what was allowed of hook %s: %w", p.Hook, err)
	}
	return nil
}

// Remove deletes the approval of a hook. It is no error when there is none.
func (a Approvals) Remove(id string) error {
	if err := os.Remove(a.file(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete the approval of hook %s: %w", id, err)
	}
	return nil
}

// file returns the path of a hook's approval. Its name is never too long.
func (a Approvals) file(id string) string { return filepath.Join(a.dir, trust.Sum([]byte(id))+".json") }
