package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/learn"
	"github.com/hookd/hookd/internal/people/scan"
)

// learning is one call of the command.
type learning struct {
	scan           scanning
	take           []string
	list, estimate bool
	undo, agents   bool
}

func learnCommand(a *app) *cobra.Command {
	l := learning{scan: scanning{a: a, since: 90 * 24 * time.Hour}}
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "Be asked less: allow calls that you always approved",
		Long: `learn looks for calls that you approved at least 5 times, on 2 days or more, and never refused:
in the transcripts of agents, and in your answers to hookd. For each it shows the calls that a
rule would have let through. You take or leave it with one key. Rules go into the hook quiet,
with tests; they overrule no guard. No rule is proposed for a call that a guard names, that is
in doubt, or that runs what its words do not say.`,
		Example: `  hookd learn
  hookd learn --list
  hookd learn --take 'go test'
  hookd learn --undo`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l.undo {
				return l.takeBack(cmd)
			}
			return l.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.Var((*duration.Back)(&l.scan.since), "since", "how far back: 7d, monday, 2006-01-02")
	flags.Lookup("since").DefValue = "90d"
	flags.BoolVar(&l.scan.all, "all", false, "read all transcripts, however long it takes")
	flags.BoolVar(&l.list, "list", false, "show the rules and take none")
	flags.StringArrayVar(&l.take, "take", nil, "take the rule for these words, and ask nothing; \"*\" takes all")
	flags.BoolVar(&l.estimate, "estimate", false, "count approvals that are a guess, such as Codex's")
	flags.BoolVar(&l.agents, "agents", false,
		"with --take: also write them into the own lists of agents that ask all the same")
	flags.BoolVar(&l.undo, "undo", false, "take out all rules that were learned")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

func (l *learning) run(cmd *cobra.Command) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	report, err := l.scan.report(cmd, scan.Options{
		Evidence: &learn.Evidence{Estimate: l.estimate},
		Answered: func(give func(*transcripts.Call)) error {
			err := learn.Answers(cmd.Context(), l.scan.a.dial(cmd), time.Now().Add(-l.scan.since), give)
			if errors.Is(err, client.ErrNotRunning) {
				if _, ran := os.Stat(cfg.StorePath); errors.Is(ran, fs.ErrNotExist) {
					return nil // nothing was ever asked
				}
				return fail(exitNotRunning, toStart()+", then type `"+cmd.CommandPath()+"` again in another terminal: a "+
					"refusal may be among your answers", "%w", err)
			}
			return err
		},
	})
	if err != nil {
		return err
	}
	home, _ := os.UserHomeDir() // without one there is no report
	list := learn.New(cfg.HooksDir, home, report.Proposals())
	interactive := isTerminal(l.scan.a.in) && isTerminal(l.scan.a.out) && len(l.take) == 0 && !l.list
	if !interactive && len(l.take) == 0 || l.scan.a.format == "json" {
		found := map[string]any{"rules": list, "saved": report.Prompts.Saved}
		return l.scan.a.print(found, func(p *printer) { printProposals(p, list, report) })
	}
	taken := l.named(list)
	if interactive {
		if taken, err = l.choose(cmd.Context(), list, report); err != nil {
			return err
		}
	} else if len(taken) == 0 {
		return fail(exitUsage, "hookd learn --list", "no rule that can be learned is called %s",
			strings.Join(l.take, ", "))
	}
	if err := l.write(cfg, taken); err != nil {
		return err
	}
	if len(taken) == 0 || !interactive && !l.agents {
		return nil
	}
	return l.ownLists(learn.Commands(cfg.HooksDir))
}

// named are the proposals that --take names.
func (l *learning) named(list []learn.Proposal) (taken []learn.Proposal) {
	for _, p := range list {
		if slices.Contains(l.take, "*") || slices.Contains(l.take, p.Says) || slices.Contains(l.take, p.Name) {
			taken = append(taken, p)
		}
	}
	return taken
}

