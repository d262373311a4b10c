package connect

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/agents/bridge/shims"
)

// State is how an agent's settings stand.
type State string

const (
	// Connected: the bridge is registered for every event that Connect
	// registers unless asked for more.
	Connected State = "connected"
	// Partly: some events are missing, or the bridge is not where they say.
	Partly State = "partly"
	// NotConnected: no call of the bridge stands there.
	NotConnected State = "not connected"
	// ByHand: there is nothing that Connect could edit.
	ByHand State = "by hand"
	// Unreadable: the settings cannot be read.
	Unreadable State = "unreadable"
)

// Status has the findings of Inspect.
type Status struct {
	Agent      string              `json:"agent"`
	State      State               `json:"state"`
	File       string              `json:"file,omitempty"`        // the settings; "" if they have no place of their own
	Bridge     string              `json:"bridge,omitempty"`      // the program that is registered
	Bridges    []string            `json:"-"`                     // all in the settings, Bridge too
	Events     []string            `json:"events,omitempty"`      // for which it is
	Calls      map[string][]string `json:"-"`                     // the command lines of Events; without those of HTTP and of files
	Only       map[string][]string `json:"-"`                     // the matchers under which each of Events is registered; "" = each tool
	Missing    []string            `json:"missing,omitempty"`     // for which Connect would register it
	Socket     string              `json:"socket,omitempty"`      // that the calls name; "" = their environment says
	FailClosed bool                `json:"fail_closed,omitempty"` // each call denies where hookd does not answer
	Note       string              `json:"note,omitempty"`        // what to do, or what is wrong
	Hurries    bool                `json:"hurries,omitempty"`     // its deadline ends asks before AskTimeout, and Connect would write a longer one
	Notes      []string            `json:"notes,omitempty"`       // settings with which the agent runs no hooks

	ours   string        // the socket that hookd listens on; "" = not known
	looked bool          // at one call or more
	loose  string        // an event of guards that is not asked about each time, and why
	ends   time.Duration // when it ends the bridge of a guarded event, too early; 0 = it does not
	older  bool          // Connect would write a call otherwise
}

// Inspect returns how one agent is connected. It changes nothing; the status names
// the files that it could not read.
func Inspect(o Options) Status {
	s := Status{Agent: o.Agent, State: ByHand, ours: o.Socket}
	a := find(o.Agent)
	switch {
	case a == nil:
		s.Note = (&UnknownError{o.Agent}).Error()
		return s
	case a.Manual != "":
		s.Note = a.Manual
		return s
	case a.Given && o.File == "":
		s.Note = "name its file: hookd connect " + o.Agent + " --file FILE"
		return s
	}
	t, err := open(o)
	if err != nil {
		s.State, s.Note = Unreadable, err.Error()
		return s
	}
	s.File, s.State = t.path, NotConnected
	if err := t.inspect(&s); err != nil {
		s.State, s.Note = Unreadable, err.Error()
		return s
	}
	s.judge(a.events(o.AllEvents))
	again := ": type hookd connect " + o.Agent + " again"
	switch {
	case s.State == Connected && s.loose != "":
		s.State, s.Note = Partly, "it calls hookd for "+s.loose+again
	case s.State == Connected && s.ends != 0:
		s.State, s.Note = Partly, "it ends the bridge after "+s.ends.String()+", before its hooks have answered"+again
	case s.State == Connected && s.older:
		s.Note = "another version of hookd wrote its settings" + again
	}
	if s.State == Connected && o.Socket != "" && s.Socket != "" && s.Socket != o.Socket {
		s.State, s.Note = Partly, "it calls "+s.Socket+", hookd listens on "+o.Socket
	}
	return s
}

// Unasked says why guards are not asked about each call of the agent, without the command that mends it; "" = they
// are, as far as the settings say.
func (s *Status) Unasked() string {
	switch s.State {
	case Unreadable:
		return "its settings cannot be read: " + s.Note
	case NotConnected:
		return cmp.Or(s.File, "its settings") + " does not call hookd"
	case ByHand:
		return ""
	}
	for _, note := range s.Notes {
		if !strings.Contains(note, "has hooks too") {
			return note
		}
	}
	if s.State == Partly && s.Note != "" {
		why, _, _ := strings.Cut(s.Note, ": type ")
		return why
	}
	for _, event := range s.Missing {
		if IsGuarded(s.Agent, event) {
			return s.File + " does not call hookd for " + event
		}
	}
	return ""
}

// judge sums up the registered events and their bridge in a state.
func (s *Status) judge(want []string) {
	if len(s.Events) == 0 {
		return
	}
	for _, event := range want {
		if !slices.Contains(s.Events, event) && !slices.Contains(s.Missing, event) {
			s.Missing = append(s.Missing, event)
		}
	}
	s.State = Connected
	if len(s.Missing) > 0 {
		s.State = Partly
	}
	for _, bridge := range s.Bridges {
		if info, err := os.Stat(bridge); bridge != "" && (err != nil || info.Mode()&0o111 == 0) {
			s.State, s.Note = Partly, bridge+" is missing or cannot be run"
		}
	}
}

// inspect finds the events for which our calls stand in the settings.
func (t *target) inspect(s *Status) error {
	if t.agent.files != nil {
		return t.inspectFiles(s)
	}
	tree, err := t.agent.parse(t.path, t.file.text)
	if err != nil {
		return err
	}
	s.Calls, s.Only = map[string][]string{}, map[string][]string{}
	hooks := t.agent.hooksIn(tree)
	for _, h := range hooks {
		if !slices.Contains(s.Events, h.event) {
			s.Events = append(s.Events, h.event)
		}
		s.Only[h.event] = append(s.Only[h.event], h.only)
		asked := func(o registration) bool { return o.event == h.event && o.loose == "" }
		if IsGuarded(t.Agent, h.event) && !slices.ContainsFunc(hooks, asked) {
			s.loose = h.event + " " + h.loose
		}
		if h.call.isCommand() {
			s.calls(h.call.program)
			s.Calls[h.event] = h.call.words()
			s.saw(h.call.socket(), h.call.failClosed())
			s.sawDeadline(t, h)
		}
	}
	s.Notes = t.notes()
	return nil
}

// calls notes a bridge that is registered.
func (s *Status) calls(bridge string) {
	if s.Bridge = bridge; !slices.Contains(s.Bridges, bridge) {
		s.Bridges = append(s.Bridges, bridge)
	}
}

// saw takes in the flags of one call. Of several sockets it keeps one on which hookd does not listen.
func (s *Status) saw(socket string, failClosed bool) {
	if s.Socket == "" || s.Socket == s.ours {
		s.Socket = socket
	}
	s.FailClosed, s.looked = failClosed && (s.FailClosed || !s.looked), true
}

// sawDeadline notes a call whose deadline is shorter than asks need, or than its hooks have, and a call that
// Connect would write otherwise.
func (s *Status) sawDeadline(t *target, h registration) {
	s.Hurries = s.Hurries || t.deadline() > deadlineIn(h.call.args)
	s.older = s.older || t.outdated(h)
	if IsGuarded(t.Agent, h.event) {
		s.ends = max(s.ends, t.agent.tooShortDeadline(h))
	}
}

// sawPlugin does that with a plugin's file that says such things.
func (s *Status) sawPlugin(text []byte) {
	if set, ok := shims.SettingsOf(text); ok {
		s.saw(set.Socket, set.FailClosed)
	}
}
