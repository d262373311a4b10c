package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/story"
)

func whyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "why [CALL]",
		Short: "Tell the last denial, or any call, as a story",
		Long: `why tells what an agent wanted, what each guard said and by which rule, what the agent
was told and what ran. CALL is the id of a call or its end; without one it is the last
call that was denied. Its last lines are the commands that a person could type next.`,
		Example: "  hookd why\n  hookd why 5HZD7Q",
		Args:    atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(a, cmd, func(ctx context.Context, _ *client.Client) (story.Account, error) {
				return storyOf(ctx, a, cmd, args)
			}, printStory)
		},
		ValidArgsFunction: deniedCalls(a),
	}
}

// deniedCalls completes the calls that were denied last.
func deniedCalls(a *app) completer {
	return asked(a, func(ctx context.Context, c *client.Client) (ids []string) {
		list, _ := c.Decisions(ctx, client.DecisionQuery{Decision: string(client.OutcomeDeny), Limit: 20})
		for _, d := range list {
			ids = append(ids, proposal(d.EventID, about(d.Tool, d.Subject)))
		}
		return ids
	})
}

// storyOf reads the known facts of the call that args name, else of the last that was denied.
func storyOf(ctx context.Context, a *app, cmd *cobra.Command, args []string) (s story.Account, err error) {
	id := ""
	if len(args) == 1 {
		id = args[0]
	} else {
		list, err := a.dial(cmd).Decisions(ctx, client.DecisionQuery{Decision: string(client.OutcomeDeny), Limit: 1})
		if err != nil {
			return s, err
		}
		if len(list) == 0 {
			stats, err := a.dial(cmd).Stats(ctx, client.StatsQuery{})
			if err != nil {
				return s, err
			}
			return s, noDenial(stats)
		}
		id = list[0].EventID
	}
	s, err = newTeller(a, cmd).Call(ctx, id)
	if errors.Is(err, story.ErrNoGuard) {
		return s, fail(exitFailed, "see what ran for it with `hookd log --runs --event "+s.EventID+"`",
			"no guard was asked about %s, a %s", s.EventID, s.Event)
	}
	return s, err
}

// noDenial says that the history has no denial: none was made, or the denials of the counts are pruned.
func noDenial(stats []client.HookStats) error {
	var runs int64
	for _, s := range stats {
		runs += s.Denied
	}
	if runs == 0 {
		return fail(exitFailed, "see all calls with `hookd log`", "nothing was denied yet, as far as hookd knows")
	}
	return fail(exitFailed, "see which with `hookd stats`, and how long calls are kept with `hookd config`",
		"no denial is in the history any more: it had %s of hooks that denied", card.Plural(int(runs), "run"))
}

// newTeller tells stories by the rules as they are now.
func newTeller(a *app, cmd *cobra.Command) story.Teller {
	home, _ := os.UserHomeDir() // without one no transcript is read
	return story.Teller{Client: a.dial(cmd), Rule: rulesOf(cmd), Home: home, Env: os.Getenv}
}

// rulesOf returns a function that finds the rule of a hook by its name; nil = it is not there now.
func rulesOf(cmd *cobra.Command) func(hook, rule string) *rules.Rule {
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

// printStory prints a story, for 80 columns or more.
func printStory(p *printer, s story.Account) {
	shown := append([]string{s.EventID}, s.Earlier...)
	if s.Since != nil {
		shown = append(shown, s.Since.EventID)
	}
	id := idsOf(p, shown, func(id string) string { return id })
	at := decidedAt(s.Decision)
	word := s.Decision.Decision
	head := fmt.Sprintf("%s  %s %s, %s", id(s.EventID), p.paint(colourOf(word), pastWord(word)),
		at.Local().Format("15:04:05"), ago(at))
	if s.Guarded == client.GuardedDisobeyed {
		head += ", and " + p.paint(red, "NOT OBEYED")
	}
	p.line(head)
	p.line()
	p.indented(2, "", callWho(s))
	p.labelled("wanted", wantedWords(s))
	if mark := markedPart(s); mark != "" {
		p.labelled("", mark)
	}
	label := "before"
	for _, b := range s.Before {
		p.labelled(label, beforeWords(b, id(b.EventID)))
		label = ""
	}
	switch {
	case s.Since != nil:
		p.labelled(label, beforeWords(*s.Since, id(s.Since.EventID)))
		p.labelled("", "nothing after it fits the rule's `unless`")
	case s.Missing != nil:
		p.labelled(label, "nothing that fits the rule's `unless`")
	}
	label = "asked"
	told := toldText(s)
	width := 0
	for _, g := range s.Guards {
		width = max(width, runewidth.StringWidth(g.Hook))
	}
	for _, g := range s.Guards {
		p.labelled(label, guardWords(g, width))
		label = ""
		if why := because(g); why != "" && !strings.Contains(told, why) {
			p.indented(2+labelWidth+width+2, "", why)
		}
	}
	if s.Answered != nil {
		p.labelled("answer", answeredWords(s.Answered))
	}
	p.labelled("told", cmp.Or(told, "nothing"))
	then := s.Then
	if s.Ran != nil {
		then += ", " + ago(s.Ran.Time)
	}
	p.labelled("then", then)
	if box := boxWords(s.Decision); box != "" {
		p.labelled("box", box)
	}
	if kept := undoLine(s.Decision); kept != "" {
		p.labelled("kept", kept)
	}
	p.line()
	p.steps(s.Next)
}

// wantedWords names the act that the agent, or the person, was about to do.
func wantedWords(s story.Account) string {
	text := about(s.Tool, s.Subject)
	switch kind := events.Kind(s.Kind); {
	case text != "" && kind == events.KindPromptSubmit:
		return "to submit “" + text + "”"
	case text != "":
		return text
	case kind != events.KindTurnStop && kind != events.KindSubagentStop:
		return s.Event
	case s.Said == "":
		return "to end"
	}
	return "to end with “" + cut(story.FirstLine(s.Said), 60, false) + "”"
}

// beforeWords is an earlier call, prompt or start on one line.
func beforeWords(b story.Counted, id string) string {
	if b.Time.IsZero() {
		return id + ", which is not in the history any more"
	}
	what := cmp.Or(about(b.Tool, b.Subject), "an event")
	switch events.Kind(b.Kind) {
	case events.KindPromptSubmit:
		what = "prompt “" + cut(story.FirstLine(b.Subject), 60, false) + "”"
	case events.KindSessionStart:
		what = "the start of the session"
	}
	return what + ", " + b.Time.Local().Format("15:04:05") + " (" + id + ")"
}

// callWho says which agent, where, and after which prompt.
func callWho(s story.Account) string {
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
		text += ", after “" + cut(story.FirstLine(s.Prompt), 60, false) + "”"
	}
	return text
}

// markedPart underlines the part of the call that made a guard stop it; "" where no rule names one.
func markedPart(s story.Account) string {
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

// guardWords gives in a line a guard's answer, its rule, and how long it took.
func guardWords(g story.Said, width int) string {
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
func because(g story.Said) string {
	return cmp.Or(story.FirstLine(g.Failed), g.Reason)
}

// toldText is the answer that the agent heard.
func toldText(s story.Account) string {
	if s.Told == nil {
		return strings.Join(nonEmpty([]string{string(s.Decision.Decision), s.Reason}), ": ")
	}
	return toldWords(s.Decision)
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
	case client.OutcomeContain:
		return "contained"
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
func (p *printer) steps(list []story.Step) {
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
