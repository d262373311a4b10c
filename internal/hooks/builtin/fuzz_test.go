package builtin

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// fuzzed are the built-ins that start no process and open no connection.
var fuzzed = []string{"redact_secrets", "transform_json", "add_context", "limit_large_tool_results", "safer_shell", "max_iterations", "add_date", "add_directory_listing", "add_environment_info"}

// FuzzBuiltin: whatever the payload and the arguments, no built-in panics, and
// its output is an answer that hookd can read.
func FuzzBuiltin(f *testing.F) {
	for i := range fuzzed {
		f.Add(i, `{"session_id":"s","tool_name":"shell","tool_input":{"cmd":"rm -rf /","a":["AKIAIOSFODNN7EXAMPLE"]},"tool_response":"x"}`, "")
		f.Add(i, `{"tool_response":{"a":[{"b":"c"}]},"prompt":null,"messages":[{"content":[]}],"iteration":1e99}`, ".a[0].b")
		f.Add(i, `{"session_id":7,"tool_input":[]}`, "-1")
		f.Add(i, `[]`, "50\nx=y\n\nset:a.b={}")
		f.Add(i, ``, "text with ${x} {{y}} \xff")
	}
	dir, data := f.TempDir(), f.TempDir()
	f.Fuzz(func(t *testing.T, at int, payload, args string) {
		name := fuzzed[int(uint(at)%uint(len(fuzzed)))]
		if payload != "" && !json.Valid([]byte(payload)) || strings.Count(args, "\n") > 8 {
			return // hookd accepts no such event
		}
		b, ok := Lookup(name)
		if !ok {
			t.Fatalf("no built-in %s", name)
		}
		event := "pre_tool_use"
		if len(b.Events) > 0 {
			event = b.Events[0]
		}
		c := callOf(events.For("", event), payload)
		c.Cwd, c.SessionID, c.DataDir = dir, "s", data
		if args != "" {
			c.Args = strings.Split(args, "\n")
		}
		stdout, err := b.Run(t.Context(), &c)
		if err != nil {
			if strings.Contains(err.Error(), "panic") && !strings.Contains(payload+args, "panic") {
				t.Fatalf("%s: %v", name, err)
			}
			return
		}
		if text := bytes.TrimSpace(stdout); len(text) > 0 && text[0] == '{' && !json.Valid(text) {
			t.Fatalf("%s prints %q", name, stdout)
		}
		a := verdict.Read(events.Lookup(event), verdict.Terms{Name: name, Blocking: true}, verdict.Output{Stdout: stdout})
		if a.Failure != "" {
			t.Fatalf("%s prints %q: %s", name, stdout, a.Failure)
		}
	})
}
