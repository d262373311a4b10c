package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/secrets"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/wire"
)

// noLog drops all lines.
type noLog struct{ memoryLog }

func (*noLog) Add(int, func() []byte) {}

// BenchmarkPast is the cost of a call and its end for fifty rules that look back, before a rule is judged.
func BenchmarkPast(b *testing.B) {
	var text strings.Builder
	for i := range 10 {
		fmt.Fprintf(&text, "- deny: git push * b%d\n  unless: {ran: [go test *, make t%d], ok: true, since: edit}\n"+
			"- ask: {effect: [connect, send], host: h%d}\n  after: {effect: secret, path: /s%d/**}\n"+
			"- ask: {same: call, count: %d, within: 10m}\n"+
			"- ask: {effect: write, path: /w%d/**, other_session: true, within: %dm}\n"+
			"- ask: {tool: t%d, count: %d, since: prompt}\n", i, i, i, i, i+2, i, i+1, i, i+2)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text.String()), &doc); err != nil {
		b.Fatal(err)
	}
	set, problems := rules.Read(doc.Content[0], nil, rules.Options{})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	see := sight{facts: &facts.Reader{Home: "/home/u"}, project: project.NewFinder().Root}
	p := &Past{sight: see, lines: &noLog{}, redact: secrets.RedactBytes}
	p.history = rules.NewHistory(p.keep)
	p.Use([]*hook.Hook{{Rules: set}})
	event := func(name, more string, i int) *events.Event {
		session := fmt.Sprint("s", i%1000)
		return &events.Event{EventID: fmt.Sprint(name, i), CallID: fmt.Sprint("c", i), Time: time.Unix(int64(i), 0), Envelope: events.Envelope{
			Event: name, Dialect: "claude-code", SessionID: session, Cwd: "/tmp",
			Data: json.RawMessage(fmt.Sprintf(`{"session_id":%q,"transcript_path":"/home/u/.claude/projects/p/x.jsonl",`+
				`"cwd":"/src","permission_mode":"default","hook_event_name":%q,"tool_name":"Bash","tool_input":`+
				`{"command":"cd sub%d && go test ./... > out.txt","description":"Run the tests"},"tool_use_id":"c%d"%s}`,
				session, name, i%5, i, more))}, Contract: events.For("claude-code", name)}
	}
	call := func(e *events.Event) {
		if end := p.Begin(e, true); end != nil {
			end(wire.OutcomeNone)
		}
	}
	var calls, ends []*events.Event
	for i := range 2000 {
		calls = append(calls, event("PreToolUse", "", i))
		ends = append(ends, event("PostToolUse", `,"tool_response":{"stdout":"ok","stderr":"","interrupted":false}`, i))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		call(calls[i%len(calls)])
		call(ends[i%len(ends)])
		i++
	}
}
