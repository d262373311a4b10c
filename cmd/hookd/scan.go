package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/scan"
)

// scanBudget is how long `hookd scan` reads without --all.
const scanBudget = 10 * time.Second

// scanMemory is from how much memory on the program frees it more eagerly: a million calls need
// less than 200 MiB then, and a few more seconds.
const scanMemory = 140 << 20

// scanning is one call of the command.
type scanning struct {
	a     *app
	since time.Duration
	all   bool
	html  string
}

func scanCommand(a *app) *cobra.Command {
	s := scanning{a: a, since: 30 * 24 * time.Hour}
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Show what your agents did in the past, and what would have been stopped",
		Long: `scan reads the transcripts that agents keep on this machine, and judges each call by the
guards that ` + "`hookd init`" + ` installs. It needs no daemon, changes nothing and sends nothing.
Prompts, outputs and secrets are not shown. The newest transcripts are read first, for
10 seconds; --all reads the rest, too.`,
		Example: `  hookd scan
  hookd scan --since 7d --all
  hookd scan --html report.html`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	flags := cmd.Flags()
	flags.Var((*duration.Back)(&s.since), "since", "how far back: 7d, monday, 2006-01-02")
	flags.Lookup("since").DefValue = "30d"
	flags.BoolVar(&s.all, "all", false, "read all transcripts, however long it takes")
	flags.StringVar(&s.html, "html", "", "write the report as a page into this file, too")
	return cmd
}

func (s *scanning) run(cmd *cobra.Command) error {
	report, err := s.report(cmd, scan.Options{})
	if err != nil {
		return err
	}
	if s.html != "" {
		if err := s.page(report); err != nil {
			return err
		}
	}
	return s.a.print(report, func(p *printer) { printScan(p, report) })
}

// page writes the report as a file that others of this machine cannot read.
func (s *scanning) page(report *scan.Report) error {
	host, err := os.Hostname()
	if err != nil {
		host = "" // it only says whose page it is
	}
	var b bytes.Buffer
	if err := report.WriteHTML(&b, host); err != nil {
		return fail(exitFailed, "", "%w", err)
	}
	if err := os.WriteFile(s.html, b.Bytes(), 0o600); err != nil {
		return fail(exitFailed, "type --html with a file in a folder of yours", "write the page: %w", err)
	}
	fmt.Fprintf(s.a.errOut, "written: %s\n", escape(s.html, keepNothing))
	return nil
}

// report scans, with progress on a terminal.
func (s *scanning) report(cmd *cobra.Command, opt scan.Options) (*scan.Report, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fail(exitFailed, "set HOME", "find the home folder: %w", err)
	}
	opt.Home, opt.Env, opt.Since = home, os.Getenv, time.Now().Add(-s.since)
	if !s.all {
		opt.Budget = scanBudget
	}
	debug.SetMemoryLimit(scanMemory)
	begun := time.Now()
	shown := false
	if isTerminal(s.a.errOut) {
		opt.Progress = func(read, of int) {
			if time.Since(begun) > time.Second {
				fmt.Fprintf(s.a.errOut, "\r\x1b[Kreading %d of %d transcripts", read, of)
				shown = true
			}
		}
	}
	report, err := scan.Run(cmd.Context(), opt)
	if shown {
		fmt.Fprint(s.a.errOut, "\r\x1b[K")
	}
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	return report, nil
}

// printScan writes a report in some 30 lines.
func printScan(p *printer, r *scan.Report) {
	if r.Calls == 0 {
		printNoCalls(p, r)
		return
	}
	printScanRead(p, r)
	p.line()
	printScanAgents(p, r.Agents)
	p.line()
	printScanStopped(p, r)
	printSequences(p, r)
	p.line()
	printScanQuestions(p, r)
	printScanHarm(p, r)
	p.line()
	printScanNext(p, "hookd init", "guard these agents; hookd init --undo takes it back")
	if r.Prompts.Learn > 0 {
		rules := card.Plural(r.Prompts.Learn, "rule")
		printScanNext(p, "hookd learn", fmt.Sprintf("see %s, take those you like", rules))
	}
	if hooks := r.Hooks(); len(hooks) > 0 {
		printScanNext(p, "hookd add "+hooks[0], "judge calls by what came before them, too")
	}
	if r.Partly() {
		printScanNext(p, "hookd scan --all", "read the other transcripts, too")
	}
	printScanNext(p, "hookd scan --html r.html", "the same as a page")
}

