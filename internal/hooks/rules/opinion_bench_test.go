package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/facttest"
	"github.com/hookd/hookd/internal/hooks/rules"
)

// BenchmarkJudge reads the facts of an ordinary call and asks a set of rules that let it pass.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{10, 100, 200, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d-rules", n), func(b *testing.B) {
			set := manyRules(b, n)
			s := subject(b, facttest.TestCall{Tool: "Bash", Cwd: facttest.Project})
			e := &events.Event{Contract: events.LookupIn("claude-code", "PreToolUse")}
			e.Data = []byte(`{"tool_name":"Bash","tool_input":{"command":"go test ./... 2>&1 | tail -20"}}`)
			b.ReportAllocs()
			for b.Loop() {
				s.Facts = facts.Read(dialect.Call(e), env())
				if v := set.Judge(s); v.Action != "" {
					b.Fatalf("%v: %s", v.Action, v.Reason())
				}
			}
		})
	}
}

// manyRules are n rules as people write them, none about the line of BenchmarkJudge: over commands, effects with
// paths and hosts, and tools.
func manyRules(b *testing.B, n int) *rules.Set {
	var text strings.Builder
	for i := range n {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&text, "- {deny: {effect: write, path: '/srv/w%d/**'}, why: kept}\n", i)
		case 1:
			fmt.Fprintf(&text, "- {ask: {effect: connect, host: h%d.example}, why: far}\n", i)
		case 2:
			fmt.Fprintf(&text, "- {deny: git push origin b%d *, why: protected}\n", i)
		case 3:
			fmt.Fprintf(&text, "- {ask: {tool: mcp__t%d__*}, why: a tool of a server}\n", i)
		default:
			fmt.Fprintf(&text, "- {deny: tool%d delete *, why: it deletes}\n", i)
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text.String()), &doc); err != nil {
		b.Fatal(err)
	}
	set, problems := rules.Read(doc.Content[0], nil, rules.Options{Home: facttest.Home})
	if len(problems) > 0 {
		b.Fatal(problems[0].Message)
	}
	return set
}
