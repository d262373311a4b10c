package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/wire"
)

func whyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "why [CALL]",
		Short: "Tell the last denial, or any call, as a story",
		Long: `why tells what an agent wanted, what each guard said and by which rule, what the agent
was told and what ran. CALL is the id of a call or its end; without one it is the last
call that was denied. Its last lines are the commands that a person could type next.`,
		Example: "  hookd why\n  hookd why 5HZD7Q",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			s, err := a.storyOf(ctx, cmd, args)
			if err != nil {
				return err
			}
			return a.print(s, func(p *printer) { p.story(s) })
		},
		ValidArgsFunction: deniedCalls(a),
	}
}

// deniedCalls completes the calls that were denied last.
func deniedCalls(a *app) completer {
	return func(cmd *cobra.Command, _ []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		ctx, cancel := completing(cmd)
		defer cancel()
		list, _ := a.dial(cmd).Decisions(ctx, client.DecisionQuery{Decision: string(client.OutcomeDeny), Limit: 20})
		for _, d := range list {
			ids = append(ids, proposal(d.EventID, about(d.Tool, d.Subject)))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// story is all that is known of a call.
type story struct {
	client.Decision
	Branch string       `json:"branch,omitempty"` // of the folder, as it is now
	Prompt string       `json:"prompt,omitempty"` // that the call came after
	Before []callBefore `json:"before,omitempty"` // that a rule counted, the oldest first
	Guards []guardSaid  `json:"guards"`
	Then   string       `json:"then"` // how it ran, in words
	Next   []nextStep   `json:"next"`

	What   []wire.CardRow `json:"what,omitempty"`   // the input, as an ask card has it; empty = not kept
	Became []wire.CardRow `json:"became,omitempty"` // the input that runs instead
}

// callBefore is an earlier call, or prompt, that a rule counted.
type callBefore struct {
	EventID string    `json:"event_id"`
	Time    time.Time `json:"time,omitzero"` // zero = it is not in the history any more
	Tool    string    `json:"tool,omitempty"`
	Subject string    `json:"subject,omitempty"`
}

// guardSaid is the answer of one guard about a call.
type guardSaid struct {
	Run        string         `json:"run_id"`
	Hook       string         `json:"hook"`
	Decision   client.Outcome `json:"decision"`
	Reason     string         `json:"reason,omitempty"`
	Rule       string         `json:"rule,omitempty"`
	Where      string         `json:"where,omitempty"` // file and line of the rule
	Span       [2]int         `json:"span,omitzero"`
	Failed     string         `json:"failed,omitempty"`
	Shadow     bool           `json:"shadow,omitempty"`
	DurationMS float64        `json:"duration_ms"`
}

// nextStep is a command that a person could type, and its purpose.
type nextStep struct {
	For     string `json:"for"`
	Command string `json:"command"`
	Note    string `json:"note,omitempty"`
	Act     string `json:"act,omitempty"`  // permit, snooze, test or undo; "" = it only looks
	Hook    string `json:"hook,omitempty"` // that a snooze is about
}

// storyOf reads the known facts of the call that args name, else of the last that was denied.
func (a *app) storyOf(ctx context.Context, cmd *cobra.Command, args []string) (s story, err error) {
	c := a.dial(cmd)
	id := ""
	if len(args) == 1 {
		id = args[0]
	} else {
		list, err := c.Decisions(ctx, client.DecisionQuery{Decision: string(client.OutcomeDeny), Limit: 1})
		if err != nil {
			return s, err
		}
		if len(list) == 0 {
			return s, fail(exitFailed, "see all calls with `hookd log`", "nothing was denied yet")
		}
		id = list[0].EventID
	}
	e, err := c.Event(ctx, id)
	if err != nil {
		return s, err
	}
	if e.Decision == nil {
		return s, fail(exitFailed, "see what ran for it with `hookd log --runs --event "+e.EventID+"`",
			"no guard was asked about %s, a %s", e.EventID, e.Event)
	}
	s.Decision = *e.Decision
	runs, err := c.Runs(ctx, client.RunQuery{EventID: e.EventID, Limit: 100})
	if err != nil {
		return s, err
	}
	rule := a.rulesOf(cmd)
	for _, r := range slices.Backward(runs) {
		if said, is := saidIn(r, rule); is {
			s.Guards = append(s.Guards, said)
		}
	}
	if repository, is := project.Find(s.Cwd); is && filepath.IsAbs(s.Cwd) {
		s.Branch = repository.Branch()
	}
	for _, id := range s.Earlier {
		before := callBefore{EventID: id}
		if e, err := c.Event(ctx, id); err == nil { // else it was pruned
			before.Time, before.Tool, before.Subject = e.Time, e.Tool, e.Subject
		}
		s.Before = append(s.Before, before)
	}
	err = s.around(ctx, c)
	s.Then, s.Next = s.then(), s.next()
	s.draw(e)
	return s, err
}

// draw puts the input of the call into the story, and the input that runs instead.
func (s *story) draw(e client.StoredEvent) {
	env := events.Received(e.Envelope)
	event := events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event)}
	input := dialect.Call(&event).Input
	if !e.Whole || len(input) == 0 {
		return
	}
	var spans []wire.CardSpan
	command, _ := rawjson.GetString(input, "command")
	for _, g := range s.Guards {
		if from, to := g.Span[0], g.Span[1]; from < to && to <= len(command) && g.Decision != client.OutcomeNone {
			spans = append(spans, wire.CardSpan{Hook: g.Hook, Argument: "command", From: from, To: to})
		}
	}
	s.What = card.Rows(s.Tool, input, spans)
	if len(s.NewInput) > 0 && s.NewInput[0] == '{' {
		s.Became = card.Rows(s.Tool, s.NewInput, nil)
	}
}

// rulesOf returns a function that finds the rule of a hook by its name; nil = it is not there now.
func (a *app) rulesOf(cmd *cobra.Command) func(hook, rule string) *rules.Rule {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return func(string, string) *rules.Rule { return nil }
	}
	snapshot := catalog.Scan(cfg)
	return func(hook, rule string) *rules.Rule {
		for _, e := range snapshot.Entries {
			if e.Name == hook && e.Hook != nil && e.Hook.Rules != nil {
				return e.Hook.Rules.Rule(rule)
			}
		}
		return nil
	}
}

