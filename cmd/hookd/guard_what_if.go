package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/hookfiles"
	"github.com/hookd/hookd/internal/people/story"
	"github.com/hookd/hookd/internal/run/rehearse"
	"github.com/hookd/hookd/wire"
)

func whatIfCommand(a *app) *cobra.Command {
	var w whatIf
	w.a = a
	cmd := &cobra.Command{
		Use:   "whatif HOOK|FOLDER|COMMAND",
		Short: "Show what a hook would have changed of past decisions",
		Long: `whatif gives past events that could be decided to a hook, which may be an edited copy
or not installed at all, and prints the calls that would be decided otherwise. It runs the
hook here, with HOOKD_WHATIF=1 in its environment; nothing is recorded and no
agent is told. A COMMAND such as 'npm publish' stands for a rule that denies it: see how often
it would have fired before you write it. An event of which the history has not all of the data, or not its
secrets, cannot be judged and is only counted. Ctrl-C ends it with what is known so
far. The exit code is 1 when the hook failed for an event. With --data it is asked about
that call, and then is the decision of the installed version.`,
		Example: `  hookd guard what-if guard-rm
  hookd guard what-if ./guard-rm --since 7d --limit 10000
  hookd guard what-if guard-rm --tool Bash -o json
  hookd guard what-if 'npm publish' --since 30d
  hookd guard what-if ./guard-rm --data '{"command":"rm -rf /"}'`,
		Args:              one("HOOK, FOLDER or COMMAND"),
		ValidArgsFunction: hookNames(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return w.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&w.since, "since", "7d", "not older than this: 24h, yesterday, 09:00, 2006-01-02")
	flags.StringVar(&w.until, "until", "", "older than this, as for --since")
	flags.IntVarP(&w.limit, "limit", "n", 1000, "at most so many events, the newest; 0 is all")
	flags.StringVar(&w.session, "session", "", "of this session")
	flags.StringVar(&w.agent, "agent", "", "of this agent: id, name or dialect")
	flags.StringVar(&w.tool, "tool", "", "of this tool, by its canonical name")
	flags.StringVarP(&w.data, "data", "d", "", "ask about this call, not the past; @FILE reads a file, - reads stdin")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// whatIf is one call of whatif.
type whatIf struct {
	a                                  *app
	since, until, session, agent, tool string
	data                               string
	limit                              int
}

func (w *whatIf) run(cmd *cobra.Command, name string) error {
	for _, past := range []string{"since", "until", "limit", "session", "agent"} {
		if w.data != "" && cmd.Flags().Changed(past) {
			return fail(exitUsage, "leave --"+past+" out", "--data is a call of its own, and --%s selects past ones", past)
		}
	}
	q, err := w.query()
	if err != nil {
		return err
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	h, err := w.find(cfg, name)
	if err != nil {
		return rejectedLocally(err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	debug.SetGCPercent(gcPercent)
	past := hookfiles.Past(ctx, w.a.dial(cmd), q, h, w.limit)
	if w.data != "" {
		call, err := w.typed(ctx, cfg, h)
		if err != nil {
			return err
		}
		q.Since = time.Time{}
		past = func(each func(rehearse.Past) error) error { return each(call) }
	}
	p := w.progress()
	sum, err := rehearse.WhatIfLocal(ctx, cfg, h, past, p.watch)
	p.end()
	if err != nil {
		return err
	}
	sum.Since = q.Since
	if err := w.a.print(sum, func(p *printer) { printWhatIf(p, sum) }); err != nil {
		return err
	}
	if sum.Failed > 0 {
		return said(exitFailed)
	}
	return nil
}

// find is the hook of a name or in a folder. A name of several words is a command, and its hook denies that.
func (w *whatIf) find(cfg config.Config, name string) (*hook.Hook, error) {
	h, err := catalog.Find(cfg, name)
	if err == nil || !strings.Contains(strings.TrimSpace(name), " ") {
		return h, err
	}
	g := guard{a: w.a, deny: "as `hookd guard what-if` asks"}
	rule, _, err := g.rule(name)
	if err != nil {
		return nil, err
	}
	text, err := withRule(nil, houseRules, false, rule, nil)
	if err != nil {
		return nil, err
	}
	h, problems := hookdir.ReadText(filepath.Join(cfg.HooksDir, houseRules), text, hookdir.Options{})
	if h == nil {
		return nil, catalog.Worst(problems)
	}
	return h, nil
}

// typed is the call of --data, decided as the installed hook of the same name would: a hook that is not
// installed has decided nothing.
func (w *whatIf) typed(ctx context.Context, cfg config.Config, h *hook.Hook) (rehearse.Past, error) {
	f := eventFlags{data: w.data, wait: true}
	env, err := f.envelope(w.a, "")
	if err != nil {
		return rehearse.Past{}, err
	}
	env = match.Sample(h, env, w.tool)
	c := events.For(env.Dialect, env.Event)
	e := &events.Event{Envelope: env, Contract: c}
	e.Dialect = c.Dialect
	p := rehearse.Past{Envelope: env, Time: time.Now(), Whole: true}
	p.Tool, p.Subject = dialect.Subject(e, nil)
	installed, err := catalog.Find(cfg, h.Name)
	if err != nil {
		return p, nil
	}
	tested, err := rehearse.TryLocal(ctx, cfg, installed.Name, env)
	if err != nil || !tested.Decides || tested.Why != "" {
		return p, err
	}
	p.Decision = &wire.Decision{
		Decision: cmp.Or(tested.Run.Decision, wire.OutcomeNone), Reason: tested.Run.Reason,
		DecidedBy: []string{h.Name},
	}
	switch v := tested.Verdict; {
	case !v.Allowed:
		p.Decision.Decision = wire.OutcomeDeny
	case v.UpdatedInput != nil:
		p.Decision.Rewrote = []string{"input"}
	}
	return p, nil
}

// gcPercent is how much a whatif's memory may grow between two collections. The hook wants
// the processors: with 100 the collections take a quarter of the time that hookd needs for itself.
const gcPercent = 400

func (w *whatIf) query() (client.EventQuery, error) {
	values := url.Values{}
	for key, value := range map[string]string{
		"since": w.since, "until": w.until, "session": w.session, "agent": w.agent, "tool": w.tool,
	} {
		if value != "" {
			values.Set(key, value)
		}
	}
	if w.limit < 0 {
		return client.EventQuery{}, fail(exitUsage, "0 is all", "--limit %d is below 0", w.limit)
	}
	q, bad := wire.ParseEventQuery(values, time.Now())
	if bad != nil {
		return client.EventQuery{}, fail(exitUsage, bad.Hint+", see `hookd guard what-if --help`", "%w", bad)
	}
	return client.EventQuery(q), nil
}

// progress is the line on a terminal that says how far it is.
type progress struct {
	w       io.Writer // nil = there is no terminal
	stop    chan struct{}
	writing sync.WaitGroup
}

func (w *whatIf) progress() *progress {
	p := &progress{stop: make(chan struct{})}
	if isTerminal(w.a.errOut) {
		p.w = w.a.errOut
	}
	return p
}

// progressEvery is how often the line is written.
const progressEvery = 100 * time.Millisecond

// watch writes the line until end is called.
func (p *progress) watch(a *rehearse.Asking) {
	if p.w == nil {
		return
	}
	p.writing.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				seen, changed := a.Seen()
				fmt.Fprintf(p.w, "\r\x1b[K%s asked, %d would change; Ctrl-C ends it", card.Thousands(seen), changed)
			case <-p.stop:
				fmt.Fprint(p.w, "\r\x1b[K")
				return
			}
		}
	})
}

func (p *progress) end() {
	close(p.stop)
	p.writing.Wait() // for nothing where the hook was never asked
}

func printWhatIf(p *printer, w rehearse.WhatIf) {
	var rows [][]cell
	id := idsOf(p, w.Changes, func(c rehearse.Change) string { return c.EventID })
	for _, c := range w.Changes {
		rows = append(rows, []cell{
			text(p.when(c.Time)), text(c.Tool), text(c.Subject), outcome(client.Outcome(c.Then)),
			outcome(client.Outcome(c.Now)), text(story.FirstLine(c.Reason)), text(id(c.EventID)),
		})
	}
	if len(rows) > 0 {
		p.table([]column{
			{title: "TIME"}, nameColumn("TOOL"), textColumn("SUBJECT"), {title: "THEN"}, {title: "NOW"},
			textColumn("REASON"), {title: "EVENT"},
		}, rows)
	}
	p.sentence(plain, totals(w))
	if w.Cut+w.Redacted > 0 {
		p.sentence(plain, fmt.Sprintf("%s not judged: %s of which not all data was kept, %s without their secrets",
			card.Plural(w.Cut+w.Redacted, "event"), card.Thousands(w.Cut), card.Thousands(w.Redacted)))
	}
	if w.Failed > 0 {
		failed := fmt.Sprintf("it failed for %s: ", card.Plural(w.Failed, "event"))
		p.line(p.paint(red, failed), escape(w.Error, keepNothing))
	}
	if w.Asked+w.Cut+w.Redacted == 0 && !w.Stopped {
		p.line("the hook asks for no event of that time; see `hookd match` and `hookd log`")
	}
}

// totals sums up.
func totals(w rehearse.WhatIf) string {
	by := map[string]int{}
	for _, c := range w.Changes {
		by[c.Then+" to "+c.Now]++
	}
	var parts []string
	for _, then := range wire.Outcomes() {
		for _, now := range wire.Outcomes() {
			if n := by[string(then+" to "+now)]; n > 0 {
				parts = append(parts, fmt.Sprintf("%s %s to %s", card.Thousands(n), then, now))
			}
		}
	}
	state := ""
	if w.Stopped {
		state = "stopped; so far: "
	}
	line := fmt.Sprintf("%s%s: %s asked in %s, it ran for %s; %s would change", state, w.Hook,
		card.Plural(w.Asked, "event"), millis(w.TookMS), card.Thousands(w.Ran), card.Thousands(len(w.Changes)))
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, ", ")
	}
	return line
}
