package transcripts

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// claudeCode keeps a file for each session, and one for each subagent below the session's folder.
// Since 2.1 most results say who decided. Other denials are known by their texts.
var claudeCode = agent{
	name: "claude-code", title: "Claude Code", prompts: Counted, depth: 4,
	roots: func(p places) []string { return []string{p.own("claude-code", "projects")} },
	is:    func(file string) bool { return strings.HasSuffix(file, ".jsonl") },
	read:  readClaude,
}

func readClaude(ctx context.Context, f *File, c *collector) error {
	inSubagents := filepath.Base(filepath.Dir(f.Path)) == "subagents"
	return lines(ctx, f, c, func(line []byte) {
		switch rawjson.StringIn(line, "type") {
		case "assistant":
			claudeCalls(line, inSubagents, c)
		case "user":
			claudeResults(line, c)
		}
	}, `"tool_use`, `"role":"user"`)
}

// claudeLine has the fields of a line besides its message.
type claudeLine struct {
	Timestamp, Cwd, SessionID string
	IsSidechain               bool
	ToolDenialKind            string
	PermissionDecision        *claudeDecision
	Message                   json.RawMessage
}

type claudeDecision struct{ Decision, Source, ReasonType, ReasonCode string }

// readClaudeLine takes the few members that matter: most of a line is the output of a tool.
func readClaudeLine(line []byte) (l claudeLine) {
	for s := rawjson.Scan(line); s.Next(); {
		switch s.Key() {
		case "timestamp":
			l.Timestamp, _ = rawjson.Text(s.Value())
		case "cwd":
			l.Cwd, _ = rawjson.Text(s.Value())
		case "sessionId":
			l.SessionID, _ = rawjson.Text(s.Value())
		case "isSidechain":
			l.IsSidechain = string(s.Value()) == "true"
		case "toolDenialKind":
			l.ToolDenialKind, _ = rawjson.Text(s.Value())
		case "permissionDecision":
			var d claudeDecision
			if json.Unmarshal(s.Value(), &d) == nil && d != (claudeDecision{}) {
				l.PermissionDecision = &d
			}
		case "message":
			l.Message = s.Value()
		}
	}
	return l
}

func claudeCalls(line []byte, inSubagents bool, c *collector) {
	if !json.Valid(line) {
		c.skipped++
		return
	}
	l := readClaudeLine(line)
	for _, block := range elements(rawjson.Get(l.Message, "content")) {
		if rawjson.StringIn(block, "type") != "tool_use" {
			continue
		}
		call := Call{Session: l.SessionID, Time: timeOf(l.Timestamp), Cwd: l.Cwd, Input: rawjson.Get(block, "input"),
			Subagent: inSubagents || l.IsSidechain}
		call.ID = rawjson.StringIn(block, "id")
		if call.Tool = rawjson.StringIn(block, "name"); call.Tool != "ToolSearch" { // its own search for tools
			c.call(call)
		}
	}
}

func claudeResults(line []byte, c *collector) {
	l := readClaudeLine(line)
	content := rawjson.Get(l.Message, "content")
	blocks := elements(content)
	if !l.IsSidechain && isText(content, blocks) && claudeTyped(line, content) {
		c.turn++
	}
	for _, block := range blocks {
		c.result(rawjson.StringIn(block, "tool_use_id"), func(call *Call) { l.decide(call, block) })
	}
}

// claudeNotes begin texts that Claude Code itself writes in the place of a prompt.
var claudeNotes = []string{"[Request interrupted by user", "<local-command-", "<task-notification>"}

// claudeTyped reports whether a person typed a message, and not Claude Code.
func claudeTyped(line, content json.RawMessage) bool {
	for _, flag := range []string{"isMeta", "isCompactSummary"} {
		if string(rawjson.Get(line, flag)) == "true" {
			return false
		}
	}
	if kind, ok := rawjson.GetString(rawjson.Get(line, "origin"), "kind"); ok {
		return kind == "human"
	}
	text := texts(content, "text")
	return !slices.ContainsFunc(claudeNotes, func(note string) bool { return strings.HasPrefix(text, note) })
}

