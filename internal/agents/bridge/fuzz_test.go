package bridge

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// FuzzCall: whatever an agent writes, hookd gets an event that it can read,
// and without an opinion nothing is denied.
func FuzzCall(f *testing.F) {
	agents := dialect.Agents()
	files, err := filepath.Glob("../../contract/dialect/*/testdata/*/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, "", text)
	}
	for i := range agents {
		f.Add(i, "PreToolUse", []byte(`{"hook_event_name":"pre_tool_use","session_id":[],"tool_name":{},"tool_input":null} {`))
		f.Add(i, "x:y", []byte(" "))
		f.Add(i, `{"a":1}`, []byte("[]"))
		f.Add(i, "hookd:start", []byte(`{"session_id":"s"`))
	}
	f.Fuzz(func(t *testing.T, at int, arg string, stdin []byte) {
		c := &call{Options: Options{Agent: string(agents[int(uint(at)%uint(len(agents)))]), Stdin: strings.NewReader(string(stdin)), Stderr: io.Discard, Getenv: func(string) string { return "" }}}
		if arg != "" {
			c.Args = []string{arg}
		}
		c.agent = dialect.Agent(events.Dialect(c.Agent))
		if c.agent == nil || c.agent.Answer == nil {
			return
		}
		if err := c.read(context.Background()); err != nil {
			if err.Error() == "" || c.event == "" && c.row != nil {
				t.Fatalf("%q with %q", err, c.event)
			}
			c.fail(err, false)
			return
		}
		checkSent(t, c)
		for _, v := range []*verdict.Verdict{nil, {Allowed: true, Continue: true}} {
			if r := c.reply(v); r.Exit != 0 || r.Stdout != "" && c.agent.EventField != "" && !json.Valid([]byte(r.Stdout)) {
				t.Fatalf("%s %s without an opinion: %+v", c.Agent, c.event, r)
			}
		}
		c.reply(&verdict.Verdict{Message: "no", UpdatedInput: json.RawMessage(`{}`)})
		c.session()
	})
}

// checkSent compares the event with the result of hookd's own parser.
func checkSent(t *testing.T, c *call) {
	t.Helper()
	e := c.newEvent()
	line, err := json.Marshal(e.Envelope)
	if err != nil {
		t.Fatalf("%s: %v", c.payload, err)
	}
	got, bad := events.Parse(line)
	if bad != nil {
		if bad.Code == wire.CodeTooDeep || bad.Code == wire.CodeTooLarge || bad.Code == wire.CodeBadField {
			return // hookd's to refuse
		}
		t.Fatalf("hookd refuses %s: %+v", line, bad)
	}
	if got.Event != c.event || string(got.Dialect) != c.Agent || got.Wait != c.row.Decidable || !json.Valid(got.Data) {
		t.Fatalf("%s %s arrives as %+v", c.Agent, c.event, got)
	}
}
