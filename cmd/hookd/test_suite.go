package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/run/rehearse"
)

// suites runs the tests in hooks' files, in the daemon or here.
type suites interface {
	run(ctx context.Context, hook string) (client.Tests, error)
	// names returns the hooks with tests, and those without.
	names(ctx context.Context) (with, without []string, err error)
	// digest changes when the hook does.
	digest(ctx context.Context, hook string) (string, error)
}

// remoteSuites runs them in the daemon.
type remoteSuites struct{ c *client.Client }

func (s remoteSuites) run(ctx context.Context, hook string) (client.Tests, error) {
	tests, err := s.c.RunTests(ctx, hook)
	return tests, orLocal(err, hook)
}

func (s remoteSuites) names(ctx context.Context) (with, without []string, err error) {
	list, err := s.c.Hooks(ctx)
	for _, h := range list.Hooks {
		if h.Tests > 0 {
			with = append(with, h.ID)
		} else {
			without = append(without, h.Name)
		}
	}
	return with, without, orLocal(err, "--all")
}

func (s remoteSuites) digest(ctx context.Context, hook string) (string, error) {
	h, err := s.c.Hook(ctx, hook)
	return h.Digest + fmt.Sprint(h.Problems), err
}

// localSuites runs them in this process.
type localSuites struct{ cmd *cobra.Command }

func (s localSuites) run(ctx context.Context, hook string) (client.Tests, error) {
	cfg, err := loadConfig(s.cmd)
	if err != nil {
		return client.Tests{}, err
	}
	h, err := catalog.Find(cfg, hook)
	if err != nil {
		return client.Tests{}, rejectedLocally(err)
	}
	tests, err := rehearse.TestsLocal(ctx, cfg, h)
	if err != nil {
		return client.Tests{}, rejectedLocally(err)
	}
	return tests, nil
}

func (s localSuites) names(context.Context) (with, without []string, err error) {
	cfg, err := loadConfig(s.cmd)
	if err != nil {
		return nil, nil, err
	}
	hooks, without := catalog.Tested(cfg)
	for _, h := range hooks {
		with = append(with, h.Name)
	}
	return with, without, nil
}

func (s localSuites) digest(_ context.Context, hook string) (string, error) {
	cfg, err := loadConfig(s.cmd)
	if err != nil {
		return "", err
	}
	h, err := catalog.Find(cfg, hook)
	if err != nil {
		return err.Error(), nil // a file that is being edited may be wrong for a while
	}
	return h.Digest, nil
}

// orLocal says how to go on without a daemon.
func orLocal(err error, hook string) error {
	if !errors.Is(err, client.ErrNotRunning) {
		return err
	}
	return fail(exitNotRunning, toStart()+", or test without it: `hookd test "+hook+" --local`", "%w", err)
}

// rejectedLocally gives an error of a hook's files its exit code.
func rejectedLocally(err error) error {
	if refusalIn(err) != nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fail(exitRejected, "see what is wrong with `hookd validate`", "%w", err)
}

// testSuite runs the tests of one hook. It has none: ok is false.
func testSuite(a *app, cmd *cobra.Command, s suites, hook string) (ok bool, err error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	tests, err := s.run(ctx, hook)
	if err != nil || len(tests.Tests) == 0 {
		return err != nil, err
	}
	if err := a.print(tests, func(p *printer) { printTests(p, tests, true) }); err != nil {
		return true, err
	}
	if tests.Failed > 0 {
		return true, said(exitFailed)
	}
	return true, nil
}

// allTests is the answer of test --all.
type allTests struct {
	Failed  int            `json:"failed"`
	Hooks   []client.Tests `json:"hooks"`
	Without []string       `json:"without"` // hooks that have no tests
}

// testAll runs the tests of every hook.
func testAll(a *app, cmd *cobra.Command, s suites) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	names, without, err := s.names(ctx)
	if err != nil {
		return err
	}
	all := allTests{Hooks: []client.Tests{}, Without: append([]string{}, without...)}
	for _, name := range names {
		tests, err := s.run(ctx, name)
		if err != nil {
			return err
		}
		all.Failed += tests.Failed
		all.Hooks = append(all.Hooks, tests)
	}
	if err := a.print(all, func(p *printer) { printAllTests(p, all) }); err != nil {
		return err
	}
	if all.Failed > 0 {
		return said(exitFailed)
	}
	return nil
}

// watchEvery is how often the hook's files are looked at.
const watchEvery = 300 * time.Millisecond

// testWatch runs the tests of one hook now and each time that its files change, until
// Ctrl-C.
func testWatch(a *app, cmd *cobra.Command, s suites, hook string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for last := ""; ; {
		now, err := s.digest(ctx, hook)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if now != last && ctx.Err() == nil {
			last = now
			if err := testOnce(ctx, a, s, hook); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// testOnce runs the tests and prints their outcomes, or the problem of the
// hook.
func testOnce(ctx context.Context, a *app, s suites, hook string) error {
	tests, err := s.run(ctx, hook)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		a.report(err)
		return nil
	}
	return a.print(tests, func(p *printer) {
		p.line(p.paint(dim, time.Now().Format("15:04:05")))
		printTests(p, tests, true)
	})
}

// printTests prints the table of one hook's tests: all, or the tests that are not as expected.
func printTests(p *printer, t client.Tests, whole bool) {
	var rows [][]cell
	for _, one := range t.Tests {
		if one.OK && !whole {
			continue
		}
		word := cell{"ok", green}
		if !one.OK {
			word = cell{"differs", red}
		}
		rows = append(rows, []cell{
			word, text(one.Name), text(one.Subject), text(one.Expect), text(one.Got), text(one.Why),
		})
	}
	if len(rows) > 0 {
		p.table([]column{
			{title: "RESULT"}, nameColumn("TEST"), asideColumn("SUBJECT"), {title: "EXPECTED"}, {title: "GOT"},
			textColumn("WHY"),
		}, rows)
	}
	p.line(testsSummary(p, t))
	for _, one := range t.Tests {
		if !one.OK {
			p.linef("hint: the first that differs is in %s:%d", t.File, one.Line)
			return
		}
	}
}

func testsSummary(p *printer, t client.Tests) string {
	name := escape(t.Hook, keepNothing)
	switch {
	case len(t.Tests) == 0:
		return name + ": no tests; write `tests:` into " + escape(t.File, keepNothing)
	case t.Failed == 0:
		return name + ": " + p.paint(green, card.Plural(len(t.Tests), "test")+" as expected")
	}
	all := len(t.Tests)
	return name + ": " + p.paint(red, fmt.Sprintf("%d of %s as expected", all-t.Failed, card.Plural(all, "test")))
}

func printAllTests(p *printer, all allTests) {
	if len(all.Hooks) == 0 {
		p.sentence(plain, "no hook has tests; write `tests:` into a HOOK.yaml, see docs/writing-hooks.md")
		return
	}
	for _, t := range all.Hooks {
		printTests(p, t, false)
	}
	if n := len(all.Without); n > 0 {
		p.linef("%s without tests: %s", card.Plural(n, "hook"), strings.Join(all.Without, ", "))
	}
}
