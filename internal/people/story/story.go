// Package story tells a call, and a session, in a person's reading order: the wish of the agent, the answer and rule
// of each guard, the words to the agent, the run, and a person's next commands. `hookd why` prints a story and the
// page draws it: both choose the words, and neither looks anything up.
//
// It promises: a story is read from the history, the rules now in force, and the agent's own transcript, and changes
// nothing. It leaves out parts no longer kept. It does not promise true transcripts: agents write them.
package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/wire"
)

// Teller tells stories. Client is required.
type Teller struct {
	Client *client.Client
	Rule   func(hook, rule string) *rules.Rule // nil = it is not there now; a nil function knows none
	Home   string                              // where agents keep their transcripts; "" = none is read
	Env    func(string) string                 // nil = no variables
}

// Account is all that is known of a call.
type Account struct {
	client.Decision
	Branch string    `json:"branch,omitempty"` // of the folder, as it is now
	Prompt string    `json:"prompt,omitempty"` // that the call came after
	Said   string    `json:"said,omitempty"`   // by the agent at the end of its turn, which the call is
	Before []Counted `json:"before,omitempty"` // that a rule counted, the oldest first
	Since  *Counted  `json:"since,omitempty"`  // after which nothing fitted a rule's unless; nil = see Missing
	Guards []Said    `json:"guards"`
	Then   string    `json:"then"` // how it ran, in words
	Next   []Step    `json:"next"`

	What   []wire.CardRow `json:"what,omitempty"`   // the input, as an ask card has it; empty = not kept
	Change []wire.CardRow `json:"change,omitempty"` // how the input that runs instead differs
}

