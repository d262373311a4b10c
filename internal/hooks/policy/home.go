package policy

import (
	"cmp"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// Home is the folder in which a home keeps its policy: policy.json names the policy, floors.json
// tells which bundles and directives are too old. Each bundle has a folder and its own bytes.
// NewHome makes it; copies of a Home share their knowledge.
type Home struct {
	dir   string
	wait  time.Duration // for a server; 0 = fetchTime
	known *known
}

// NewHome returns the policy of a folder, which need not exist.
func NewHome(dir string) Home { return Home{dir: dir, known: new(known)} }

// State is the content of policy.json.
type State struct {
	Source  string    `json:"source"`
	Key     string    `json:"key"`            // text of the public key
	Name    string    `json:"name,omitempty"` // of the bundles that the source may bring; "" = that of the one in force
	At      time.Time `json:"at"`             // when it was set
	By      string    `json:"by,omitempty"`
	ETag    string    `json:"etag,omitempty"`
	Fetched time.Time `json:"fetched"`         // when the bundle in force was
	Checked time.Time `json:"checked"`         // when the source was asked last
	Error   string    `json:"error,omitempty"` // why that failed; "" = it did not
	Head    Head      `json:"head"`            // of the bundle in force; empty = none came from the fleet yet

	Shadow    Head            `json:"shadow,omitzero"`    // of the bundle that runs in the shadow; empty = none
	Directive SignedDirective `json:"directive,omitzero"` // the newest of the fleet; empty = there was none
	Refused   string          `json:"refused,omitempty"`  // why a newer directive does not count; "" = there is none
}

// Placed is a bundle whose files are on disk; the zero value is none.
type Placed struct {
	Manifest Manifest
	Dir      string // of its files; "" = there is no bundle
}

// Current is the policy in force: State.Head's bundle, and the fleet's directive.
type Current struct {
	State State
	Placed
	Shadow    Placed    // runs beside it, and never counts
	Directive Directive // of State.Directive; zero = there is none
}

// name is the name of the bundles that the source may bring; "" = any.
func (c Current) name() string { return cmp.Or(c.State.Name, c.Manifest.Name) }

// Head is the revision in force; nil = there is none.
func (c Current) Head() *Revision { return c.revision(c.State.Head) }

// ShadowHead is the revision in the shadow; nil = there is none.
func (c Current) ShadowHead() *Revision { return c.Shadow.revision(c.State.Shadow) }

func (p Placed) revision(h Head) *Revision {
	if p.Dir == "" {
		return nil
	}
	return &Revision{p.Manifest.Name, p.Manifest.Sequence, h.Digest()}
}

// File is the path of policy.json.
func (h Home) File() string { return filepath.Join(h.dir, "policy.json") }

// Current reads the policy in force; false = no policy is set. An error means that one is set and
// unreadable, or differs from the text that its key has signed. The result is shared: nothing in the
// result may be changed.
func (h Home) Current() (c Current, set bool, err error) {
	text, err := readfile.Read(h.File(), maxState)
	if err != nil {
		return c, !errors.Is(err, fs.ErrNotExist), ignore(err, fs.ErrNotExist)
	}
	if c, found := h.known.recall(text); found {
		return c, true, nil
	}
	if err := json.Unmarshal(text, &c.State); err != nil {
		return c, true, fmt.Errorf("%s: %w", h.File(), err)
	}
	key, err := PublicKey(c.State.Key)
	if err == nil && (c.State.Source != FromFleet || len(c.State.Head.Text) > 0) {
		c.Placed, err = h.placed(c.State.Head, key)
	}
	if err == nil && len(c.State.Shadow.Text) > 0 {
		c.Shadow, err = h.placed(c.State.Shadow, key)
	}
	if err == nil && !c.State.Directive.Empty() {
		c.Directive, err = c.State.Directive.verify(key)
	}
	if err != nil {
		return c, true, fmt.Errorf("%s: %w", h.File(), err)
	}
	h.known.remember(text, c)
	return c, true, nil
}

// maxState is how long policy.json may be, in bytes: it has two manifests in base64.
const maxState = 4 * maxManifest

// placed is the bundle of a head that key has signed.
func (h Home) placed(head Head, key ed25519.PublicKey) (p Placed, err error) {
	if p.Manifest, err = head.Verify(key); err != nil {
		return p, err
	}
	p.Dir = h.folder(head, p.Manifest)
	return p, nil
}

// folder is where the files of a bundle are.
func (h Home) folder(head Head, m Manifest) string {
	return filepath.Join(h.dir, fmt.Sprintf("%d-%s", m.Sequence, head.Digest()[:12]))
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// Differs names the first of the files that is not as it was signed; "" = they all are.
func (c Placed) Differs(files []ManifestFile) string {
	for _, f := range files {
		path := filepath.Join(c.Dir, filepath.FromSlash(f.Path))
		text, err := readfile.Read(path, pack.MaxBytes)
		if err != nil || len(text) != f.Size || (pack.File{Data: text}).Sum() != f.SHA256 {
			return path
		}
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || (info.Mode()&0o100 != 0) != f.Exec {
			return path
		}
	}
	return ""
}

// Repair writes the files of the bundles in force and in the shadow again, where they are
// not as they were signed: from their own bytes, which are checked as if they were
// fetched. It returns the first file that differed, "" = none did.
func (h Home) Repair() (differed string, err error) {
	err = h.locked(func() error {
		c, set, err := h.Current()
		if err != nil || !set {
			return err
		}
		key, err := PublicKey(c.State.Key)
		if err != nil {
			return err
		}
		differed, err = h.repair(c.Placed, c.State.Head, key)
		also, err2 := h.repair(c.Shadow, c.State.Shadow, key)
		differed = cmp.Or(differed, also)
		return errors.Join(err, err2)
	})
	return differed, err
}

func (h Home) repair(p Placed, head Head, key ed25519.PublicKey) (differed string, err error) {
	if p.Dir == "" {
		return "", nil
	}
	if differed = p.Differs(p.Manifest.Files); differed == "" {
		return "", nil
	}
	text, err := readfile.Read(p.Dir+Ending, MaxBytes)
	if err != nil {
		return differed, err
	}
	b, err := Read(text, key)
	if err == nil && b.Head.Digest() != head.Digest() {
		err = errors.New("it is another bundle")
	}
	if err != nil {
		return differed, fmt.Errorf("%s: %w", p.Dir+Ending, err)
	}
	staged, err := b.Content.Stage(h.dir)
	if err != nil {
		return differed, err
	}
	return differed, pack.Swap(h.dir, filepath.Base(p.Dir), staged)
}

// Unset ends the policy. Older bundles and directives stay refused.
func (h Home) Unset() error {
	return h.locked(func() error {
		if err := ignore(os.Remove(h.File()), fs.ErrNotExist); err != nil {
			return err
		}
		return h.sweep(Current{})
	})
}

// floor is the newest bundle that a home had from one key.
type floor struct {
	Sequence uint64 `json:"sequence"`
	Digest   string `json:"digest"`
}

// floors are those of all keys, by the sha256 of the key.
func (h Home) floors() (map[string]floor, error) {
	all := map[string]floor{}
	return all, ignore(h.read("floors.json", readfile.Limit, &all), fs.ErrNotExist)
}

// admits is an error for a bundle or directive that is older than the newest one so far, or
// another one with the same sequence.
func (f floor) admits(sequence uint64, digest string) error {
	switch {
	case sequence < f.Sequence:
		return fmt.Errorf("it is older than what there was: sequence %d after %d", sequence, f.Sequence)
	case sequence == f.Sequence && digest != f.Digest:
		return fmt.Errorf("it is another one with the sequence %d: make it with a greater one", sequence)
	}
	return nil
}

// put puts a bundle in force. The caller holds the lock. policy.json is written last: an
// interruption before has changed nothing.
func (h Home) put(b Bundle, text []byte, key ed25519.PublicKey, s State, check Check) (c Current, err error) {
	floors, err := h.floors()
	if err != nil {
		return c, err
	}
	if err := floors[trust.Sum(key)].admits(b.Manifest.Sequence, b.Head.Digest()); err != nil {
		return c, err
	}
	dir, err := h.place(b, text, check)
	if err != nil {
		return c, err
	}
	floors[trust.Sum(key)] = floor{b.Manifest.Sequence, b.Head.Digest()}
	if err := h.write("floors.json", floors); err != nil {
		return c, err
	}
	s.Head, s.Shadow, s.Directive = b.Head, Head{}, SignedDirective{}
	c = Current{State: s, Placed: Placed{b.Manifest, dir}}
	if now, _, _ := h.Current(); now.State.Key == s.Key { // what cannot be read is replaced
		c.State.Refused = now.State.Refused
		if d, err := now.State.Directive.verify(key); err == nil { // hooks that it switches off stay off
			c.State.Directive, c.Directive = now.State.Directive, d
		}
	}
	text, err = encode(c.State)
	if err != nil {
		return c, err
	}
	if err := replacefile.Write(h.File(), text); err != nil {
		return c, err
	}
	h.known.remember(text, c)
	return c, nil
}

// place writes a bundle to its folder, and its bytes beside that, if check finds nothing
// wrong with its hooks. Until policy.json names the folder no daemon looks for hooks there.
func (h Home) place(b Bundle, text []byte, check Check) (dir string, err error) {
	dir = h.folder(b.Head, b.Manifest)
	_, err = os.Lstat(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew || (Placed{b.Manifest, dir}).Differs(b.Manifest.Files) != "" {
		staged, err := b.Content.Stage(h.dir)
		if err != nil {
			return "", err
		}
		if err := pack.Swap(h.dir, filepath.Base(dir), staged); err != nil {
			return "", errors.Join(err, os.RemoveAll(staged))
		}
	}
	if err := check(dir, b); err != nil {
		if isNew {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		return "", err
	}
	return dir, replacefile.Write(dir+Ending, text)
}

// read reads a JSON file of the folder.
func (h Home) read(name string, limit int, into any) error {
	path := filepath.Join(h.dir, name)
	text, err := readfile.Read(path, limit)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (h Home) write(name string, value any) error {
	text, err := encode(value)
	if err != nil {
		return err
	}
	return replacefile.Write(filepath.Join(h.dir, name), text)
}

func encode(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	return append(text, '\n'), err
}

// lockPatience is how long another process may change the policy.
const lockPatience = 10 * time.Second

// locked runs do while no other process changes the policy.
func (h Home) locked(do func() error) error {
	return pack.Alone(h.dir, "another hookd changes the policy", lockPatience, do)
}
