package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

var update = flag.Bool("update", false, "write the golden files")

const goldenFiles = "../../contract/dialect/*/testdata/*/*.json" // the folder of each agent: NAME/testdata/DIALECT

// kinds are the answers of the hooks, as one hook would give them. Their effect
// on an event is the business of package verdict.
var kinds = []struct {
	name   string
	answer verdict.Answer
}{
	{"none", verdict.Answer{}},
	{"allow", verdict.Answer{PermissionDecision: "allow"}},
	{"deny", verdict.Answer{ExitCode: 2, Stderr: "R: <not> \"here\"", Blocked: true}},
	{"ask", verdict.Answer{PermissionDecision: "ask", PermissionReason: "R?"}},
	{"modify", verdict.Answer{UpdatedInput: json.RawMessage(`{"command":"echo rewritten"}`), UpdatedResponse: json.RawMessage(`"[redacted]"`)}},
	{"context", verdict.Answer{Context: "T\nof two lines"}},
	{"stop", verdict.Answer{Continue: new(bool), StopReason: "S"}},
	{"message", verdict.Answer{SystemMessage: "M"}},
}

// specific has the fields that few agents read, all at once.
var specific = verdict.Answer{PermissionDecision: "ask", PermissionReason: "R?", Specific: map[string]json.RawMessage{
	"session_title": json.RawMessage(`"T"`), "initial_user_message": json.RawMessage(`"go"`),
	"watch_paths": json.RawMessage(`["/w"]`), "reload_skills": json.RawMessage(`true`),
	"suppress_original_prompt": json.RawMessage(`true`), "retry": json.RawMessage(`true`),
	"action": json.RawMessage(`"accept"`), "content": json.RawMessage(`{"name":"x"}`), "defer": json.RawMessage(`true`),
}}

// table answers events as hooks with the answer that is set would.
type table struct {
	mu     sync.Mutex
	answer verdict.Answer
	seen   []events.Envelope
}

func (d *table) emit(_ context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, env)
	a := wire.Answer{EventID: "id", Matched: []string{"hook"}}
	if env.Wait {
		c := events.For(env.Dialect, env.Event)
		answer := d.answer
		answer.Terms = verdict.Terms{Name: "hook", Blocking: true}
		a.Verdict = verdict.Fold(c, env.Data, []verdict.Answer{answer})
	}
	return a, nil
}

func (d *table) set(a verdict.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer, d.seen = a, nil
}

// sent describes the events that the bridge made.
func (d *table) sent() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	for _, env := range d.seen {
		fmt.Fprintf(&b, "event %s of %s, session %s, agent %q, cwd %s, wait %v\n", env.Event, env.Dialect, env.SessionID, env.AgentID+env.AgentName, env.Cwd, env.Wait)
		e := &events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event)}
		if names := dialect.ToolNames(e); names != nil {
			fmt.Fprintf(&b, "  tool %s\n", strings.Join(names, " "))
		}
		if env.Wait && (env.TimeoutMS <= 0 || env.TimeoutMS > events.MaxTimeout.Milliseconds()) {
			fmt.Fprintf(&b, "  timeout_ms is %d\n", env.TimeoutMS)
		}
	}
	return b.String()
}

// told is the bridge's report of its agent's answer to the last event; "" = nothing, as the
// agent got no answer.
func (d *table) told(t *testing.T) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.seen) == 0 || d.seen[len(d.seen)-1].Hearing == nil {
		return ""
	}
	told := d.seen[len(d.seen)-1].Hearing.Wait(t.Context(), hooktest.Patience)
	if told == (wire.Told{Decision: wire.OutcomeNone}) {
		return ""
	}
	text, err := json.Marshal(told)
	hooktest.Must(t, err)
	return fmt.Sprintf("told: %s\n", text)
}

// Each payload in, the exact bytes out, for each thing that hooks may answer.
func TestGolden(t *testing.T) {
	d := &table{}
	socket := serve(t, d.emit)
	files, err := filepath.Glob(goldenFiles)
	if err != nil || len(files) < 100 {
		t.Fatalf("got %d payloads, %v", len(files), err)
	}
	for _, file := range files {
		agent, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(agent+"/"+name, func(t *testing.T) {
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			event, _, _ := strings.Cut(name, "-")
			got := golden(t, d, Options{Agent: agent, Args: []string{event}, Socket: socket}, string(payload))
			compare(t, strings.TrimSuffix(file, ".json")+".golden", got)
		})
	}
}

func golden(t *testing.T, d *table, o Options, payload string) []byte {
	var b bytes.Buffer
	o.Getenv = func(string) string { return "" }
	for i, kind := range kinds {
		d.set(kind.answer)
		got := called(t, o, payload)
		if i == 0 {
			b.WriteString(d.sent())
		}
		fmt.Fprintf(&b, "\n-- %s: exit %d\n%s", kind.name, got.exit, got.stdout)
		b.WriteString(d.told(t))
		if got.stderr != "" {
			fmt.Fprintf(&b, "stderr: %s", got.stderr)
		}
	}
	if event := events.LookupIn(events.Dialect(o.Agent), o.Args[0]); event != nil && len(event.Takes) > 0 {
		d.set(specific)
		// A run without a person.
		o.Getenv = func(name string) string { return map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}[name] }
		got := called(t, o, payload)
		fmt.Fprintf(&b, "\n-- specific: exit %d\n%s", got.exit, got.stdout)
	}
	return b.Bytes()
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
