package transcripts

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
)

// openClaw keeps a database for each of its agents, formerly files; both hold Pi's messages.
// Its approvals stand in another database, which is not read.
var openClaw = agent{
	name: "openclaw", title: "OpenClaw", prompts: Unknown, depth: 2,
	roots: func(p places) []string {
		roots := []string{p.own("openclaw", "agents")}
		for _, name := range []string{".clawdbot", ".moltbot", ".moldbot"} {
			roots = append(roots, filepath.Join(p.home, name, "agents"))
		}
		return roots
	},
	is: func(file string) bool {
		return filepath.Base(file) == "openclaw-agent.sqlite" ||
			filepath.Base(filepath.Dir(file)) == "sessions" && strings.HasSuffix(file, ".jsonl")
	},
	read: func(ctx context.Context, f *File, c *collector) error {
		s := &piSession{c: c}
		if !isDatabase(f.Path) {
			return lines(ctx, f, c, s.line, `"session"`, `"toolCall"`, `"toolResult"`)
		}
		const query = `SELECT session_id, event_json FROM transcript_events
			WHERE octet_length(event_json) < 8388608 ORDER BY session_id, seq`
		last := ""
		return rows(ctx, f, []string{"transcript_events"}, query, func(scan func(...any) error) error {
			var session, event string
			if err := scan(&session, &event); err != nil {
				c.skipped++ // a row of another form
				return nil
			}
			if session != last {
				c.end()
				s.session, s.cwd, c.root, last = session, "", "", session
			}
			s.line(json.RawMessage(event))
			s.session = session
			return nil
		})
	},
}
