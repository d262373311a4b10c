package transcripts

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// crush keeps a database in each project. Which projects there are stands in a file of its own.
// It does not write down that a person was asked.
var crush = agent{
	name: "crush", title: "Crush", prompts: Unknown, depth: 0,
	roots: func(p places) []string {
		var known struct {
			Projects []struct {
				Path    string
				DataDir string `json:"data_dir"`
			}
		}
		file := p.in("CRUSH_GLOBAL_DATA", ".local/share/crush", "projects.json")
		if document(file, &known) != nil {
			return nil
		}
		var roots []string
		for _, project := range known.Projects {
			if dir := folder(project.DataDir); dir != "" {
				roots = append(roots, dir)
			} else if dir := folder(project.Path); dir != "" {
				roots = append(roots, filepath.Join(dir, ".crush"))
			}
		}
		return roots[:min(len(roots), 500)]
	},
	is: func(file string) bool { return filepath.Base(file) == "crush.db" },
	read: func(ctx context.Context, f *File, c *collector) error {
		const query = `SELECT coalesce(s.parent_session_id, s.id), s.parent_session_id IS NOT NULL, m.created_at,
			m.parts FROM messages m JOIN sessions s ON s.id = m.session_id WHERE octet_length(m.parts) < 8388608
			ORDER BY m.created_at`
		root := filepath.Dir(f.root)
		return rows(ctx, f, []string{"messages", "sessions"}, query, func(scan func(...any) error) error {
			call := Call{Cwd: root}
			var at int64
			var parts string
			if err := scan(&call.Session, &call.Subagent, &at, &parts); err != nil {
				c.skipped++ // a row of another form
				return nil
			}
			if call.Time = millis(at); at < 1e11 { // seconds
				call.Time = millis(at * 1000)
			}
			crushParts(c, call, json.RawMessage(parts))
			return nil
		})
	},
}

func crushParts(c *collector, call Call, parts json.RawMessage) {
	if !json.Valid(parts) {
		c.skipped++
		return
	}
	for _, part := range elements(parts) {
		data := rawjson.Get(part, "data")
		switch rawjson.StringIn(part, "type") {
		case "tool_call":
			next := call
			next.ID, next.Tool = rawjson.StringIn(data, "id"), rawjson.StringIn(data, "name")
			next.Input = json.RawMessage(rawjson.StringIn(data, "input"))
			c.call(next)
		case "tool_result":
			c.ended(rawjson.StringIn(data, "tool_call_id"), string(rawjson.Get(data, "is_error")) == "true")
		}
	}
}
