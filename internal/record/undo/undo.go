// Package undo keeps the files that a call is about to destroy, and brings them back. A vault is a
// folder on the file system of the files themselves. A hard link keeps an unlinked or replaced
// file, a clone or a copy keeps a file written in place.
//
// Promises. Keeping ends when its time is over. It says before the call which files are kept, which
// are not, and why. Nothing is deleted, moved or changed but in a vault: a call that is refused
// leaves everything as it was. After the call, files that it did not touch are dropped. Vaults have
// mode 0700, and lie in no working tree. Undo changes only paths that the chosen calls changed;
// a path that was changed since is left alone. Replaced files are kept in turn, so an undo can
// itself be undone. A file that changed while an unknown program ran may be the work of another, and is
// replaced only when that is asked for. A partial success is never told as a whole one. A kill at any moment leaves
// each path as it was before or after, and every kept byte in the vault; the same undo, asked for
// again, goes on.
//
// It does not keep: files that can be made again, devices, things on other machines or in
// databases, clouds and volumes. Nor does it keep files that an unknown program destroys outside of
// its repository, or .git.
package undo

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/wire"
)

// Words say how much of a call can be taken back.
const (
	Kept = "kept"
	Part = "part"
	None = "none"
)

// Effects on a path.
const (
	effectDelete  = "delete"  // its name goes, its bytes stay as they are
	effectReplace = "replace" // another file gets its name
	effectWrite   = "write"   // its bytes are written over in place
	effectMove    = "move"
	effectMode    = "mode"   // owner and permissions
	effectCreate  = "create" // there was nothing
)

// Ways in which something is kept.
const (
	byLink  = "link"
	byClone = "clone"
	byCopy  = "copy"
	byNote  = "note" // what lstat says is enough: folders, links, modes, nothing
	byNone  = "none"
)

// Path is a path in a manifest: bytes that are no UTF-8 survive.
type Path string

const encoded = "base64:" // no absolute path begins so

// MarshalJSON writes a path that is no UTF-8 in base64.
func (p Path) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(p)) && !strings.HasPrefix(string(p), encoded) {
		return json.Marshal(string(p))
	}
	return json.Marshal(encoded + base64.StdEncoding.EncodeToString([]byte(p)))
}

// UnmarshalJSON is the opposite of MarshalJSON.
func (p *Path) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if rest, is := strings.CutPrefix(s, encoded); is {
		raw, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return err
		}
		s = string(raw)
	}
	*p = Path(s)
	return nil
}

// KeptCall is a call that something was kept for.
type KeptCall struct {
	ID      string    `json:"id"` // of its event
	Time    time.Time `json:"time"`
	Session string    `json:"session,omitempty"`
	Agent   string    `json:"agent,omitempty"` // its dialect, or its own name
	CallID  string    `json:"call_id,omitempty"`
	Tool    string    `json:"tool,omitempty"`    // canonical; Undo for an undo
	Subject string    `json:"subject,omitempty"` // one line without secrets
	Cwd     Path      `json:"cwd,omitempty"`
	Later   bool      `json:"later,omitempty"` // it goes on after its result
	Undoes  []string  `json:"undoes,omitempty"`
	Repo    Path      `json:"repo,omitempty"` // it runs something unknown: all of this folder was looked at
	Mark    string    `json:"mark,omitempty"` // of a step, see Begin
}

// Undo is the Tool of a call that is an undo.
const Undo = "undo"

// Step is the Tool of the changes between two moments, see Begin.
const Step = "step"

// Lost is something that does not come back, and why.
type Lost = wire.Lost

// Copied says before a call which parts of the call can be taken back.
type Copied struct {
	Word  string // "" = it destroys nothing that exists
	Files int    // that are kept
	Bytes int64
	Lost  []Lost
	Late  bool   // the time was over before all was kept
	Deny  string // why it must not run: it would destroy a vault
	Took  time.Duration
}

// Settings of a Keeper, which may change while it works.
type Settings struct {
	Off      bool
	Wait     time.Duration // keeping takes at most, and a file system may be silent
	Most     time.Duration // it takes where there is much to keep; less than Wait = Wait
	Max      int64         // bytes of all vaults
	MaxAge   time.Duration
	FileMax  int64             // bytes of one file that is copied
	CallMax  int64             // bytes that are copied for one call
	LargeAge time.Duration     // of a call with more than Large
	Never    []pattern.Pattern // of paths, or of names without a slash, that are never kept
}

// Large is the size of a call beyond which it goes after Settings.LargeAge.
const Large = 1 << 30

// MostWait is how long a verdict waits where there is much to keep: 100,000 links take 2 s, and their deletion as long.
const MostWait = 5 * time.Second

// DefaultSettings are those of a new home.
func DefaultSettings() Settings {
	u := config.Default("").Undo
	return Settings{
		Wait: u.Wait, Most: MostWait, Max: u.MaxBytes, MaxAge: u.MaxAge,
		LargeAge: 24 * time.Hour, FileMax: 256 << 20, CallMax: 1 << 30,
	}
}
