package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/agents/shipped"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/people/card"
)

// checkEvents compares the rows of an agent with the events that the installed agent ships.
func checkEvents(a *app, agent, program string) error {
	if !slices.Contains(connect.Names(), agent) {
		return connectFailure(&connect.UnknownError{Agent: agent}, "")
	}
	r, err := shipped.Compare(events.Dialect(agent), program)
	switch {
	case errors.Is(err, shipped.ErrNone) && r.Program == "":
		const hint = `agents that do stand under "Are the rows up to date?" in docs/reference/agents.md`
		return fail(exitUsage, hint, "%s %w", agent, err)
	case errors.Is(err, shipped.ErrNotFound):
		return fail(exitFailed, "name its program: `hookd events --check "+agent+" --program PATH`", "%s %w", agent, err)
	case err != nil:
		return fail(exitFailed, "name its program: `hookd events --check "+agent+" --program PATH`", "%w", err)
	}
	if err := a.print(r, func(p *printer) { printShipped(p, r) }); err != nil {
		return err
	}
	if r.Differs() {
		return said(exitFailed)
	}
	return nil
}

func printShipped(p *printer, r shipped.Report) {
	version := r.Version
	if version == "" {
		version = "of an unknown version"
	}
	p.linef("%s %s, %s: it ships the names of %s", r.Agent, version, r.Program, card.Plural(len(r.Names), "event"))
	list := func(names []string, paint func(string) string, what, do string) {
		if len(names) > 0 {
			p.line(paint(what), ": "+escape(strings.Join(names, " "), keepNothing))
			p.line("  " + do)
		}
	}
	yellowed := func(text string) string { return p.paint(yellow, text) }
	list(r.NoRow, yellowed, "it has, and hookd has no row for",
		"update hookd: what has no row is not registered by hookd connect, and hooks can decide nothing about it")
	list(r.NotIn, yellowed, "hookd has a row, and this release does not have",
		"a newer or an older release has it: hooks for it never run with this one")
	if len(r.Left) > 0 {
		p.line("without a row on purpose:")
	}
	for _, left := range r.Left {
		p.line("  " + escape(strings.Join(left.Names, " "), keepNothing))
		p.line("    " + left.Why)
	}
	list(r.Unknown, yellowed, "it has tools that hookd does not know",
		"a guard that names tools does not match them: one without a matcher does")
	if len(r.Tools) > 0 {
		p.linef("it ships the names of %s", card.Plural(len(r.Tools), "tool"))
	}
	for _, reach := range r.Reach {
		p.line("  " + escape(strings.Join(reach.Tools, " "), keepNothing))
		p.line("    " + reach.What)
	}
	if len(r.Unseen) > 0 {
		p.line(p.paint(red, "hookd is not asked about:"))
	}
	for _, reach := range r.Unseen {
		p.line("  " + escape(strings.Join(reach.Tools, " "), keepNothing) + ": " + reach.What)
		p.line("    " + reach.Why)
	}
	if !r.Differs() {
		p.line(fmt.Sprintf("the rows and tools of %s are as in this release", r.Agent))
	}
}