// saidIn returns the answer of the guard of a run; is is false for an observer.
func saidIn(r client.Run, rule func(hook, rule string) *rules.Rule) (said guardSaid, is bool) {
	said = guardSaid{
		Run: r.ID, Hook: r.Hook, Decision: cmp.Or(r.Decision, client.OutcomeNone),
		Reason: withoutName(firstLine(r.Reason), r.Hook),
		Rule:   r.Rule, Span: r.Span, Shadow: r.Shadow, DurationMS: r.DurationMS,
	}
	if r.Failure != "" {
		said.Failed = cmp.Or(r.Cause, r.Error)
		if string(r.Failure) == string(wire.FailureDenies) {
			said.Decision = client.OutcomeDeny
		}
	}
	if of := rule(r.Hook, r.Rule); of != nil && r.Rule != "" {
		said.Where = fmt.Sprintf("%s:%d", filepath.Base(of.File), of.Line)
	}
	return said, r.Awaited || r.Shadow
}

// around finds the prompt that the call came after.
func (s *story) around(ctx context.Context, c *client.Client) error {
	if s.SessionID == "" {
		return nil
	}
	list, err := c.Accepted(ctx, client.EventQuery{Session: s.SessionID, Limit: 500})
	if err != nil {
		return err
	}
	for _, e := range list { // the newest first
		if events.Kind(e.Kind) == events.KindPromptSubmit && e.Seq < s.EventSeq && !e.Tried {
			s.Prompt = e.Subject
			return nil
		}
	}
	return nil
}

// denied is whether the answer to the call was no.
func (s *story) denied() bool { return s.Decision.Decision == client.OutcomeDeny }