func (l *learning) write(cfg config.Config, taken []learn.Proposal) error {
	if len(taken) == 0 {
		fmt.Fprintln(l.scan.a.errOut, "nothing was changed")
		return nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return fail(exitFailed, "set HOME", "find the home folder: %w", err)
	}
	file, err := learn.Write(cfg.HooksDir, home, taken)
	if err != nil {
		return fail(exitRejected, "hookd edit "+learn.Hook, "%w", err)
	}
	fmt.Fprintf(l.scan.a.errOut, "%s in %s\ntest it: hookd test %s --local    take it back: hookd learn --undo\n",
		card.Plural(len(taken), "rule"), escape(file, keepNothing), learn.Hook)
	return nil
}

// ownLists writes all commands that were learned into the own lists of connected agents that ask although
// a hook allows. It does so after a question, or where --agents says so.
func (l *learning) ownLists(commands [][]string) error {
	if len(commands) == 0 {
		return nil
	}
	a := l.scan.a
	for _, name := range connect.Names() {
		list := connect.OwnListOf(name)
		if list == nil || connect.Inspect(connect.Options{Agent: name}).State == connect.NotConnected {
			continue
		}
		plan, err := connect.AllowOwn(connect.Options{Agent: name}, commands)
		if err != nil {
			return fail(exitFailed, "", "allow it in the list of %s: %w", name, err)
		}
		if len(plan.Changes) == 0 {
			continue
		}
		if !l.agents {
			p := a.printer(a.out)
			p.line()
			p.sentence(bold, fmt.Sprintf("%s asks although a hook allows%s. Write %s into %s?", name,
				spaced(list.When), card.Plural(len(commands), "command"), tilde(plan.Changes[0].Path)))
			p.sentence(plain, "They hold in every project"+withLoose(list.Loose)+
				". hookd's guards are asked all the same.")
			fmt.Fprint(a.out, "  y yes   n no  ")
			key, err := a.readKey(context.Background())
			if err != nil {
				return err
			}
			if key != 'y' && key != 'Y' {
				fmt.Fprintln(a.out, "left")
				continue
			}
		}
		if err := plan.Apply(); err != nil {
			return fail(exitFailed, "", "allow it in the list of %s: %w", name, err)
		}
		fmt.Fprintf(a.errOut, "written: %s\n", escape(plan.Changes[0].Path, keepNothing))
	}
	return nil
}

// spaced is text with a blank before it; "" stays.
func spaced(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}

func withLoose(loose string) string {
	if loose == "" {
		return ""
	}
	return ", " + loose
}

// takeBack takes out all that was learned.
func (l *learning) takeBack(cmd *cobra.Command) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return fail(exitFailed, "set HOME", "find the home folder: %w", err)
	}
	n, err := learn.Undo(cfg.HooksDir, home)
	if err != nil {
		return fail(exitFailed, "hookd edit "+learn.Hook, "%w", err)
	}
	for _, name := range connect.Names() {
		if connect.OwnListOf(name) == nil {
			continue
		}
		plan, err := connect.DisallowOwn(connect.Options{Agent: name})
		if err == nil {
			err = plan.Apply()
		}
		if err != nil {
			return fail(exitFailed, "", "take it out of the list of %s: %w", name, err)
		}
	}
	fmt.Fprintf(l.scan.a.errOut, "%s taken out\n", were(n, "rule"))
	return nil
}

// choose asks about each proposal, one key each.
func (l *learning) choose(ctx context.Context, list []learn.Proposal, report *scan.Report) ([]learn.Proposal, error) {
	var taken []learn.Proposal
	a := l.scan.a
	p := a.printer(a.out)
	printLearnHead(p, list, report)
	for i, proposal := range list {
		printProposal(p, i+1, len(list), proposal)
		fmt.Fprint(a.out, "  take it?  y yes   n no   a yes to all   q stop here  ")
		key, err := a.readKey(ctx)
		if err != nil {
			return nil, err
		}
		switch key {
		case 'y', 'Y':
			taken = append(taken, proposal)
			fmt.Fprintln(a.out, "taken")
		case 'a', 'A':
			fmt.Fprintln(a.out, "all taken")
			return append(taken, list[i:]...), nil
		case 'q', 'Q', 3, 4:
			fmt.Fprintln(a.out, "stopped")
			return taken, nil
		default:
			fmt.Fprintln(a.out, "left")
		}
		p.line()
	}
	return taken, p.err
}

