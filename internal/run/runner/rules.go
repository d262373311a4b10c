package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/wire"
)

// rules judges an event by the rules of its hook. A panic is a failure of the run: a guard
// then denies.
func (r *Runner) rules(ctx context.Context, j *dispatch.Job) dispatch.JobResult {
	var v rules.Opinion
	out := answered(ctx, j, func(context.Context) (answer []byte, err error) {
		defer func() {
			if p := recover(); p != nil {
				answer, err = nil, fmt.Errorf("rules: panic: %v", p)
			}
		}()
		now := *j.Event
		now.Data = j.Data // as hooks before it have rewritten it
		call, subject := r.subject(j, &now)
		v = taken(&now, call, j.Hook.Rules.Judge(subject))
		return ruled(&now, call, v)
	})
	if v.Rule != nil {
		out.Rule, out.Span, out.Earlier = v.Rule.Name, [2]int{v.Span.From, v.Span.To}, v.Earlier
		out.Missing = (*wire.Missing)(v.Missing)
	}
	return out
}

// Warm judges an invented call by the rules of these hooks: so the first call does not wait for tables of
// programs and for pages of hookd.
func (r *Runner) Warm(hooks []*hook.Hook) {
	data := json.RawMessage(`{"command":"cd src && go test ./... 2>&1 | tail -20"}`)
	call, home := neutral.ToolCall{Own: neutral.Shell, Tool: neutral.Shell, Input: data, Given: data}, r.facts.Home
	for _, h := range hooks {
		if h.Rules != nil {
			h.Rules.Judge(&rules.Subject{Facts: r.facts.Read(call, home), Tools: []string{neutral.Shell}, Data: data,
				Cwd: home, Project: home, Home: home,
				Read: func(line string) *facts.Facts { return r.facts.Line(line, home) }})
		}
	}
}

// taken is a verdict that the agent takes. Where it would run the old line in place of the new one, the rule
// denies.
func taken(e *events.Event, call neutral.ToolCall, v rules.Opinion) rules.Opinion {
	if v.Action != rules.Rewrite {
		return v
	}
	input, err := json.Marshal(map[string]string{lineKey(call): v.Line})
	a := verdict.Answer{Terms: verdict.Terms{Blocking: true}, UpdatedInput: input}
	if err != nil || len(dialect.Undelivered(e, e.Contract, a)) > 0 {
		v.Action = rules.Deny
	}
	return v
}

// subject is the event as rules see it, and its call. Where hooks have not changed it, it was read for its place.
func (r *Runner) subject(j *dispatch.Job, e *events.Event) (call neutral.ToolCall, s *rules.Subject) {
	now := *e
	now.Cwd = cmp.Or(j.Place, e.Cwd)
	seen, _ := e.Before.(*glance)
	if seen != nil && seen.subject != nil && now.Cwd == e.Cwd && same(e.Data, j.Event.Data) {
		again := *seen.subject
		call, s = seen.call, &again
		s.Data, s.Branch = e.Data, func() string { return branchOf(s.Project) }
	} else {
		call = dialect.Call(e)
		s = r.subjectOf(&now, call, "")
	}
	s.Given = sync.OnceValue(func() []json.RawMessage {
		return []json.RawMessage{dialect.Written(e), dialect.Payload(e, j.Given, nil)}
	})
	if seen != nil {
		s.Before = seen.Before
	}
	if e.ByAgent {
		s.Prompt = nil
	}
	if r.undoable != nil && !e.Tried {
		s.Undoable = func(of *facts.Effect) bool { return r.undoable(&now, of) }
	}
	return call, s
}

// same reports whether two texts are the same memory.
func same(a, b json.RawMessage) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// sight has the means to see an event.
type sight struct {
	facts   *facts.Reader
	project func(folder string) string // see Options
}