// printNoCalls says where nothing was found.
func printNoCalls(p *printer, r *scan.Report) {
	var names []string
	for _, name := range transcripts.Agents() {
		names = append(names, transcripts.Title(name))
	}
	switch {
	case r.Transcripts.Older > 0:
		p.sentence(plain, fmt.Sprintf("No call since %s. %s older: hookd scan --since 365d", dayAndMonth(r.Since),
			are(r.Transcripts.Older, "transcript")))
	case r.Transcripts.Found > 0:
		p.sentence(plain, fmt.Sprintf("No call in %s.", card.Plural(r.Transcripts.Found, "transcript")))
	default:
		p.line("No transcript of an agent is here. Looked for transcripts of")
		p.line(fillLines(strings.Join(names, ", ")+".", cmp.Or(p.width, pipeWidth)))
	}
	p.line()
	printScanNext(p, "hookd init", "guard your agents from now on")
}

// printScanRead names the files that were read, and those left unread.
func printScanRead(p *printer, r *scan.Report) {
	t := r.Transcripts
	took := time.Duration(r.TookMS) * time.Millisecond
	text := fmt.Sprintf("Read %s of %s, %s to %s, in %.1f s. Nothing left this machine, nothing was changed.",
		card.Plural(t.Read, "transcript"), card.Plural(len(r.Agents), "agent"),
		dayAndMonth(r.First), dayAndMonth(r.Last),
		took.Seconds())
	if r.Partly() {
		text = fmt.Sprintf("Read %s of %s transcripts, back to %s, in %.1f s. Nothing left this machine, nothing was "+
			"changed.", card.Thousands(t.Read), card.Thousands(t.Found), dayAndMonth(t.Back), took.Seconds())
	}
	p.sentence(plain, text)
	if n := t.Failed + t.TooLarge + t.Foreign; n > 0 {
		p.sentence(yellow, fmt.Sprintf("Not read: %s (%d too large, %d of other users, %d with an error).",
			card.Plural(n, "transcript"), t.TooLarge, t.Foreign, t.Failed))
	}
	if len(t.Unread) > 0 {
		p.sentence(yellow, "Not read: transcripts of "+strings.Join(t.Unread, ", ")+": their form is not known well enough.")
	}
	if t.Skipped > 0 {
		p.sentence(plain, fmt.Sprintf("%s could not be read and %s not counted.", card.Plural(t.Skipped, "line"),
			isAre(t.Skipped)))
	}
}

func printScanAgents(p *printer, agents []scan.Agent) {
	width := len("AGENT")
	for _, a := range agents {
		width = max(width, len(a.Title))
	}
	p.line(p.paint(bold, fmt.Sprintf("  %-*s  SESSIONS    CALLS  SUBAGENT  STOPPED  ASKED YOU", width, "AGENT")))
	for _, a := range agents {
		asked := fmt.Sprintf("%9s  %s", card.Thousands(a.Asked), a.Prompts)
		if a.Prompts == transcripts.Unknown {
			asked = fmt.Sprintf("%9s  not written down", dash(a.Asked))
		}
		p.linef("  %-*s  %8s %8s  %8s  %7s  %s", width, a.Title, card.Thousands(a.Sessions), card.Thousands(a.Calls),
			dash(a.Subagents), dash(a.Stopped), asked)
	}
}

// printScanStopped shows calls that guards would have stopped or asked about.
func printScanStopped(p *printer, r *scan.Report) {
	head := fmt.Sprintf("%s of %s would have been stopped, %s asked about",
		card.Thousands(r.Stopped), card.Plural(r.Calls, "call"),
		card.Thousands(r.AskedAbout))
	if len(r.Examples) == 0 {
		p.sentence(bold, head+".")
		return
	}
	p.sentence(bold, fmt.Sprintf("%s. %s:", head, ofThem(len(r.Examples), r.Stopped+r.AskedAbout)))
	printScanExamples(p, r.Examples, true)
}

// printSequences shows calls that guards would have stopped because of earlier calls.
func printSequences(p *printer, r *scan.Report) {
	if s := r.Sequences; s.Calls > 0 {
		p.sentence(bold, fmt.Sprintf("By what came before, %s more. Add %s:", card.Plural(s.Calls, "call"),
			strings.Join(r.Hooks(), ", ")))
		printScanExamples(p, s.Examples[:min(len(s.Examples), 3)], true)
	}
}

