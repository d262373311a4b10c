package rules

import (
	"strings"
	"testing"
	"time"
)

// TestCheckSequences looks for the mistakes in rules that look back, each with a sequence
// that shows it.
func TestCheckSequences(t *testing.T) {
	for name, x := range map[string]struct{ text, want string }{
		"sound": {"- deny: git push\n  unless: {ran: go test *, ok: true, since: edit}", ""},
		"own way out": {
			"- deny: git push\n  unless: {ran: git push}",
			"fires whatever happened before, for instance after nothing: git push",
		},
		"denied before": {
			"- deny: {effect: secret}\n- ask: {effect: connect}\n  after: {effect: secret}",
			"fires in none of",
		},
		"denied count": {
			"- deny: {effect: connect}\n- ask: {effect: connect, count: 3}",
			"fires in none of",
		},
		"contradicts": {
			"- allow: [git push, go test ./...]\n- ask: git push\n  unless: {ran: go test *, ok: true}",
			"contradicts `allow git push or go test ./...`: both decide after nothing: git push",
		},
		"no file before": {
			"- ask: ls\n  after: {effect: send, path: /x}",
			"never fits: before it, none of its effects has a file",
		},
		"too many":        {"- ask: {same: call, count: 400}", "only the last 256 calls are compared"},
		"same path, read": {"- ask: {effect: read, same: path, count: 3}", "never fits: `same: path` and `other_session` are about edits"},
		"fetched, read":   {"- ask: {effect: read, fetched: true}", "never fits: `fetched` is about files that run"},
		"prompts":         {"- deny: git push\n  unless: {prompt: deploy, since: edit}", ""},
		"said":            {"- deny: {said: tests pass}\n  unless: {ran: go test *, ok: true}", ""},
		"count":           {"- ask: {same: call, count: 5, within: 10m}", ""},
		"failures":        {"- ask: {same: failure, count: 3, since: edit}", ""},
		"shadowed": {
			"- deny: git push\n  unless: {ran: go test *}\n- ask: git push *\n  unless: {ran: go test *, ok: true, since: edit}",
			"",
		},
		"shadowed each time": {
			"- deny: git *\n  after: {effect: secret}\n- ask: git push *\n  after: {effect: secret, since: edit}",
			"rule `ask git push *` never decides: `deny git *` does, for instance after cat",
		},
		"lasted": {"- deny: {tool: '*', lasted: 3h}", ""},
		"by all": {"- ask: {effect: connect}\n  after: {effect: secret, by: machine}", ""},
		"many":   {"- deny: {tool: '*', count: 200}\n- ask: {tool: '*', count: 150}", ""},
		"many, never": {
			"- deny: {effect: connect}\n- ask: {effect: connect, count: 200}", "fires in none of",
		},
		"allow after":   {"- allow: [git push]\n  after: {ran: go test *, ok: true}", ""},
		"rewrite after": {"- rewrite: npm install\n  to: npm ci\n  after: {ran: npm test}", ""},
		"branch":        {"- deny: {command: git push, branch: 'release/*'}\n  unless: {ran: go test *}", ""},
		"data":          {"- deny: {command: git push, data.a.b: x*}\n  unless: {command: git push, data.a.b: x*, since: start}", "fires whatever happened"},
		"other session": {"- ask: {effect: write, other_session: true}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, w := range setOf(t, x.text).Check() {
				got = append(got, w.Message)
			}
			all := strings.Join(got, "\n")
			if x.want == "" && all != "" || !strings.Contains(all, x.want) {
				t.Errorf("got %q, want %q", all, x.want)
			}
		})
	}
}

// BenchmarkCheck is the cost of a check of one rule that looks back.
func BenchmarkCheck(b *testing.B) {
	set := setOf(b, "- deny: git push\n  unless: {ran: go test *, ok: true, since: edit}")
	for b.Loop() {
		set.Check()
	}
	b.ReportMetric(float64(b.Elapsed()/time.Duration(b.N))/1e6, "ms/rule")
}