// subjectOf is an event as rules see it that look at it alone. project is the root of its
// repository, "" = it is looked up.
func (r *sight) subjectOf(e *events.Event, call neutral.ToolCall, project string) *rules.Subject {
	cwd := cmp.Or(e.Cwd, r.facts.Home) // without a folder, as a shell that starts
	s := &rules.Subject{
		Tools: dialect.ToolNames(e), Data: e.Data, Cwd: cwd, Project: cmp.Or(project, cwd), Home: r.facts.Home,
	}
	if r.project != nil && project == "" {
		s.Project = cmp.Or(r.project(cwd), cwd)
	}
	s.Branch = func() string { return branchOf(s.Project) }
	s.Given = sync.OnceValue(func() []json.RawMessage { return []json.RawMessage{dialect.Written(e)} })
	s.Prompt, s.Said = textOf(e, neutral.Prompt), textOf(e, neutral.Answer)
	if s.Facts = r.factsOf(e, call); s.Facts != nil {
		s.Read = func(line string) *facts.Facts { return r.facts.Line(line, cwd) }
	}
	return s
}

// factsOf returns the facts of the call of an event; nil = it has none.
func (r *sight) factsOf(e *events.Event, call neutral.ToolCall) *facts.Facts {
	if call.Own == "" && call.Tool == "" {
		return nil
	}
	return r.facts.Read(call, cmp.Or(e.Cwd, r.facts.Home))
}

// textOf returns a fact that is a text; nil = the event has none.
func textOf(e *events.Event, fact neutral.Fact) *string {
	if text, ok := rawjson.Text(dialect.Fact(e, fact)); ok {
		return &text
	}
	return nil
}

// branchOf returns the branch that the working tree at a folder is on; "" = none is known.
func branchOf(root string) string {
	tree, ok := project.Find(root)
	if !ok {
		return ""
	}
	return tree.Branch()
}

// ruled writes a verdict as a hook answers, in the words of the event.
func ruled(e *events.Event, call neutral.ToolCall, v rules.Opinion) ([]byte, error) {
	var answer struct {
		Decision string `json:"decision,omitempty"`
		Reason   string `json:"reason,omitempty"`
		Specific struct {
			Decision string          `json:"permission_decision,omitempty"`
			Reason   string          `json:"permission_decision_reason,omitempty"`
			Context  string          `json:"additional_context,omitempty"`
			Profile  string          `json:"profile,omitempty"`
			Input    json.RawMessage `json:"updated_input,omitempty"`
		} `json:"hook_specific_output"`
	}
	decides := e.Contract.Decision != events.DecisionNone
	switch v.Action {
	case rules.Deny, rules.Ask, rules.Contain:
		word, reason := string(v.Action), v.Reason()
		if v.Action == rules.Contain && e.Contract.Decision == events.DecisionVerdict {
			answer.Specific.Profile = v.Rule.Profile
		} else if v.Action == rules.Contain {
			word, reason = string(rules.Ask), reason+"; only a tool call can be contained"
		}
		if !decides || word == string(rules.Ask) && e.Contract.Decision != events.DecisionVerdict {
			answer.Decision, answer.Reason = "block", reason
			break
		}
		answer.Specific.Decision, answer.Specific.Reason = word, reason
	case rules.Allow:
		if decides {
			answer.Specific.Decision, answer.Specific.Reason = string(rules.Allow), v.Reason()
		}
	case rules.Rewrite:
		key := lineKey(call)
		if key == "" {
			return nil, errors.New("the rewrite cannot be made: it is not certain which argument the command is")
		}
		text, err := json.Marshal(map[string]string{key: v.Line})
		if err != nil {
			return nil, fmt.Errorf("encode the rewrite: %w", err)
		}
		answer.Specific.Input = text
	}
	if len(v.Context) > 0 {
		answer.Specific.Context = strings.Join(v.Context, "\n")
	}
	if v.Action == "" && answer.Specific.Context == "" {
		return nil, nil
	}
	stdout, err := rawjson.Encode(answer)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return stdout, nil
}

// lineKey is the argument of a call that is its one command line; "" = that is not certain.
func lineKey(call neutral.ToolCall) (found string) {
	lines := call.Commands()
	if len(lines) != 1 || call.Guessed || call.Code != "" {
		return ""
	}
	for key, value := range rawjson.Members(call.Given) {
		if neutral.TextOf(value) != lines[0] {
			continue
		}
		if found != "" {
			return ""
		}
		found = key
	}
	return found
}
