// Package contain puts calls into boxes: it says whether a call can be contained, makes the one
// rewrite that does it, and knows which boxes have run.
//
// Promises. It never rewrites a call that it is not certain about: a call whose line is not known, an agent
// that takes no rewrite, a profile that is not there and a machine without boxes are told apart and
// asked about. A ticket ties a box to its line and is used once. Nothing here runs a call, and
// nothing waits but the first look at the machine's abilities.
package contain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/run/box"
)

// Options of a Boxer. Bridge, Home and Facts are required.
type Options struct {
	Bridge   string // path of hookd-bridge
	Socket   string // of this hookd; "" = the bridge finds it without being told
	Home     string // of the agents' user
	State    string // folder where tickets are kept; "" = in memory alone
	Own      []string
	Profiles []string // folders of profiles; each may only tighten those of the folders before it
	Facts    *facts.Reader
	// Probe says why the machine cannot make a box of a built-in profile; nil = it can.
	Probe func(profile string) error
	// Granted reports whether the answer about an event is still remembered; nil = each is.
	Granted func(event string) bool
	Log     *zap.Logger // nil = none
}

// Boxer puts calls into boxes. It is safe for concurrent use.
type Boxer struct {
	opts  Options
	log   *zap.Logger
	takes sync.Map // of an agent's dialect to whether it takes a rewrite with an approval

	mu       sync.Mutex
	probed   map[string]probed // by built-in profile
	tickets  tickets
	distrust map[events.Dialect]string // agents that dropped a rewrite, and which call showed it
}

// New makes a Boxer.
func New(o Options) *Boxer {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return &Boxer{
		opts: o, log: o.Log.Named("contain"), probed: map[string]probed{}, tickets: loadTickets(o.State, o.Log),
		distrust: map[events.Dialect]string{},
	}
}

// probed is the finding about a profile, and when it was found.
type probed struct {
	err error
	at  time.Time
}

// probeAgain is how long a machine that can make no box is not asked again.
const probeAgain = time.Minute

// can says why the machine cannot make a box of a built-in profile; nil = it can.
func (k *Boxer) can(base string) error {
	k.mu.Lock()
	p, ok := k.probed[base]
	k.mu.Unlock()
	if ok && (p.err == nil || time.Since(p.at) < probeAgain) {
		return p.err
	}
	err := k.opts.Probe(base)
	k.mu.Lock()
	k.probed[base] = probed{err, time.Now()}
	k.mu.Unlock()
	return err
}

// plan is a call that can run in a box.
type plan struct {
	profile box.Profile
	line    box.Line
	cwd     string
	input   json.RawMessage // the tool's whole new input
}

// Cannot fits dispatch.Boxes.
func (k *Boxer) Cannot(e *events.Event, v *verdict.Verdict) string {
	k.mu.Lock()
	t := k.failedBefore(e, v)
	closed := t != nil && len(t.kept()) == 0
	k.mu.Unlock()
	if closed {
		return "it has just failed in its box; a person decides whether it runs outside of one"
	}
	p, why := k.plan(e, v, "0")
	if why != "" {
		return why
	}
	if err := k.can(p.profile.Base); err != nil {
		return err.Error()
	}
	return ""
}

// Box fits dispatch.Boxes.
func (k *Boxer) Box(e *events.Event, v *verdict.Verdict, lasts bool) *verdict.Verdict {
	id := newID()
	p, why := k.plan(e, v, id)
	if why != "" {
		return verdict.Uncontained(v, "it cannot be contained: "+why)
	}
	k.mu.Lock()
	ways := append(k.lasting(e.SessionID, p.profile.Name), v.Opens...)
	p.profile = open(p.profile, ways)
	written := k.tickets.add(&ticket{
		ID: id, Profile: p.profile, Line: p.line.Plain, Cwd: p.cwd, Made: time.Now(),
		Opens: v.Opens, Lasts: lasts && len(v.Opens) > 0,
		Session: e.SessionID, Call: e.CallID, Event: e.EventID, Dialect: e.Dialect, Whole: p.line.Whole(),
	})
	k.mu.Unlock()
	k.tickets.out.await(written)
	return verdict.Boxed(v, p.profile.Name, p.input, ways)
}

