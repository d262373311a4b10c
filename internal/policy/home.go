package policy

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/pack"
	"github.com/hookd/hookd/internal/readfile"
	"github.com/hookd/hookd/internal/replacefile"
)

// Home is the folder in which a home keeps its policy: policy.json says which, floors.json
// what is older than what there was, and each bundle has a folder and its own bytes.
type Home struct {
	dir  string
	wait time.Duration // for a server; 0 = fetchTime
}

// NewHome returns the policy of a folder, which need not exist.
func NewHome(dir string) Home { return Home{dir: dir} }

// State is what policy.json says.
type State struct {
	Source  string    `json:"source"`
	Key     string    `json:"key"` // text of the public key
	At      time.Time `json:"at"`  // when it was set
	By      string    `json:"by,omitempty"`
	ETag    string    `json:"etag,omitempty"`
	Fetched time.Time `json:"fetched"`         // when the bundle in force was
	Checked time.Time `json:"checked"`         // when the source was asked last
	Error   string    `json:"error,omitempty"` // why that failed; "" = it did not
	Head    Head      `json:"head"`            // of the bundle in force
}

// Current is the bundle in force.
type Current struct {
	State    State
	Manifest Manifest
	Dir      string // of its files
}

// File is the path of policy.json.
func (h Home) File() string { return filepath.Join(h.dir, "policy.json") }

// Current reads what is in force; false = no policy is set. An error means that one is set
// and cannot be told, or is not what its key has signed.
func (h Home) Current() (c Current, set bool, err error) {
	if err := h.read("policy.json", 2*maxManifest, &c.State); err != nil {
		return c, !errors.Is(err, fs.ErrNotExist), ignore(err, fs.ErrNotExist)
	}
	key, err := PublicKey(c.State.Key)
	if err == nil {
		c.Manifest, err = c.State.Head.Verify(key)
	}
	if err != nil {
		return c, true, fmt.Errorf("%s: %w", h.File(), err)
	}
	c.Dir = h.folder(c.State.Head, c.Manifest)
	return c, true, nil
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
func (c Current) Differs(files []ManifestFile) string {
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

// Repair writes the files of the bundle in force again, where they are not as they were
// signed: from its own bytes, which are checked as if they were fetched. It returns the
// first file that differed, "" = none did.
func (h Home) Repair() (differed string, err error) {
	err = h.locked(func() error {
		c, set, err := h.Current()
		if err != nil || !set {
			return err
		}
		if differed = c.Differs(c.Manifest.Files); differed == "" {
			return nil
		}
		key, err := PublicKey(c.State.Key)
		if err != nil {
			return err
		}
		text, err := readfile.Read(c.Dir+Ending, MaxBytes)
		if err != nil {
			return err
		}
		b, err := Read(text, key)
		if err == nil && b.Head.Digest() != c.State.Head.Digest() {
			err = errors.New("it is another bundle")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Dir+Ending, err)
		}
		staged, err := h.stage(b)
		if err != nil {
			return err
		}
		return h.swap(staged, filepath.Base(c.Dir))
	})
	return differed, err
}

// Unset ends the policy. What is older than it stays refused.
func (h Home) Unset() error {
	return h.locked(func() error {
		if err := ignore(os.Remove(h.File()), fs.ErrNotExist); err != nil {
			return err
		}
		return h.sweep()
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

func floorKey(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}

// admits is an error for a bundle that is older than the newest one so far, or another one
// with the same sequence.
func (f floor) admits(b Bundle) error {
	switch m := b.Manifest; {
	case m.Sequence < f.Sequence:
		return fmt.Errorf("it is older than what there was: sequence %d after %d", m.Sequence, f.Sequence)
	case m.Sequence == f.Sequence && b.Head.Digest() != f.Digest:
		return fmt.Errorf("it is another bundle with the sequence %d: build it with a greater one", m.Sequence)
	}
	return nil
}

// put puts a bundle in force. The caller holds the lock. policy.json is written last: what
// is interrupted before has changed nothing.
func (h Home) put(b Bundle, text []byte, key ed25519.PublicKey, s State, check Check) error {
	floors, err := h.floors()
	if err != nil {
		return err
	}
	if err := floors[floorKey(key)].admits(b); err != nil {
		return err
	}
	staged, err := h.stage(b)
	if err != nil {
		return err
	}
	defer os.RemoveAll(staged) // gone by then when all went well
	if err := check(staged, b.Manifest); err != nil {
		return err
	}
	folder := filepath.Base(h.folder(b.Head, b.Manifest))
	if err := h.swap(staged, folder); err != nil {
		return err
	}
	if err := replacefile.Write(filepath.Join(h.dir, folder+Ending), text); err != nil {
		return err
	}
	floors[floorKey(key)] = floor{b.Manifest.Sequence, b.Head.Digest()}
	if err := h.write("floors.json", floors); err != nil {
		return err
	}
	if err := h.write("policy.json", s); err != nil {
		return err
	}
	return h.sweep(folder)
}

// stage writes the files of a bundle where no daemon looks for them.
func (h Home) stage(b Bundle) (dir string, err error) {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(h.dir, ".new-*"); err != nil {
		return "", err
	}
	if err := b.Content.Write(dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// swap makes a staged folder the one of that name.
func (h Home) swap(staged, folder string) error {
	at, old := filepath.Join(h.dir, folder), filepath.Join(h.dir, ".old-"+folder)
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(at, old); ignore(err, fs.ErrNotExist) != nil {
		return err
	}
	if err := os.Rename(staged, at); err != nil {
		return errors.Join(err, ignore(os.Rename(old, at), fs.ErrNotExist))
	}
	return os.RemoveAll(old)
}

// sweep removes bundles that are not in force any more, but for the newest of them: its
// hooks may run until the daemon has read the new ones.
func (h Home) sweep(current ...string) error {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return ignore(err, fs.ErrNotExist)
	}
	var old []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(current, e.Name()) {
			old = append(old, info)
		}
	}
	slices.SortFunc(old, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range old[min(len(old), 1):] {
		path := filepath.Join(h.dir, info.Name())
		err = errors.Join(err, os.RemoveAll(path), ignore(os.Remove(path+Ending), fs.ErrNotExist))
	}
	return err
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
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	return replacefile.Write(filepath.Join(h.dir, name), append(text, '\n'))
}

// lockPatience is how long another process may change the policy.
const lockPatience = 10 * time.Second

// locked runs do while no other process changes the policy.
func (h Home) locked(do func() error) error {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(h.dir, ".lock"), os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // which gives the lock back
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return do()
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EWOULDBLOCK) && time.Since(begin) < lockPatience:
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errors.New("another hookd changes the policy now: try again when it has ended")
		default:
			return err
		}
	}
}
