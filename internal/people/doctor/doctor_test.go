package doctor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// A probe is an event that the agent really sends, of the probe's session, with
// a command that does nothing.
func TestProbesAreTheAgentsOwn(t *testing.T) {
	for _, name := range connect.Names() {
		d := events.Dialect(name)
		p := dialect.Probe(d)
		event, payload := p.Event, p.With(Session, `/pro"ject`, time.Now())
		if !json.Valid(payload) || strings.Contains(string(payload), `"$`) {
			t.Errorf("%s: the payload is %s", name, payload)
		}
		row := events.LookupIn(d, event)
		if row == nil || !row.Decidable && d != events.DeepAgents { // of which nothing can be decided
			t.Errorf("%s: %s is no event of it, or no agent waits for it: %+v", name, event, row)
			continue
		}
		facts := dialect.Facts(
			&events.Event{Envelope: events.Envelope{Event: event, Dialect: d, Data: payload}, Contract: row},
		)
		if a := dialect.Agent(d); a.Answer != nil && facts.String(neutral.Session) != Session {
			t.Errorf("%s: session %q, want %q", name, facts.String(neutral.Session), Session)
		}
		if d == events.LibreFang || d == events.DeepAgents {
			continue // they report no call before it runs
		}
		var input struct{ Command string }
		if a := dialect.Agent(d); a.Answer != nil &&
			(json.Unmarshal(facts[neutral.Input], &input) != nil || input.Command != "true") {
			t.Errorf("%s: the tool's input is %s, want the command true", name, facts[neutral.Input])
		}
	}
}

func TestStoreAndDaemon(t *testing.T) {
	healthy := client.Storage{OK: true, Path: "/h/hookd.db"}
	tests := []struct {
		name   string
		change func(*client.DaemonInfo)
		want   Level
		says   string
		do     string
	}{
		{"fine", func(*client.DaemonInfo) {}, OK, "0 runs", ""},
		{"unwritable", func(s *client.DaemonInfo) {
			s.Store = client.Storage{Path: "/h/hookd.db", Error: "disk full", Since: time.Now()}
		}, Problem, "disk full", "df -h /h"},
		{"dead_letters", func(s *client.DaemonInfo) { s.Store.DeadLetters = 3 }, Note, "3 runs given up", "hookd dev dead"},
		{"lost", func(s *client.DaemonInfo) { s.Store.Lost = 2 }, Note, "2 records", "hookd status"},
		{"behind", func(s *client.DaemonInfo) { s.Behind = true }, Note, "events wait on disk", "hookd stats"},
		{"queued", func(s *client.DaemonInfo) { s.Queued = 6000 }, Note, "6000 runs wait", "hookd stats"},
		{"draining", func(s *client.DaemonInfo) { s.Draining = true }, Note, "stopping", "hookd status"},
		{"older", func(s *client.DaemonInfo) { s.Version = "v0" }, Note, "it is version v0, this program is v1", (&visit{}).restart()},
		{
			"other_home",
			func(s *client.DaemonInfo) { s.Home = "/other" },
			Note,
			"it serves the home /other",
			"export LIBREFANG_HOME=/other",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := &visit{Options: Options{Version: "v1"}}
			v.Config.Home, v.Config.QueueMaxEvents = "/h", 10_000
			v.status = &client.DaemonInfo{PID: 7, Version: "v1", Home: "/h", Ready: true, Store: healthy}
			tt.change(v.status)
			v.condition(*v.status)
			v.store()
			if got := Worst(v.found); got != tt.want {
				t.Errorf("got %s, want %s: %+v", got, tt.want, v.found)
			}
			for _, f := range v.found {
				if strings.Contains(f.Found, tt.says) && f.Do == tt.do {
					return
				}
			}
			t.Errorf("got %+v, want %q and %q", v.found, tt.says, tt.do)
		})
	}
}

func TestWorst(t *testing.T) {
	for _, tt := range []struct {
		levels string
		want   Level
	}{{"", OK}, {"ok ok", OK}, {"ok note ok", Note}, {"note problem note", Problem}} {
		var list []Finding
		for _, l := range strings.Fields(tt.levels) {
			list = append(list, Finding{Level: Level(l)})
		}
		if got := Worst(list); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.levels, got, tt.want)
		}
	}
}

// Each kind of call that an agent makes is probed by an event of its own, and hookd takes
// the probe for a call of that tool.
func TestCallsAreTheAgentsOwn(t *testing.T) {
	kinds := map[neutral.CallKind]int{}
	for _, name := range connect.Names() {
		d := events.Dialect(name)
		list := dialect.Coverage(d)
		if len(list) == 0 && d != events.LibreFang && d != events.DeepAgents && d != events.VSCode {
			t.Errorf("%s: no kind of call", name)
		}
		for _, c := range list {
			kinds[c.Kind]++
			if (c.Probe.Event == "") == (c.Why == "") {
				t.Errorf("%s: %s: want a probe or why there is none, got %+v", name, c.Kind, c)
			}
			if c.Why != "" {
				continue
			}
			now := time.Now()
			payload := c.Probe.With(Session, `/pro"ject`, now)
			row := events.LookupIn(d, c.Probe.Event)
			if !json.Valid(payload) || strings.Contains(string(payload), `"$`) || row == nil || row.Kind != events.KindToolBefore {
				t.Errorf("%s: %s: %s of %s", name, c.Kind, payload, c.Probe.Event)
				continue
			}
			e := &events.Event{Envelope: events.Envelope{Event: c.Probe.Event, Dialect: d, Data: payload}, Contract: row}
			if !slices.Contains(dialect.ToolNames(e), c.Tool) {
				t.Errorf("%s: %s: tools %q, want %s among them: %s", name, c.Kind, dialect.ToolNames(e), c.Tool, payload)
			}
			want := map[neutral.CallKind]string{
				neutral.RunCall: "true", neutral.InsideCall: "true", neutral.WriteCall: "hookd-doctor.txt", neutral.ReadCall: "hookd-doctor.txt",
				neutral.FetchCall: "https://hookd.invalid/", neutral.StartCall: "nothing", neutral.SearchCall: "nothing",
			}[c.Kind]
			if input := string(dialect.Call(e).Input); !strings.Contains(input, want) {
				t.Errorf("%s: %s: the input is %s, want %s in it", name, c.Kind, input, want)
			}
			if c.Kind == neutral.InsideCall && string(payload) == string(list[0].Probe.With(Session, `/pro"ject`, now)) != (dialect.Facts(e)[neutral.AgentID] == nil) {
				t.Errorf("%s: a subagent's call is %s", name, payload)
			}
		}
	}
	for _, kind := range []neutral.CallKind{
		neutral.RunCall, neutral.WriteCall, neutral.ReadCall, neutral.FetchCall, neutral.SearchCall, neutral.MCPCall, neutral.StartCall, neutral.InsideCall,
	} {
		if kinds[kind] < 5 {
			t.Errorf("%d agents have the kind %s", kinds[kind], kind)
		}
	}
}

// One call is a call, two are calls.
func TestUnguardedCallsAreCounted(t *testing.T) {
	v := new(visit)
	v.checkGuarded([]client.Unguarded{{Agent: "codex", Disobeyed: 1, NotAsked: 2}})
	want := []string{"codex ran 1 call against the answer within a day", "codex ran 2 calls within a day that hookd was not asked about"}
	for i, f := range v.found {
		if f.Found != want[i] {
			t.Errorf("got %q, want %q", f.Found, want[i])
		}
	}
	if len(v.found) != len(want) {
		t.Errorf("%d findings, want %d", len(v.found), len(want))
	}
}