// isText reports whether the content of a message is the text of a person, and no result.
func isText(content json.RawMessage, blocks []json.RawMessage) bool {
	if len(content) > 0 && content[0] == '"' {
		return true
	}
	return slices.ContainsFunc(blocks, func(block json.RawMessage) bool {
		return rawjson.StringIn(block, "type") == "text"
	})
}

// texts that begin the result of a call that did not run, in versions that do not say who decided.
var (
	claudeRefused   = []byte("The user doesn't want to proceed with this tool use")
	claudeTookBack  = []byte("The user doesn't want to take this action right now")
	claudeHookError = []byte(" hook error: ")
	claudeByRule    = []byte("Permission to use ")
	claudeExited    = []byte(`"Exit code `)

	// claudeFailed begin the result of a command that failed or was ended, where it has no exit code.
	claudeFailed = []string{`[`, `"[`, `"<`, `"Error`, `"Command `, `""`}
)

// decide fills in how a call ended, and who decided.
func (l *claudeLine) decide(call *Call, block json.RawMessage) {
	failed := string(rawjson.Get(block, "is_error")) == "true"
	if call.Outcome = Ran; failed {
		call.Outcome = Failed
	}
	d := l.PermissionDecision
	if d == nil && l.ToolDenialKind == "" {
		if failed {
			l.byText(call, block)
		}
		return
	}
	if d == nil {
		d = &claudeDecision{Decision: "reject"}
		if l.ToolDenialKind == "user-rejected" {
			d.Source = "user_reject"
		}
	}
	if d.Decision == "reject" || l.ToolDenialKind != "" {
		call.Outcome = Denied
	}
	switch {
	case strings.HasPrefix(d.Source, "user_") && d.ReasonType == "": // with a reason it is a rule, see Claude's SDK
		call.By, call.Prompt = ByPerson, Prompt{Asked: true, Yes: call.Outcome != Denied}
	case d.Source == "hook":
		call.By = ByHook
	case d.ReasonType == "classifier" || strings.HasPrefix(l.ToolDenialKind, "automode"):
		call.By = ByJudge
	case call.Outcome == Denied && d.ReasonType == "" && d.Source == "config":
		call.By = ByDefault
	default:
		call.By = ByRule
	}
}

// byText finds a denial by its text.
func (l *claudeLine) byText(call *Call, block json.RawMessage) {
	text := rawjson.Get(block, "content")
	text = text[:min(len(text), 200)]
	if bytes.Contains(text[:min(len(text), 60)], claudeExited) {
		return // a command's own words
	}
	switch {
	case bytes.Contains(text, claudeRefused) || bytes.Contains(text, claudeTookBack):
		call.Outcome, call.By, call.Prompt = Denied, ByPerson, Prompt{Asked: true}
	case bytes.Contains(text, claudeHookError):
		call.Outcome, call.By = Denied, ByHook
	case bytes.Contains(text, claudeByRule) && bytes.Contains(text, []byte("denied")):
		call.Outcome, call.By = Denied, ByRule
	case call.Tool == "Bash" && !slices.ContainsFunc(claudeFailed, func(start string) bool {
		return bytes.HasPrefix(text, []byte(start))
	}):
		call.Outcome, call.By = Denied, ByHook // the reason that a hook gave stands alone
	}
}

// only is an object with one member.
func only(key string, value json.RawMessage) json.RawMessage {
	return rawjson.With(nil, rawjson.Member{Key: key, Value: value})
}

// elements are the elements of a list; anything else has none.
func elements(v json.RawMessage) (list []json.RawMessage) {
	if len(v) == 0 || v[0] != '[' {
		return nil
	}
	w := rawjson.Walk(v)
	for w.EnterList(); w.Element(); {
		list = append(list, w.Value())
	}
	if !w.End() {
		return nil
	}
	return list
}
