package transcripts

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// goose keeps all sessions in one database, formerly in files. It does not write down that a
// person was asked.
var goose = agent{
	name: "goose", title: "Goose", prompts: Unknown, depth: 0,
	roots: func(p places) []string {
		if root := p.env("GOOSE_PATH_ROOT"); filepath.IsAbs(root) {
			return []string{filepath.Join(root, "data", "sessions")}
		}
		return []string{p.in("XDG_DATA_HOME", ".local/share", "goose", "sessions")}
	},
	is: func(file string) bool {
		return filepath.Base(file) == "sessions.db" || strings.HasSuffix(file, ".jsonl")
	},
	read: func(ctx context.Context, f *File, c *collector) error {
		if !isDatabase(f.Path) {
			call := Call{Session: strings.TrimSuffix(filepath.Base(f.Path), ".jsonl")}
			return lines(ctx, f, c, func(line []byte) {
				if dir, ok := rawjson.GetString(line, "working_dir"); ok {
					call.Cwd = dir
				}
				at := call
				var created int64
				_ = json.Unmarshal(rawjson.Get(line, "created"), &created) // 0 = it is not known
				at.Time = millis(created * 1000)
				gooseContent(c, at, rawjson.Get(line, "content"))
			}, `"working_dir"`, `"toolRequest"`, `"toolResponse"`)
		}
		const query = `SELECT m.session_id, s.working_dir, m.created_timestamp, m.content_json
			FROM messages m JOIN sessions s ON s.id = m.session_id WHERE octet_length(m.content_json) < 8388608
			ORDER BY m.session_id, m.created_timestamp`
		return rows(ctx, f, []string{"messages", "sessions"}, query, func(scan func(...any) error) error {
			var call Call
			var at int64
			var content string
			if err := scan(&call.Session, &call.Cwd, &at, &content); err != nil {
				c.skipped++ // a row of another form
				return nil
			}
			call.Time, c.root = millis(at*1000), ""
			gooseContent(c, call, json.RawMessage(content))
			return nil
		})
	},
}

func gooseContent(c *collector, call Call, content json.RawMessage) {
	if !json.Valid(content) {
		return
	}
	for _, part := range elements(content) {
		id := rawjson.StringIn(part, "id")
		switch rawjson.StringIn(part, "type") {
		case "toolRequest":
			next := call
			value := rawjson.Get(rawjson.Get(part, "toolCall"), "value")
			next.ID, next.Input = id, rawjson.Get(value, "arguments")
			next.Tool = rawjson.StringIn(value, "name")
			c.call(next)
		case "toolResponse":
			result := rawjson.Get(part, "toolResult")
			failed := string(rawjson.Get(rawjson.Get(result, "value"), "isError")) == "true"
			c.ended(id, failed || rawjson.StringIn(result, "status") == "error")
		}
	}
}
