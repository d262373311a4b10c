package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/story"
	"github.com/hookd/hookd/wire"
)

func asksCommand(a *app) *cobra.Command {
	var follow, answers, ofFleet bool
	cmd := &cobra.Command{
		Use:   "asks [ASK]",
		Short: "Answer what hooks ask: an inbox of the calls that wait for a person",
		Long: `asks shows the calls that a hook asks about and that hookd holds until a person
answers. On a terminal it is an inbox, and while it is open an approver is present:
arrows select, a allows, d denies, s allows for the session, Enter shows all of the
input, ? helps, q ends. Elsewhere it prints the list. With the id of an ask, or its
end as the table shows it, it shows that one with all of its input.`,
		Example: `  hookd ask
  hookd ask -f -o json --answers | ./my-approver`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case ofFleet:
				return fleetAsks(a, cmd)
			case len(args) == 1:
				return showAsk(a, cmd, args[0])
			case a.format != "json" && isTerminal(a.out) && isTerminal(a.in):
				return runInbox(a, cmd)
			case follow:
				return followAsks(a, cmd, answers)
			}
			return show(a, cmd, func(ctx context.Context, c *client.Client) (client.AskList, error) {
				list, err := c.Asks(ctx)
				list.Asks = upTo(list.Asks, a.limit)
				return list, err
			}, printAsks)
		},
		ValidArgsFunction: askIDs(a),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with each ask and each answer, until Ctrl-C")
	cmd.Flags().BoolVar(&ofFleet, "fleet", false, "the list of all machines of the fleet")
	cmd.Flags().BoolVar(&answers, "answers", false, "with -f: what reads this can answer, so an approver is present")
	return withLimit(a, cmd)
}

func askIDs(a *app) completer {
	return asked(a, func(ctx context.Context, c *client.Client) (ids []string) {
		list, _ := c.Asks(ctx)
		for _, ask := range list.Asks {
			ids = append(ids, proposal(ask.ID, ask.Hook+" "+ask.Subject))
		}
		return ids
	})
}

func showAsk(a *app, cmd *cobra.Command, id string) error {
	return show(a, cmd, func(ctx context.Context, c *client.Client) (client.Ask, error) {
		return c.Ask(ctx, id)
	}, func(p *printer, ask client.Ask) {
		printAsk(p, ask)
		if ask.Card != nil && ask.Card.Digest != "" {
			p.line()
			p.linef("allow it with: %s", allowLine(ask))
		}
	})
}

// allowLine is the command that a person types after seeing the whole ask.
func allowLine(ask client.Ask) string {
	return "hookd ask allow " + ending(ask.ID) + " --digest " + ask.Card.Digest[:shownDigest]
}

// shownDigest is how much of a digest a person types, in hexadecimal digits.
const shownDigest = 8

