package dockeragent

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// defaultTimeout is docker-agent's, for a timeout that is absent or 0.
const defaultTimeout = 60 * time.Second

// hook makes the hook that s describes.
func (r *reader) hook(s settings, at place) *hook.Hook {
	h := build(s, at.contract.Name, filepath.Dir(r.Path), r.shell)
	h.ID = r.Path + "#" + at.id
	of := at.agent + "/" + at.contract.Name
	if h.Name == "" { // its command may be a long script, and hold what no log should
		h.Name = of + "[" + strconv.Itoa(r.numbers[of]) + "]"
	}
	r.numbers[of]++
	h.File = r.Path
	h.Source = hook.Source{Type: SourceType, Path: r.Path}
	h.Agent = at.agent
	h.Matcher, h.MatcherText = at.matcher, at.matcherText
	if at.preempt {
		h.Lane = events.LanePreempt
	}
	h.Definition = s.identity(h.Dir, h.Lane)
	return h
}

// maxCalled is how many bytes of a command its hook is called by at most.
const maxCalled = 64

// shortLine is a command that is one short line; "" = it is empty, longer, or has other characters than text.
func shortLine(command string) string {
	line := strings.TrimSpace(command)
	if len(line) > maxCalled || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return line
}

// build makes a hook of docker-agent for event, with that system's defaults.
// It takes part in every verdict of its event, and runs in the event's cwd,
// else in dir.
func build(s settings, event, dir, shell string) *hook.Hook {
	takesPart := true
	h := &hook.Hook{
		Name:         s.Name,
		Dir:          dir,
		Dialect:      events.DockerAgent,
		Command:      s.Command,
		Patterns:     []pattern.Pattern{{Text: event}},
		Lane:         events.LaneDefault,
		Blocking:     &takesPart,
		OnError:      onError(s.OnError),
		StrictOutput: s.Strict,
		Timeout:      timeout(s.Timeout),
		Env:          environ(s.Env),
		WorkingDir:   s.WorkingDir,
		InEventCwd:   true,
		Enabled:      true,
		Order:        hook.OrderSession,
	}
	switch s.Type {
	case "builtin":
		h.Type, h.Args = hook.Builtin, s.Args
	case "model":
		h.Type, h.Model, h.Prompt, h.SystemPrompt, h.Schema = hook.Model, s.Model, s.Prompt, s.SystemPrompt, s.Schema
	default:
		h.Type, h.ScriptText, h.Shell = hook.Script, s.Command, shell
	}
	if s.Name == "" {
		h.Called = shortLine(s.Command)
	}
	return h
}

func onError(word string) hook.OnError {
	switch word {
	case "":
		return hook.OnErrorWarn
	case "block":
		return hook.OnErrorDeny
	}
	return hook.OnError(word)
}

func timeout(seconds *int) time.Duration {
	if seconds == nil || *seconds == 0 {
		return defaultTimeout
	}
	return time.Duration(*seconds) * time.Second
}

func environ(env []pairText) []string {
	var list []string
	for _, e := range env {
		list = append(list, e.name+"="+e.value)
	}
	return list
}
