package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/people/card"
)

func topCommand(a *app) *cobra.Command {
	every := duration.Value(time.Second)
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch hookd live: runs under way, rates, the slowest hooks, denials",
		Long: `top shows what hookd does now, and draws it again every second, until q or Ctrl-C.
Keys: q ends, space pauses, s sorts the hooks by the next column. Where stdout is no
terminal it prints one picture and ends.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTop(a, cmd, time.Duration(every)) },
	}
	cmd.Flags().Var(&every, "every", "time between two pictures")
	return cmd
}

// top is the state of one `hookd log live`.
type top struct {
	a      *app
	cmd    *cobra.Command
	client *client.Client
	sort   int // index in topSorts
	paused bool
	last   topFacts // of the picture before; its rates need two
}

// topFacts has the facts that one picture shows.
type topFacts struct {
	At      time.Time            `json:"time"`
	Status  client.DaemonInfo    `json:"status"`
	Runs    []client.RunUnderWay `json:"runs"`
	Hooks   []client.HookStats   `json:"hooks"` // of the last hour
	Denials []client.Decision    `json:"denials"`
}

// topSorts are the columns that s goes through.
var topSorts = []struct {
	name string
	of   func(client.HookStats) float64
}{
	{"P95", func(s client.HookStats) float64 { return s.P95MS }},
	{"WAITED", func(s client.HookStats) float64 { return s.WaitedMS }},
	{"RUNS", func(s client.HookStats) float64 { return float64(s.Runs) }},
	{"FAILED", func(s client.HookStats) float64 { return float64(s.Failures) }},
}

func runTop(a *app, cmd *cobra.Command, every time.Duration) error {
	if every < 100*time.Millisecond {
		return fail(exitUsage, "type --every 1s", "--every is %s, at least 100ms are wanted", every)
	}
	t := &top{a: a, cmd: cmd, client: a.dial(cmd)}
	facts, err := t.read(cmd.Context())
	if err != nil {
		return err
	}
	if a.format == "json" || !isTerminal(a.out) || !isTerminal(a.in) {
		return a.print(facts, func(p *printer) { t.draw(p, facts) })
	}
	return t.live(every, facts)
}

// live draws until q, on a screen of its own.
func (t *top) live(every time.Duration, facts topFacts) error {
	ctx, screen, err := t.a.openScreen(t.cmd.Context(), every, "type `hookd log live | cat` for one picture")
	if err != nil {
		return err
	}
	defer screen.close()
	note := ""
	for {
		if err := t.paint(facts, note); err != nil {
			return err
		}
		switch key, ended := screen.next(ctx); {
		case ended || quits(key):
			return nil
		case key == " ":
			t.paused = !t.paused
		case key == "s":
			t.sort = (t.sort + 1) % len(topSorts)
		case key == ticked && !t.paused:
			next, err := t.read(ctx)
			if ctx.Err() != nil {
				return nil
			}
			if note = ""; err != nil {
				note = "hookd does not answer, waiting: " + err.Error()
				continue
			}
			t.last, facts = facts, next
		}
	}
}

func (t *top) read(ctx context.Context) (f topFacts, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.a.patience)
	defer cancel()
	if f.Status, err = t.client.Status(ctx); err != nil {
		return f, err
	}
	if f.Runs, err = t.client.Running(ctx); err != nil {
		return f, err
	}
	f.At = time.Now()
	if f.Hooks, err = t.client.Stats(ctx, client.StatsQuery{Since: f.At.Add(-time.Hour)}); err != nil {
		return f, err
	}
	f.Denials, err = t.client.Decisions(ctx, client.DecisionQuery{Decision: string(client.OutcomeDeny), Limit: 10})
	if errors.Is(err, client.ErrRecent) {
		err = nil // these are the last ones
	}
	return f, err
}

// paint draws the picture, with the keys below it.
func (t *top) paint(f topFacts, note string) error {
	keys := "q quit   space pause   s sort by " + topSorts[(t.sort+1)%len(topSorts)].name
	if t.paused {
		keys = "PAUSED   " + keys
	}
	if note != "" {
		keys = escape(note, keepNothing)
	}
	return t.a.fill(func(p *printer, _ int) []string {
		t.draw(p, f)
		return []string{keys}
	})
}

// draw writes the picture.
func (t *top) draw(p *printer, f topFacts) {
	st := f.Status
	p.line(p.fit(fmt.Sprintf("hookd %s  up %s  %s  %s%s  %d queued  %s", st.Version,
		f.At.Sub(st.Started).Round(time.Second), tally(st.Hooks, "no hooks"), card.Plural(int(st.Events), "event"),
		t.rate(f), queued(st), sizeText(st.Store.Bytes))))
	p.line()
	p.line(p.paint(bold, "runs under way"))
	printUnderWay(p, f.Runs)
	p.line()
	by := topSorts[t.sort]
	p.line(p.paint(bold, "hooks, last hour, by "+by.name))
	hooks := slices.SortedStableFunc(
		slices.Values(f.Hooks),
		func(a, b client.HookStats) int { return cmp.Compare(by.of(b), by.of(a)) },
	)
	groups := make([]client.GroupStats, 0, 8)
	for _, s := range hooks[:min(8, len(hooks))] {
		groups = append(groups, client.GroupStats{Name: s.Hook, RunStats: s.RunStats})
	}
	printStats(p, "hook", groups)
	p.line()
	p.line(p.paint(bold, "last denials"))
	if len(f.Denials) == 0 {
		p.line("none")
		return
	}
	printDecisions(p, f.Denials)
}

// rate is how many events came each second since the picture before.
func (t *top) rate(f topFacts) string {
	span := f.At.Sub(t.last.At)
	if t.last.At.IsZero() || span <= 0 || f.Status.Epoch != t.last.Status.Epoch ||
		f.Status.Events < t.last.Status.Events {
		return ""
	}
	return fmt.Sprintf(" (%.1f/s)", float64(f.Status.Events-t.last.Status.Events)/span.Seconds())
}