// readKey reads one key of the terminal.
func (a *app) readKey(ctx context.Context) (byte, error) {
	fd := int(a.in.Fd())
	was, err := term.MakeRaw(fd)
	if err != nil {
		return 0, fail(exitFailed, "hookd learn --list", "read keys: %w", err)
	}
	defer term.Restore(fd, was)
	var key [1]byte
	if _, err := a.in.Read(key[:]); err != nil && !errors.Is(err, io.EOF) {
		return 0, fail(exitFailed, "hookd learn --list", "read a key: %w", err)
	} else if err != nil {
		return 'q', nil
	}
	return key[0], ctx.Err()
}

// printLearnHead tells how much there is to learn.
func printLearnHead(p *printer, list []learn.Proposal, r *scan.Report) {
	q := r.Prompts
	if r.Partly() {
		p.sentence(yellow, fmt.Sprintf("Read %s of %s transcripts: a refusal in the others is not known. All: hookd "+
			"learn --all", card.Thousands(r.Transcripts.Read), card.Thousands(r.Transcripts.Found)))
	}
	if len(list) == 0 {
		p.sentence(plain, fmt.Sprintf("Nothing to learn: %s to you, and no call that was approved 5 times, on 2 days, "+
			"without a refusal, is new and safe to allow.", card.Plural(q.Asked, "question")))
		if q.Saved.Read > 0 {
			p.sentence(plain, fmt.Sprintf("%s of them about calls that only read: hookd add gallery/quiet answers "+
				"those.", card.Thousands(q.Saved.Read)))
		}
		return
	}
	p.sentence(bold, fmt.Sprintf("%s, %s of %s answered. Transcripts are files that agents can write: read each rule.",
		card.Plural(len(list), "rule"), card.Thousands(q.Saved.Learned), card.Plural(q.Asked, "question")))
	p.line()
}

// printProposal writes one rule with its proof.
func printProposal(p *printer, i, of int, l learn.Proposal) {
	p.line(p.paint(bold, escape(fmt.Sprintf("%d of %d  allow  %s", i, of, l.Says), keepNothing)))
	var does []string
	for _, e := range l.Does {
		does = append(does, string(e.Kind)+" "+tilde(strings.TrimSuffix(e.Target, ":")))
	}
	p.pairs(
		kv("  it may", "read, "+strings.Join(does, ", ")),
		kv("  in", strings.Join(tildes(l.Roots), ", ")),
		kv("  you said yes", fmt.Sprintf("%s, on %s, %s to %s, never no",
			card.Plural(l.Yes, "time"), card.Plural(l.Days, "day"),
			dayAndMonth(l.First), dayAndMonth(l.Last))),
		kv("  others", fmt.Sprintf("%s without a question to you would pass, too", card.Plural(l.Others, "call"))),
	)
	for _, line := range l.Lines {
		text := escape(line.Text, keepNothing)
		if p.width > 0 && !p.wide {
			text = cut(text, p.width-12, false)
		}
		p.linef("  %6d x  %s", line.Times, text)
	}
}

func tildes(paths []string) (list []string) {
	for _, path := range paths {
		list = append(list, tilde(path))
	}
	return list
}

// printProposals writes all rules, where none is asked about.
func printProposals(p *printer, list []learn.Proposal, r *scan.Report) {
	printLearnHead(p, list, r)
	for i, l := range list {
		printProposal(p, i+1, len(list), l)
		p.line()
	}
	if len(list) > 0 {
		printScanNext(p, "hookd learn", "take or leave each, on a terminal")
		one := escape(shellQuoted(list[0].Says), keepNothing)
		printScanNext(p, "hookd learn --take "+one, "take one")
	}
}

// shellQuoted is a text as a shell takes it for one word.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
