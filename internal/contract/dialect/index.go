package dialect

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hookd/hookd/internal/contract/dialect/amp"
	"github.com/hookd/hookd/internal/contract/dialect/antigravity"
	"github.com/hookd/hookd/internal/contract/dialect/claudecode"
	"github.com/hookd/hookd/internal/contract/dialect/cline"
	"github.com/hookd/hookd/internal/contract/dialect/codex"
	"github.com/hookd/hookd/internal/contract/dialect/copilot"
	"github.com/hookd/hookd/internal/contract/dialect/crush"
	"github.com/hookd/hookd/internal/contract/dialect/cursor"
	"github.com/hookd/hookd/internal/contract/dialect/deepagents"
	"github.com/hookd/hookd/internal/contract/dialect/devin"
	"github.com/hookd/hookd/internal/contract/dialect/dockeragent"
	"github.com/hookd/hookd/internal/contract/dialect/droid"
	"github.com/hookd/hookd/internal/contract/dialect/familiar"
	"github.com/hookd/hookd/internal/contract/dialect/gemini"
	"github.com/hookd/hookd/internal/contract/dialect/goose"
	"github.com/hookd/hookd/internal/contract/dialect/grok"
	"github.com/hookd/hookd/internal/contract/dialect/hermes"
	"github.com/hookd/hookd/internal/contract/dialect/hookd"
	"github.com/hookd/hookd/internal/contract/dialect/kilo"
	"github.com/hookd/hookd/internal/contract/dialect/kimi"
	"github.com/hookd/hookd/internal/contract/dialect/kiro"
	"github.com/hookd/hookd/internal/contract/dialect/librefang"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/dialect/openclaw"
	"github.com/hookd/hookd/internal/contract/dialect/opencode"
	"github.com/hookd/hookd/internal/contract/dialect/openhands"
	"github.com/hookd/hookd/internal/contract/dialect/pi"
	"github.com/hookd/hookd/internal/contract/dialect/qoder"
	"github.com/hookd/hookd/internal/contract/dialect/qwen"
	"github.com/hookd/hookd/internal/contract/dialect/tabnine"
	"github.com/hookd/hookd/internal/contract/dialect/vscode"
	"github.com/hookd/hookd/internal/contract/dialect/windsurf"
	"github.com/hookd/hookd/internal/events"
)

// systems is the index: one line a system, in the order of the columns of the contract
// table. Where two know an event's name, the first wins when the sender does not name
// its dialect.
//
// The tables in the folders look alike and are kept apart on purpose: each repeats the
// documents of one vendor, and each vendor changes its own. The parts that they really
// share are in package neutral, and a fork of an agent takes over its tables.
var systems = []neutral.System{
	librefang.System(),
	dockeragent.System(),
	familiar.System(),
	claudecode.System(),
	codex.System(),
	gemini.System(),
	cursor.System(),
	copilot.System(),
	kimi.System(),
	windsurf.System(),
	cline.System(),
	antigravity.System(),
	hermes.System(),
	opencode.System(),
	openclaw.System(),
	qwen.System(),
	pi.System(),
	droid.System(),
	kilo.System(),
	qoder.System(),
	crush.System(),
	goose.System(),
	kiro.System(),
	grok.System(),
	openhands.System(),
	devin.System(),
	vscode.System(),
	amp.System(),
	tabnine.System(),
	deepagents.System(),
	hookd.System(),
}

// entry is a system of the index with its agent, made when something first asks.
type entry struct {
	*neutral.System
	once sync.Once
	made *neutral.Agent
}

// agent returns the agent of e; nil if it has none.
func (e *entry) agent() *neutral.Agent {
	e.once.Do(func() { e.made = newAgent(e.System) })
	return e.made
}

var index atomic.Pointer[[]entry]

// entries returns the index.
func entries() iter.Seq[*entry] {
	list := *index.Load()
	return func(yield func(*entry) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

func init() { install(systems) }

// install makes list the index, and its rows the contract table.
func install(list []neutral.System) {
	made := make([]entry, len(list)) // at each start of a bridge
	columns := make([]events.Column, len(list))
	for i := range list {
		s := &list[i]
		columns[i] = events.Column{Dialect: s.Name, Rows: s.Events, Captured: s.Captured}
		made[i].System = s
	}
	index.Store(&made)
	events.SetTable(columns...)
}

// newAgent returns the agent of s; nil if it has none.
func newAgent(s *neutral.System) *neutral.Agent {
	if s.Agent == nil {
		return nil
	}
	a := s.Agent()
	if a.Borrows == "" {
		return &a
	}
	own := a.Answer
	a.Answer = func(asked neutral.Asked) neutral.Reply {
		if events.LookupIn(s.Name, asked.Event) == nil && events.LookupIn(a.Borrows, asked.Event) != nil {
			return a.Borrowed(asked, Agent(a.Borrows).Answer)
		}
		return own(asked)
	}
	return &a
}

// Add puts a system at the end of the index until remove is called. It is for
// tests: nothing else may look anything up meanwhile.
func Add(s neutral.System) (remove func()) {
	install(append(slices.Clone(systems), s))
	return func() { install(systems) }
}

// find returns the entry of d, or nil.
func find(d events.Dialect) *entry {
	for e := range entries() {
		if e.Name == d {
			return e
		}
	}
	return nil
}
