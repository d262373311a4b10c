package bridge

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/agents/early"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// isLeft reports whether package early leaves all calls of an agent to the bridge.
func isLeft(agent string) bool { return slices.Contains(early.Left[:], agent+"\x00") }

// hookd answers a call that was handed over with the bytes of the bridge, and gets the same events.
func TestServeAnswersAsTheBridge(t *testing.T) {
	d := &table{}
	socket := serve(t, d.emit)
	files, err := filepath.Glob(goldenFiles)
	hooktest.Must(t, err)
	served := map[string]bool{}
	env := []string{"CLAUDE_CODE_ENTRYPOINT=sdk-cli"} // a run without a person
	for _, file := range files {
		agent, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".json")
		event, _, _ := strings.Cut(name, "-")
		payload, err := os.ReadFile(file)
		hooktest.Must(t, err)
		for _, kind := range kinds {
			d.set(kind.answer)
			asked := func(name string) string {
				if !slices.Contains(early.Variables[:], name+"=") && !isLeft(agent) {
					t.Errorf("%s asks for %s, which package early does not hand over", agent, name)
				}
				return variable(env)(name)
			}
			o := Options{Agent: agent, Args: []string{event}, Socket: socket, Getenv: asked}
			want := called(t, o, string(payload))
			wantSent, wantTold := d.sent(), d.told(t)
			d.set(kind.answer)
			var told wire.Told
			got, ok := said{}, false
			if got, told, ok = handedOver(t, d, wire.Handed{Payload: payload, Args: []string{agent, event, "--socket=" + socket}, Env: env}); !ok {
				if sent := d.sent(); sent != "" {
					t.Errorf("%s: left to the bridge, and sent\n%s", file, sent)
				}
				break
			}
			served[agent] = true
			if got != want || d.sent() != wantSent {
				t.Errorf("%s, %s: got %+v and\n%swant %+v and\n%s", file, kind.name, got, d.sent(), want, wantSent)
			}
			d.say(told)
			if has := d.told(t); has != wantTold {
				t.Errorf("%s, %s: got %s, want %s", file, kind.name, has, wantTold)
			}
		}
	}
	for _, file := range files {
		agent := filepath.Base(filepath.Dir(file))
		if isLeft(agent) == served[agent] {
			t.Errorf("%s is left to the bridge: %v, want %v", agent, !served[agent], isLeft(agent))
			served[agent] = !served[agent]
		}
	}
}

// handedOver hands a call over to hookd, whose hooks answer as d does.
func handedOver(t *testing.T, d *table, h wire.Handed) (got said, told wire.Told, ok bool) {
	reply, told, ok := Serve(t.Context(), h, func(line []byte) (wire.Answer, *wire.Error) {
		var p events.Parser
		env, bad := p.Parse(bytes.Clone(line))
		if bad != nil {
			return wire.Answer{}, bad
		}
		if env.Tells {
			env.Hearing = events.NewHearing()
		}
		return d.emit(context.Background(), *env)
	})
	return said{reply.Stdout, reply.Stderr, reply.Exit}, told, ok
}

// say reports the words that the agent was told to the last event.
func (d *table) say(t wire.Told) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.seen); n > 0 && d.seen[n-1].Hearing != nil {
		d.seen[n-1].Hearing.Say(t)
	}
}

// A call that is wrong, or that nothing of a payload may stand for, is left to the bridge and sends nothing.
func TestServeLeaves(t *testing.T) {
	payload := []byte(captured(t, "claude-code/PreToolUse.json"))
	for name, h := range map[string]wire.Handed{
		"no arguments":     {Payload: payload},
		"no agent":         {Payload: payload, Args: []string{"unknown-agent"}},
		"an unknown flag":  {Payload: payload, Args: []string{"claude-code", "--colour=red"}},
		"a wrong flag":     {Payload: payload, Args: []string{"claude-code", "--ask=perhaps"}},
		"no object":        {Payload: []byte(`[1]`), Args: []string{"claude-code"}},
		"no event":         {Payload: []byte(`{}`), Args: []string{"claude-code"}},
		"a plugin's agent": {Payload: payload, Args: []string{"opencode"}},
	} {
		d := &table{}
		if got, _, ok := handedOver(t, d, h); ok || d.sent() != "" {
			t.Errorf("%s: got %+v, %v, sent %q", name, got, ok, d.sent())
		}
	}
	for _, line := range []string{
		wire.HandedPrefix + `{}` + wire.HandedArgs + `"a"` + wire.HandedEnv,
		wire.HandedPrefix + `{},"args":["claude-code"]` + wire.HandedArgs + `"a"` + wire.HandedEnv + wire.HandedEnd,
		wire.HandedPrefix + `{}` + wire.HandedArgs + `1` + wire.HandedEnv + wire.HandedEnd,
		wire.HandedPrefix + `{"a":` + wire.HandedArgs + wire.HandedEnv + wire.HandedEnd,
		`{"bridge":1}`,
	} {
		if h, ok := wire.ReadHanded([]byte(line)); ok {
			t.Errorf("%s is read as %+v", line, h)
		}
	}
}