// printScanExamples writes calls, a line each.
func printScanExamples(p *printer, list []scan.Example, decided bool) {
	agent, project, ended := 0, 0, 0
	for _, e := range list {
		agent, project = max(agent, len(e.Title)), max(project, min(runewidth.StringWidth(e.Project), 10))
		ended = max(ended, len(e.Ended()))
	}
	width := 400
	if p.width > 0 && !p.wide {
		width = p.width - 2 - 6 - 2 - agent - 2 - project - 2 - ended - 2
		if decided {
			width -= 6
		}
	}
	for _, e := range list {
		word, c := "", plain
		if decided {
			if word, c = "ask   ", yellow; e.Decision == "deny" {
				word, c = "stop  ", red
			}
		}
		text := cut(escape(e.Line, keepNothing), max(width, 16), false)
		in := cut(escape(e.Project, keepNothing), project, false)
		p.line("  ", filled(e.Day(), 6), "  ", p.paint(c, word), filled(e.Title, agent), "  ", filled(in, project),
			"  ", filled(text, min(max(width, 16), longest(list))), "  ", e.Ended())
	}
}

func longest(list []scan.Example) (n int) {
	for _, e := range list {
		n = max(n, runewidth.StringWidth(escape(e.Line, keepNothing)))
	}
	return n
}

// filled fills a text up to a width.
func filled(text string, width int) string {
	return text + strings.Repeat(" ", max(width-runewidth.StringWidth(text), 0))
}

// printScanQuestions says how often a person was asked, and how often that would be left.
func printScanQuestions(p *printer, r *scan.Report) {
	q := r.Prompts
	switch {
	case q.Asked == 0:
		p.sentence(plain, "No question to you is written down.")
	default:
		p.sentence(bold, fmt.Sprintf("%s to you (%s), %s answered yes.", card.Plural(q.Asked, "question"), r.Sure(),
			card.Thousands(q.Yes)))
	}
	if n := q.Saved.Read + q.Saved.Learned; n > 0 {
		p.sentence(plain, fmt.Sprintf("Safe to answer for you: %s, %s as they only read, %s by %s.", card.Thousands(n),
			card.Thousands(q.Saved.Read), card.Thousands(q.Saved.Learned), card.Plural(q.Learn, "rule")))
	}
	var parts []string
	for _, e := range q.Examples[:min(len(q.Examples), 3)] {
		parts = append(parts, fmt.Sprintf("%d x  %s", e.Yes, cut(e.Says, 22, false)))
	}
	if more := q.Learn - len(parts); more > 0 && len(parts) > 0 {
		parts = append(parts, fmt.Sprintf("+%d", more))
	}
	if len(parts) > 0 {
		p.linef("  %s", strings.Join(parts, "    "))
	}
}

// printScanHarm tells which secrets were read and sent, and which things were destroyed.
func printScanHarm(p *printer, r *scan.Report) {
	s := r.Secrets
	if s.Read+s.Carried > 0 {
		text := fmt.Sprintf("Secrets were read by %s and written into %s",
			card.Plural(s.Read, "call"), card.Thousands(s.Carried))
		if s.Sent > 0 {
			text += fmt.Sprintf("; after %s something was sent", card.Thousands(s.Sent))
		}
		p.sentence(plain, text+". None is shown.")
	}
	if r.Subagents > 0 {
		p.sentence(plain, fmt.Sprintf("%s made by subagents.", were(r.Subagents, "call")))
	}
	if d := r.Destroyed; d.Calls > 0 {
		p.sentence(plain, fmt.Sprintf("%s destroyed %s, a folder counted as one:", card.Plural(d.Calls, "call"),
			card.Plural(d.Things, "thing")))
		printScanExamples(p, d.Examples[max(0, len(d.Examples)-3):], false)
	}
}

// printScanNext writes a command to type, and its effect.
func printScanNext(p *printer, command, does string) {
	p.line("  ", p.paint(green, filled(command, 25)), " ", does)
}

func dayAndMonth(t time.Time) string { return t.Local().Format("2 Jan") }

// dash is a count; - for none.
func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return card.Thousands(n)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func are(n int, thing string) string { return card.Plural(n, thing) + " " + isAre(n) }

func were(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return card.Plural(n, thing) + " were"
}

// ofThem introduces some of so many.
func ofThem(shown, all int) string {
	if shown >= all {
		return "Here they are"
	}
	counts := []string{"Some", "One", "Two", "Three", "Four", "Five"}
	return counts[min(shown, 5)] + " of them"
}
