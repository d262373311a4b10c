package transcripts

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// pi keeps a file for each session, a tree: a branch that was left stays in it, and ran. It has no
// permissions; a call that a hook has denied is an error like any other.
var pi = agent{
	name: "pi", title: "Pi", prompts: Unknown, depth: 2,
	roots: func(p places) []string { return []string{p.own("pi", "sessions")} },
	is:    func(file string) bool { return strings.HasSuffix(file, ".jsonl") },
	read: func(ctx context.Context, f *File, c *collector) error {
		s := &piSession{c: c}
		return lines(ctx, f, c, s.line, `"session"`, `"toolCall"`, `"toolResult"`)
	},
}

// piSession reads the events of one session, for OpenClaw, too.
type piSession struct {
	c            *collector
	session, cwd string
}

func (s *piSession) line(line []byte) {
	if !json.Valid(line) {
		s.c.skipped++
		return
	}
	switch rawjson.StringIn(line, "type") {
	case "session":
		s.session, s.cwd = rawjson.StringIn(line, "id"), rawjson.StringIn(line, "cwd")
	case "message":
		s.message(line, rawjson.Get(line, "message"))
	}
}

func (s *piSession) message(line, message json.RawMessage) {
	switch rawjson.StringIn(message, "role") {
	case "assistant":
		when := rawjson.StringIn(line, "timestamp")
		for _, part := range elements(rawjson.Get(message, "content")) {
			if rawjson.StringIn(part, "type") != "toolCall" {
				continue
			}
			call := Call{Session: s.session, Cwd: s.cwd, Time: timeOf(when), Input: rawjson.Get(part, "arguments")}
			call.ID, call.Tool = rawjson.StringIn(part, "id"), rawjson.StringIn(part, "name")
			s.c.call(call)
		}
	case "toolResult":
		exit := string(rawjson.Get(rawjson.Get(message, "details"), "exitCode"))
		s.c.ended(rawjson.StringIn(message, "toolCallId"),
			string(rawjson.Get(message, "isError")) == "true" || exit != "" && exit != "0" && exit != "null")
	}
}
