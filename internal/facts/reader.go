package facts

import (
	"slices"
	"sync"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Reader reads calls of one machine, and remembers the last ones: the hooks of an event ask
// for the same. Safe for concurrent use; the facts it returns must not be changed.
type Reader struct {
	Home  string
	Links Links                            // may be nil
	Guard func() []Dependency              // see Env; nil = none
	Text  func(path string) (string, bool) // see Env; may be nil

	mu   sync.Mutex
	last []remembered // the newest first
}

// mostRemembered is how many calls a Reader remembers, and mostGiven up to which size.
const (
	mostRemembered = 8
	mostGiven      = 16 << 10
)

type remembered struct {
	own, tool, given, cwd string
	facts                 *Facts
}

// Read returns the facts of a call made in the folder cwd.
func (r *Reader) Read(call neutral.ToolCall, cwd string) *Facts {
	if len(call.Given) > mostGiven {
		return Read(call, r.env(cwd))
	}
	r.mu.Lock()
	i := slices.IndexFunc(r.last, func(k remembered) bool {
		return k.given == string(call.Given) && k.own == call.Own && k.tool == call.Tool && k.cwd == cwd
	})
	if i >= 0 {
		found := r.last[i].facts
		r.mu.Unlock()
		return found
	}
	r.mu.Unlock()
	f := Read(call, r.env(cwd))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = slices.Insert(r.last, 0, remembered{call.Own, call.Tool, string(call.Given), cwd, f})
	r.last = r.last[:min(len(r.last), mostRemembered)]
	return f
}

// Line returns the facts of a shell line.
func (r *Reader) Line(line, cwd string) *Facts { return Line(line, r.env(cwd)) }

func (r *Reader) env(cwd string) Env {
	e := Env{Cwd: cwd, Home: r.Home, Links: r.Links, Text: r.Text}
	if r.Guard != nil {
		e.Guard = r.Guard()
	}
	return e
}