// Counted is an earlier call, or prompt, that a rule counted.
type Counted struct {
	EventID string    `json:"event_id"`
	Time    time.Time `json:"time,omitzero"` // zero = it is not in the history any more
	Kind    wire.Kind `json:"kind,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Subject string    `json:"subject,omitempty"`
}

// Said is the answer of one guard about a call.
type Said struct {
	Run        string         `json:"run_id"`
	Hook       string         `json:"hook"`
	Decision   client.Outcome `json:"decision"`
	Reason     string         `json:"reason,omitempty"`
	Rule       string         `json:"rule,omitempty"`
	Where      string         `json:"where,omitempty"` // file and line of the rule
	Span       [2]int         `json:"span,omitzero"`   // bytes of the command that made it say so
	Words      string         `json:"words,omitempty"` // of the span
	Failed     string         `json:"failed,omitempty"`
	Shadow     bool           `json:"shadow,omitempty"`
	DurationMS float64        `json:"duration_ms"`
}

// Step is a command that a person could type, and its purpose.
type Step struct {
	For     string `json:"for"`
	Command string `json:"command"`
	Note    string `json:"note,omitempty"`
	Act     string `json:"act,omitempty"`  // permit, snooze, test or undo; "" = it only looks
	Hook    string `json:"hook,omitempty"` // that a snooze is about
}

// ErrNoGuard is the error of an event that no guard was asked about.
var ErrNoGuard = errors.New("no guard was asked about it")

// Call tells one call; id may be its end. ErrNoGuard: nothing was decided about it.
func (t Teller) Call(ctx context.Context, id string) (s Account, err error) {
	e, err := t.Client.Event(ctx, id)
	if err != nil {
		return s, err
	}
	if e.Decision == nil {
		s.EventID, s.Event = e.EventID, e.Event
		return s, fmt.Errorf("%s, a %s: %w", e.EventID, e.Event, ErrNoGuard)
	}
	s.Decision = *e.Decision
	runs, err := t.Client.Runs(ctx, client.RunQuery{EventID: e.EventID, Limit: 100})
	if err != nil {
		return s, err
	}
	s.Guards = []Said{}
	for _, r := range slices.Backward(runs) {
		if said, is := t.saidIn(r); is {
			if len(s.Rewrote) > 0 && said.Decision == client.OutcomeNone && slices.Contains(s.DecidedBy, said.Hook) {
				said.Decision = client.OutcomeRewrite
			}
			s.Guards = append(s.Guards, said)
		}
	}
	if repository, is := project.Find(s.Cwd); is && filepath.IsAbs(s.Cwd) {
		s.Branch = repository.Branch()
	}
	for _, id := range s.Earlier {
		s.Before = append(s.Before, t.before(ctx, id))
	}
	if s.Missing != nil && s.Missing.Since != "" {
		since := t.before(ctx, s.Missing.Since)
		s.Since = &since
	}
	if s.Prompt, err = t.promptBefore(ctx, s.SessionID, s.EventSeq); err != nil {
		return s, err
	}
	loaded := s.DecidedBy
	if s.Denied() {
		loaded = t.loaded(ctx, s.DecidedBy)
	}
	s.Then, s.Next = s.then(), s.next(loaded)
	s.draw(e)
	return s, nil
}

// before is the earlier event of that id.
func (t Teller) before(ctx context.Context, id string) Counted {
	before := Counted{EventID: id}
	if e, err := t.Client.Event(ctx, id); err == nil { // else it was pruned
		before.Time, before.Tool, before.Subject = e.Time, e.Tool, e.Subject
		before.Kind = events.For(e.Dialect, e.Event).Kind
	}
	return before
}

// draw puts the input of the call into the story, and the input that runs instead.
func (s *Account) draw(e client.StoredEvent) {
	env := events.Received(e.Envelope)
	event := events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event)}
	input := dialect.Call(&event).Input
	if e.Whole && s.ends() {
		s.Said = dialect.Facts(&event).String(neutral.Answer)
	}
	if !e.Whole || len(input) == 0 {
		return
	}
	var spans []wire.CardSpan
	command, _ := rawjson.GetString(input, "command")
	for i, g := range s.Guards {
		if from, to := g.Span[0], g.Span[1]; from < to && to <= len(command) && g.Decision != client.OutcomeNone {
			s.Guards[i].Words = command[from:to]
			spans = append(spans, wire.CardSpan{Hook: g.Hook, Argument: "command", From: from, To: to})
		}
	}
	s.What = card.Rows(s.Tool, input, spans)
	if s.Contained == "" && len(s.NewInput) > 0 && s.NewInput[0] == '{' { // a box runs the same line
		s.Change = card.Change(s.Tool, input, s.NewInput)
	}
}

// saidIn returns the answer of the guard of a run; is is false for an observer.
func (t Teller) saidIn(r client.Run) (said Said, is bool) {
	said = Said{
		Run: r.ID, Hook: r.Hook, Decision: cmp.Or(r.Decision, client.OutcomeNone),
		Reason: WithoutName(FirstLine(r.Reason), r.Hook),
		Rule:   r.Rule, Span: r.Span, Shadow: r.Shadow, DurationMS: r.DurationMS,
	}
	if r.Failure != "" {
		said.Failed = cmp.Or(r.Cause, r.Error)
		if string(r.Failure) == string(wire.FailureDenies) {
			said.Decision = client.OutcomeDeny
		}
	}
	if t.Rule == nil || r.Rule == "" {
		return said, r.Awaited || r.Shadow
	}
	if of := t.Rule(r.Hook, r.Rule); of != nil {
		said.Where = fmt.Sprintf("%s:%d", filepath.Base(of.File), of.Line)
	}
	return said, r.Awaited || r.Shadow
}

// promptBefore finds the prompt that an event came after; "" = none is in the history.
func (t Teller) promptBefore(ctx context.Context, session string, seq uint64) (string, error) {
	if session == "" {
		return "", nil
	}
	list, err := t.Client.Accepted(ctx, client.EventQuery{Session: session, Limit: 500})
	if err != nil {
		return "", err
	}
	for _, e := range list { // the newest first
		if events.Kind(e.Kind) == events.KindPromptSubmit && e.Seq < seq && !e.Tried && !e.ByAgent {
			return e.Subject, nil
		}
	}
	return "", nil
}

// Denied is whether the answer to the call was no.
func (s *Account) Denied() bool { return s.Decision.Decision == client.OutcomeDeny }

// loaded returns the hooks of a list that the daemon has now, or the whole list if the daemon does not answer.
func (t Teller) loaded(ctx context.Context, hooks []string) []string {
	now, err := t.Client.Hooks(ctx)
	if err != nil {
		return hooks
	}
	return slices.DeleteFunc(slices.Clone(hooks), func(name string) bool {
		return name != "hookd" && !slices.ContainsFunc(now.Hooks, func(h client.Hook) bool { return h.Name == name })
	})
}

// next returns the commands that a person could type. loaded are the deciding hooks that the daemon has now.
func (s *Account) next(loaded []string) (list []Step) {
	id := s.EventID[max(0, len(s.EventID)-8):]
	if s.Kept != nil && s.Kept.Files > 0 && !s.Kept.Gone && s.Ran != nil {
		list = append(list, Step{For: "bring back", Command: "hookd undo " + id, Act: "undo"})
	}
	if !s.Denied() {
		return append(list, Step{For: "the whole call", Command: "hookd log " + id})
	}
	if len(loaded) == 0 && len(s.DecidedBy) > 0 {
		note := strings.Join(s.DecidedBy, ", ") + ": not there now"
		return append(list, Step{For: "the whole call", Command: "hookd log " + id, Note: note})
	}
	if s.CallSum != "" {
		command := "hookd permit " + id
		list = append(list, Step{For: "let pass", Command: command, Note: "once; or --for 15m", Act: "permit"})
	}
	for _, hook := range loaded {
		if !catalog.LayerOf(hook).Signed() && hook != "hookd" {
			command := "hookd snooze " + escape.Quote(hook) + " 1h"
			list = append(list, Step{For: "quiet", Command: command, Act: "snooze", Hook: hook})
			break
		}
	}
	if s.Ran == nil && len(loaded) > 0 {
		command := "hookd guard test " + id + " --expect none"
		list = append(list, Step{For: "too strict", Command: command, Note: "adds it as a test", Act: "test"})
	}
	return list
}

// ends reports whether the call is the end of a turn, of the agent or of a subagent.
func (s *Account) ends() bool {
	kind := events.Kind(s.Kind)
	return kind == events.KindTurnStop || kind == events.KindSubagentStop
}

// then tells how the call ran.
func (s *Account) then() string {
	switch {
	case s.ends() && s.Denied():
		return "it was kept at work"
	case s.ends():
		return "it ended"
	case s.Ran == nil && s.Denied():
		return "it did not run: the agent reported no result"
	case s.Ran == nil:
		return "the agent reported no result"
	}
	words := "it ran"
	if s.Denied() {
		words = "it ran all the same"
	} else if s.Guarded == client.GuardedDisobeyed && s.Contained != "" {
		words = "it ran without its box"
	}
	if s.Ran.Failed {
		words += ", and failed"
	}
	if s.Ran.TookMS > 0 {
		words += " after " + duration.Millis(s.Ran.TookMS)
	}
	if s.Ran.Instead != "" {
		words += "; what ran was " + s.Ran.Instead
	}
	return words
}

// WithoutName is a reason without the name that its hook begins it with, which is written before it: that of a
// pack's hook is PACK/NAME.
func WithoutName(reason string, hooks ...string) string {
	name, rest, found := strings.Cut(reason, ": ")
	if found && slices.ContainsFunc(hooks, func(hook string) bool { return hook == name || path.Base(hook) == name }) {
		return rest
	}
	return reason
}

// FirstLine says by … that there are more.
func FirstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		line += " …"
	}
	return line
}