// next returns the commands that a person could type.
func (s *story) next() (list []nextStep) {
	id := ending(s.EventID)
	if s.Kept != nil && s.Kept.Files > 0 && s.Ran != nil {
		list = append(list, nextStep{For: "bring back", Command: "hookd undo " + id, Act: "undo"})
	}
	if !s.denied() {
		return append(list, nextStep{For: "all of it", Command: "hookd log " + id})
	}
	if s.CallSum != "" {
		command := "hookd permit " + id
		list = append(list, nextStep{For: "let pass", Command: command, Note: "once; or --for 15m", Act: "permit"})
	}
	for _, hook := range s.DecidedBy {
		if !catalog.LayerOf(hook).Signed() && hook != "hookd" {
			command := "hookd snooze " + quote(hook) + " 1h"
			list = append(list, nextStep{For: "quiet", Command: command, Act: "snooze", Hook: hook})
			break
		}
	}
	if s.Ran == nil && len(s.DecidedBy) > 0 {
		command := "hookd guard test " + id + " --expect none"
		list = append(list, nextStep{For: "too strict", Command: command, Note: "adds it as a test", Act: "test"})
	}
	return list
}

// story prints a story, for 80 columns or more.
func (p *printer) story(s story) {
	id := p.ids(append([]string{s.EventID}, s.Earlier...))
	at := decidedAt(s.Decision)
	word := s.Decision.Decision
	head := fmt.Sprintf("%s  %s %s, %s", id(s.EventID), p.paint(colourOf(word), pastWord(word)),
		at.Local().Format("15:04:05"), ago(at))
	if s.Guarded == client.GuardedDisobeyed {
		head += ", and " + p.paint(red, "NOT OBEYED")
	}
	p.line(head)
	p.line()
	p.indented(2, "", s.who())
	p.labelled("wanted", about(s.Tool, s.Subject))
	if mark := s.marked(); mark != "" {
		p.labelled("", mark)
	}
	for i, b := range s.Before {
		label := ""
		if i == 0 {
			label = "before"
		}
		p.labelled(label, b.words(id(b.EventID)))
	}
	label := "asked"
	width := 0
	for _, g := range s.Guards {
		width = max(width, runewidth.StringWidth(g.Hook))
	}
	for _, g := range s.Guards {
		p.labelled(label, g.words(width))
		label = ""
		if why := g.because(); why != "" && !strings.Contains(s.toldText(), why) {
			p.indented(2+labelWidth+width+2, "", why)
		}
	}
	if s.Answered != nil {
		p.labelled("answer", answeredWords(s.Answered))
	}
	p.labelled("told", cmp.Or(s.toldText(), "nothing"))
	p.labelled("then", s.then())
	if kept := undoLine(s.Decision); kept != "" {
		p.labelled("kept", kept)
	}
	p.line()
	p.steps(s.Next)
}

// words is an earlier call on one line.
func (b callBefore) words(id string) string {
	if b.Time.IsZero() {
		return id + ", which is not in the history any more"
	}
	return cmp.Or(about(b.Tool, b.Subject), "an event") + ", " + b.Time.Local().Format("15:04:05") + " (" + id + ")"
}

// who says which agent, where, and after which prompt.
func (s story) who() string {
	text := agentName(s.AgentName, s.AgentID, s.Dialect, s.Tried)
	if agent := dialect.Agent(events.Dialect(s.Dialect)); agent != nil && !s.Tried && s.AgentName == "" {
		text = string(s.Dialect)
	}
	if s.Cwd != "" {
		text += " in " + tilde(s.Cwd)
	}
	if s.Branch != "" {
		text += " (" + s.Branch + ")"
	}
	if s.Prompt != "" {
		text += ", after “" + cut(firstLine(s.Prompt), 60, false) + "”"
	}
	return text
}