// followAsks prints the waiting asks, and then each ask that comes or ends.
func followAsks(a *app, cmd *cobra.Command, answers bool) error {
	p := a.printer(a.out)
	for r, err := range a.dial(cmd).FollowAsks(cmd.Context(), answers) {
		switch {
		case errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return err
		case a.format == "json":
			p.line(escape(string(r.Raw), keepNothing))
		case r.Type == client.AskHeld:
			p.line(p.fit(strings.Join([]string{p.when(r.Ask.Since), "asks", ending(r.Ask.ID), r.Ask.Hook, r.Ask.Agent,
				about(r.Ask.Tool, r.Ask.Subject), story.FirstLine(r.Ask.Reason)}, "  ")))
		case r.Type == client.AskAnswerIn:
			p.line(p.fit(strings.Join([]string{p.when(r.Ask.Answered.Time), "ended", ending(r.Ask.ID), r.Ask.Hook,
				r.Ask.Agent, answeredWords(r.Ask.Answered)}, "  ")))
		}
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

func printAsks(p *printer, list client.AskList) {
	if len(list.Asks) == 0 {
		p.line("no call waits for an answer; ", presence(list))
		return
	}
	id := idsOf(p, list.Asks, func(ask client.Ask) string { return ask.ID })
	var rows [][]cell
	for _, ask := range list.Asks {
		rows = append(rows, []cell{text(id(ask.ID)), text(left(ask)), text(ask.Hook), text(ask.Agent),
			text(about(ask.Tool, ask.Subject)), text(story.FirstLine(ask.Reason))})
	}
	p.table(askColumns, rows)
	p.line("see a whole call and how to answer with `hookd ask ASK`; ", presence(list))
}

var askColumns = []column{
	{title: "ASK"}, {title: "LEFT"}, hookColumn("HOOK"), asideColumn("AGENT"),
	textColumn("SUBJECT"), textColumn("REASON"),
}

// presence says in words whether an approver is present.
func presence(list client.AskList) string {
	switch {
	case list.Approvers > 0 && list.Hooked:
		return fmt.Sprintf("approvers: %d open, and a hook", list.Approvers)
	case list.Approvers > 0:
		return fmt.Sprintf("approvers: %d open", list.Approvers)
	case list.Hooked:
		return "approver: a hook on hookd:ask"
	}
	return "no approver is present: open `hookd ask` on a terminal"
}

// left is how much time there is for an answer.
func left(ask client.Ask) string {
	d := max(0, time.Until(ask.Until)).Round(time.Second)
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

func printAsk(p *printer, ask client.Ask) {
	hooks := ask.Hook
	if len(ask.Hooks) > 0 {
		hooks = strings.Join(ask.Hooks, ", ")
	}
	state := "waits, " + left(ask) + " left"
	if ask.Answered != nil {
		state = answeredWords(ask.Answered)
	}
	if ask.Card == nil {
		p.pairs(kv("ask", ask.ID), kv("state", state), kv("hook", hooks), kv("reason", ask.Reason),
			kv("agent", ask.Agent), kv("session", ask.SessionID), kv("cwd", ask.Cwd),
			kv("event", ask.Event+" "+ask.EventID), kv("tool", ask.Tool), kv("subject", ask.Subject))
		return
	}
	p.linef("%s  %s, %s, event %s %s", ending(ask.ID), state, ask.Tool, ask.Event, ending(ask.EventID))
	lines, _ := card.Draw(ask.Card.What, max(40, p.width))
	for _, line := range lines {
		p.line(line)
	}
	printCardSays(p, ask.Card)
}

// printCardSays prints the sentences of a card.
func printCardSays(p *printer, c *client.Card) {
	var pairs []pair
	for _, s := range c.Says {
		pairs = append(pairs, kv(s.Name, s.Text))
	}
	p.pairs(pairs...)
}

// answeredWords is the outcome of a question.
func answeredWords(a *client.Answered) string {
	var words []string
	switch a.By {
	case client.ByPerson:
		words = append(words, string(a.Answer), "by "+a.From.User, "("+a.From.Door+")")
	case client.ByGrant:
		words = append(words, string(a.Answer), "by grant", ending(a.ID))
	case client.ByPermit:
		words = append(words, "permitted by "+a.From.User)
	case client.ByTimeout:
		words = append(words, "no answer came in time")
	case client.ByRestart:
		words = append(words, "hookd ended before an answer came")
	case client.ByGone:
		words = append(words, "the agent ended before an answer came")
	}
	if a.For != "" && a.For != "once" {
		words = append(words, "for", a.For)
	}
	if a.Like != "" {
		words = append(words, "like", a.Like)
	}
	switch n := len(a.Refused); {
	case n >= wire.MostRefused:
		words = append(words, fmt.Sprintf("(%d or more answers did not count)", n))
	case n > 0:
		words = append(words, fmt.Sprintf("(%s did not count)", card.Plural(n, "answer")))
	}
	return strings.Join(words, " ")
}

func allowAskCommand(a *app) *cobra.Command {
	return answerAskCommand(a, "allow-ask", client.OutcomeAllow, "Allow a call that a hook asks about")
}

func denyAskCommand(a *app) *cobra.Command {
	return answerAskCommand(a, "deny-ask", client.OutcomeDeny, "Deny a call that a hook asks about")
}

func answerAskCommand(a *app, use string, answer client.Outcome, short string) *cobra.Command {
	r := client.AskReply{Answer: answer}
	key, digest := "", ""
	seen, usage := "", ""
	if answer == client.OutcomeAllow {
		seen, usage = " --digest 2be071fd", " [--digest DIGEST]"
	}
	example := "  hookd " + use + " 7XK2MQ4D" + seen + "\n  hookd " + use + " 7XK2MQ4D" + seen + " --for session --like 'git push *'"
	cmd := &cobra.Command{
		Use:   use + " ASK" + usage,
		Short: short,
		Long: short + `. The end of the ask's id, as ` + "`hookd ask`" + ` shows it, is enough.
An allow on a terminal shows the whole call and asks. Elsewhere it names the digest of what was
shown, which hookd ask ASK prints. With --for the answer is remembered as a grant for this hook and this call: for the
session, always, or a time such as 15m; with --like also for other calls that the
glob fits, see docs/asks.md. An answer from the terminal of the agent that asks does
not count. With --key the ask may be one of another machine of the fleet: the answer
is signed with the key of an approver, and counts once.`,
		Example:           example,
		Args:              one("ASK"),
		ValidArgsFunction: askIDs(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.Like != "" && r.For == "" {
				return fail(exitUsage, "add --for session, --for 15m or --for always",
					"--like is for an answer that is remembered")
			}
			ctx, cancel := a.answer(cmd)
			defer cancel()
			if key != "" {
				return answerFleet(ctx, a, cmd, args[0], key, digest, r)
			}
			if answer == client.OutcomeAllow {
				ask, err := a.dial(cmd).Ask(ctx, args[0])
				if err != nil {
					return err
				}
				if err := takeDigest(a, ask, digest, "", &r); err != nil {
					return err
				}
			}
			did, err := a.dial(cmd).AnswerAsk(ctx, args[0], r)
			if err != nil {
				return err
			}
			return a.print(did, func(p *printer) { printAnsweredAsk(p, did) })
		},
	}
	if answer == client.OutcomeAllow {
		cmd.Flags().StringVar(&digest, "digest", "", "of the call as hookd ask ASK has shown it: its first 8 digits at least")
	}
	cmd.Flags().StringVar(&r.For, "for", "", "remember the answer: session, always, or a time such as 15m")
	cmd.Flags().StringVar(&r.Like, "like", "", "with --for: also for calls that this glob fits, such as 'git push *'")
	cmd.Flags().StringVar(&r.Message, "message", "", "what the agent is told")
	cmd.Flags().StringVar(&key, "key", "", "file of an approver's key: answer an ask of any machine of the fleet")
	cmd.Flags().StringVar(&r.Door, "door", "command", "what the record calls the way of the answer, for programs: desktop, phone")
	_ = cmd.RegisterFlagCompletionFunc("for", words("session", "15m", "1h", "always"))
	return cmd
}

// takeDigest gives r the digest of an ask whose first digits a person has typed: the
// whole card has shown them. Without a digest it prints the card, and the command to type, with more.
func takeDigest(a *app, ask client.Ask, digest, more string, r *client.AskReply) error {
	c := ask.Card
	if r.Digest = digest; c == nil { // it has ended: the daemon says how
		return nil
	}
	if digest == "" {
		if err := a.print(ask, func(p *printer) { printAsk(p, ask) }); err != nil {
			return err
		}
		if c.Digest == "" {
			return fail(exitFailed, "deny it, or ask for less at once", "not all of the call can be shown: it cannot be allowed")
		}
		if more == "" && a.format != "json" && isTerminal(a.in) {
			r.Digest = c.Digest
			return a.confirm(false, "Allow exactly this?", allowLine(ask))
		}
		return fail(exitUsage, "if that is what is to run, type: "+allowLine(ask)+more,
			"an allow names the digest of what was shown")
	}
	if digest = strings.ToLower(digest); len(digest) >= shownDigest && strings.HasPrefix(c.Digest, digest) {
		r.Digest = c.Digest
	}
	return nil
}

func printAnsweredAsk(p *printer, did client.AskAnswered) {
	verb := "denied"
	if did.Ask.Answered.Answer == client.OutcomeAllow {
		verb = "allowed"
	}
	p.linef("%s: %s for %s", verb, about(did.Ask.Tool, did.Ask.Subject), did.Ask.Agent)
	for _, g := range did.Grants {
		p.linef("remembered %s; `hookd grants revoke %s` ends that", grantWords(g), ending(g.ID))
	}
	if did.Warning != "" {
		p.line(p.paint(yellow, "warning: "), escape(did.Warning, keepNothing))
	}
}
