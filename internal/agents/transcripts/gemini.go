package transcripts

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/base/readfile"
)

// geminiCLI keeps a file for each session and for each of its subagents, formerly one JSON document
// a session. A message is written again once its calls are done. Calls of messages that were
// taken back ran all the same.
var geminiCLI = agent{
	name: "gemini-cli", title: "Gemini CLI", prompts: Unknown, depth: 4,
	roots: func(p places) []string { return []string{p.own("gemini-cli", "tmp")} },
	is: func(file string) bool {
		inChats := strings.Contains(file, string(filepath.Separator)+"chats"+string(filepath.Separator))
		return inChats && (strings.HasSuffix(file, ".jsonl") || strings.HasSuffix(file, ".json"))
	},
	read: readGemini,
}

// geminiSession has the facts that are known of the session of a file.
type geminiSession struct {
	c            *collector
	session, cwd string
	subagent     bool
	given        map[string]bool // calls, by id
}

func readGemini(ctx context.Context, f *File, c *collector) error {
	s := &geminiSession{c: c, given: map[string]bool{}}
	rest, _ := filepath.Rel(f.root, f.Path)
	parts := strings.Split(rest, string(filepath.Separator))
	if text, err := readfile.Read(filepath.Join(f.root, parts[0], ".project_root"), 4096); err == nil {
		s.cwd = folder(strings.TrimSpace(string(text)))
	}
	if len(parts) == 4 { // PROJECT/chats/SESSION/AGENT.jsonl
		s.subagent, s.session = true, parts[2]
	}
	if strings.HasSuffix(f.Path, ".json") {
		return documents(ctx, f, c, "messages", s.message)
	}
	return lines(ctx, f, c, s.line, `"sessionId"`, `"toolCalls"`)
}

func (s *geminiSession) line(line []byte) {
	if !json.Valid(line) {
		s.c.skipped++
		return
	}
	if set := rawjson.Get(line, "$set"); set != nil {
		for _, message := range elements(rawjson.Get(set, "messages")) {
			s.message(message)
		}
		return
	}
	if id, ok := rawjson.GetString(line, "sessionId"); ok {
		if s.session == "" {
			s.session = id
		}
		s.subagent = s.subagent || rawjson.StringIn(line, "kind") == "subagent"
		for _, dir := range elements(rawjson.Get(line, "directories")) {
			if text, ok := rawjson.Text(dir); ok && s.cwd == "" {
				s.cwd = folder(text)
			}
		}
	}
	s.message(line)
}

func (s *geminiSession) message(message json.RawMessage) {
	for _, given := range elements(rawjson.Get(message, "toolCalls")) {
		var is struct {
			ID, Name, Status, Timestamp string
			Args                        json.RawMessage
		}
		if json.Unmarshal(given, &is) != nil {
			s.c.skipped++
			continue
		}
		if is.Name == "update_topic" || is.Status == "" { // its own note, or not done yet
			continue
		}
		call := Call{ID: is.ID, Session: s.session, Time: timeOf(is.Timestamp), Cwd: s.cwd, Tool: is.Name,
			Input: is.Args, Subagent: s.subagent}
		dir := rawjson.StringIn(is.Args, "dir_path")
		if is.Name == "run_shell_command" && filepath.IsAbs(dir) {
			call.Cwd = dir
		}
		geminiOutcome(&call, is.Status, rawjson.Get(given, "result"))
		if !s.given[is.ID] && len(s.given) < maxFiles {
			s.given[is.ID] = true
			s.c.done(call)
		}
	}
}

func geminiOutcome(call *Call, status string, result json.RawMessage) {
	head := result[:min(len(result), 4096)]
	switch status {
	case "success":
		_, code, exited := bytes.Cut(head, []byte("Exit Code: "))
		if call.Outcome = Ran; exited && !bytes.HasPrefix(code, []byte("0")) {
			call.Outcome = Failed
		}
	case "error":
		if call.Outcome = Failed; bytes.Contains(head, []byte("Tool execution blocked: ")) {
			call.Outcome, call.By = Denied, ByHook
		} else if bytes.Contains(head, []byte("denied by policy")) {
			call.Outcome, call.By = Denied, ByRule
		}
	case "cancelled":
		if call.Outcome = Denied; bytes.Contains(head, []byte("User denied execution")) {
			call.By, call.Prompt = ByPerson, Prompt{Asked: true}
		}
	}
}