// marked underlines the part of the call that made a guard stop it; "" where no rule names one.
func (s story) marked() string {
	for _, g := range s.Guards {
		from, to := g.Span[0], g.Span[1]
		isPart := from < to && to <= len(s.Subject) && to-from < len(s.Subject)
		if g.Decision == client.OutcomeDeny && isPart {
			lead := about(s.Tool, s.Subject)
			at := strings.LastIndex(lead, s.Subject)
			if at < 0 {
				return ""
			}
			before := runewidth.StringWidth(lead[:at] + s.Subject[:from])
			return strings.Repeat(" ", before) + strings.Repeat("^", max(1, runewidth.StringWidth(s.Subject[from:to])))
		}
	}
	return ""
}

// words gives in a line a guard's answer, its rule, and how long it took.
func (g guardSaid) words(width int) string {
	word := "no opinion"
	switch {
	case g.Failed != "" && g.Decision == client.OutcomeDeny:
		word = "FAILED, which denies"
	case g.Failed != "":
		word = "failed, which lets pass"
	case g.Shadow && g.Decision != client.OutcomeNone:
		word = "would " + string(g.Decision) + " (only watches)"
	case g.Decision == client.OutcomeDeny:
		word = "DENY"
	case g.Decision != client.OutcomeNone:
		word = string(g.Decision)
	}
	rest := strings.Join(nonEmpty([]string{g.Where, millis(g.DurationMS)}), "  ")
	return fmt.Sprintf("%-*s  %-10s  %s", width, g.Hook, word, rest)
}

// because is a guard's reason or failure.
func (g guardSaid) because() string {
	return cmp.Or(firstLine(g.Failed), g.Reason)
}

func (s story) toldText() string {
	words := toldWords(s.Decision)
	if s.Told == nil {
		words = strings.Join(nonEmpty([]string{string(s.Decision.Decision), s.Reason}), ": ")
	}
	return words
}

// then tells how the call ran.
func (s story) then() string {
	switch {
	case s.Ran == nil && s.denied():
		return "it did not run: the agent reported no result"
	case s.Ran == nil:
		return "the agent reported no result"
	}
	words := "it ran"
	if s.denied() {
		words = "it ran all the same"
	}
	if s.Ran.Failed {
		words += ", and failed"
	}
	if s.Ran.TookMS > 0 {
		words += " after " + millis(s.Ran.TookMS)
	}
	if s.Ran.Instead != "" {
		words += "; what ran was " + s.Ran.Instead
	}
	return words + ", " + ago(s.Ran.Time)
}

// pastWord is a decision in the past tense.
func pastWord(o client.Outcome) string {
	switch o {
	case client.OutcomeDeny:
		return "denied"
	case client.OutcomeAsk:
		return "asked"
	case client.OutcomeAllow:
		return "allowed"
	case client.OutcomeRewrite:
		return "rewritten"
	case client.OutcomeNone:
		return "passed"
	}
	return string(o)
}

func colourOf(o client.Outcome) colour { return outcome(o).c }

// labelWidth is that of the names in a story.
const labelWidth = 10

// labelled prints a name and a text that goes on below itself.
func (p *printer) labelled(name, text string) {
	p.indented(2, fmt.Sprintf("%-*s", labelWidth, name), text)
}

// indented prints a text behind a name, at most as wide as the terminal, 80 columns in a pipe.
func (p *printer) indented(by int, name, text string) {
	lead := strings.Repeat(" ", by) + name
	text = escape(shorten(text, maxValue), keepNewlines)
	if !p.wide {
		text = fillLines(text, max(cmp.Or(p.width, pipeWidth)-len(lead), leastHelp))
	}
	p.line(lead, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(lead))))
}

// steps prints commands to type, each with its purpose.
func (p *printer) steps(list []nextStep) {
	name, command := 0, 0
	for _, s := range list {
		name, command = max(name, len(s.For)), max(command, runewidth.StringWidth(s.Command))
	}
	for _, s := range list {
		line := fmt.Sprintf("%-*s   %s", name, s.For, p.paint(blue, s.Command))
		if s.Note != "" {
			line += strings.Repeat(" ", command-runewidth.StringWidth(s.Command)+3) + s.Note
		}
		p.line(line)
	}
}