// plan makes the rewrite of e's call; why says why there is none.
func (k *Boxer) plan(e *events.Event, v *verdict.Verdict, id string) (p plan, why string) {
	if e.Contract.Kind != events.KindToolBefore {
		return p, "only a tool call runs in a box"
	}
	if why := k.agentTakes(e.Dialect); why != "" {
		return p, why
	}
	profile, err := k.profile(v.Contain)
	if err != nil {
		return p, err.Error()
	}
	now := *e
	if v.UpdatedInput != nil {
		now.Data = rawjson.With(e.Data, rawjson.Member{Key: e.Contract.Target, Value: v.UpdatedInput})
	}
	call := dialect.Call(&now)
	key, line := lineOf(call)
	if key == "" {
		return p, "only a tool that runs one shell line can be contained"
	}
	cwd := cmp.Or(e.Cwd, k.opts.Home)
	p = plan{profile: profile, cwd: cwd, line: box.Line{
		Bridge: k.opts.Bridge, Profile: profile.Name, Ticket: id, Socket: k.opts.Socket, Shell: shell(), Plain: line,
	}}
	if dir, rest := box.Enters(line); dir != "" {
		p.line.Plain, p.line.Enter = rest, line[:len(line)-len(rest)]
		p.cwd = k.from(cwd, dir)
	}
	if why := k.unfit(p.line.Plain, p.cwd, profile); why != "" {
		return p, why
	}
	if why := k.ownRule(e.Dialect, cwd, line); why != "" {
		return p, why
	}
	if _, err := os.Stat(k.opts.Bridge); err != nil {
		return p, "hookd-bridge, which makes boxes, is not beside hookd"
	}
	spec, err := box.Resolve(profile, k.place(p.cwd))
	if err != nil {
		return p, err.Error()
	}
	p.profile.Cwd = spec.Cwd
	text := p.line.String()
	if len(text) > box.MaxLine {
		return p, "the line is too long for a box"
	}
	return p, p.rewrite(&now, key, text)
}

// place is where the box of a call runs.
func (k *Boxer) place(cwd string) box.Surroundings {
	return box.Surroundings{
		Cwd: cwd, Homes: []string{k.opts.Home}, Own: k.opts.Own, Private: dialect.Private(), Later: dialect.InProject(),
	}
}

// rewrite fills in the tool's new input.
func (p *plan) rewrite(e *events.Event, key, line string) (why string) {
	change := verdict.Answer{
		Terms:        verdict.Terms{Name: "hookd", Blocking: true},
		UpdatedInput: rawjson.With(json.RawMessage(`{}`), rawjson.StringMember(key, line)),
	}
	change = dialect.Answer(e, e.Contract.Name, change)
	if change.Failure != "" {
		return change.Failure
	}
	p.input = rawjson.Get(change.Rewrite(e.Contract, e.Data), e.Contract.Target)
	return ""
}

// from is the folder that `cd dir` leads to.
func (k *Boxer) from(cwd, dir string) string {
	switch {
	case dir == "~":
		return k.opts.Home
	case strings.HasPrefix(dir, "~/"):
		return filepath.Join(k.opts.Home, dir[2:])
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(cwd, dir)
}

// lineOf returns the argument of a call that is its one shell line; "" = that is not certain.
func lineOf(call neutral.ToolCall) (key, line string) {
	lines := call.Commands()
	if len(lines) != 1 || call.Guessed || call.Code != "" || call.Tool != neutral.Shell {
		return "", ""
	}
	for name, value := range rawjson.Members(call.Given) {
		if neutral.TextOf(value) != lines[0] {
			continue
		}
		if key != "" {
			return "", ""
		}
		key = name
	}
	return key, lines[0]
}

// agentTakes says why a rewrite does not reach an agent's call; "" = it does.
func (k *Boxer) agentTakes(d events.Dialect) string {
	k.mu.Lock()
	call := k.distrust[d]
	k.mu.Unlock()
	if call != "" {
		return string(d) + " ran call " + call + " without its box"
	}
	takes, ok := k.takes.Load(d)
	if !ok {
		takes = slices.ContainsFunc(dialect.Abilities(d), func(a dialect.Ability) bool {
			return a.Name == "rewrite it and approve it" && a.Can
		})
		k.takes.Store(d, takes)
	}
	if takes == true {
		return ""
	}
	return cmp.Or(string(d), "its sender") + " takes no other input from a hook"
}

// shells are the shells that run a line, the first that is there.
var shells = []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"}

var shell = sync.OnceValue(func() string {
	for _, path := range shells {
		if _, err := os.Stat(path); err == nil {
			return "bash"
		}
	}
	return "sh"
})

// Plain fits dispatch.Boxes.
func (k *Boxer) Plain(e *events.Event) json.RawMessage {
	switch e.Contract.Kind {
	case events.KindToolBefore, events.KindToolAfter, events.KindToolTransform, events.KindPermissionRequest:
	default:
		return nil
	}
	if !bytes.Contains(e.Data, []byte("box")) && !bytes.Contains(e.Data, []byte(`\u`)) {
		return nil // as in most calls, and cheaper than to read the call
	}
	data, found := e.Data, false
	for _, value := range rawjson.Members(dialect.Call(e).Given) {
		text := neutral.TextOf(value)
		l, ok := box.ReadLine(text)
		if !ok {
			continue
		}
		found = true
		data = bytes.ReplaceAll(data, value, rawjson.Quote(l.Whole()))
	}
	if !found {
		return nil
	}
	return data
}
