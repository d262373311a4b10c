package main

import (
	"context"
	"slices"
	"strings"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// typed are the names that a person has asked for, each by comma; "" = none.
type typed struct{ hook, tool, agent, event string }

// misspelt is an error where one of the names is none that hookd has heard of, but like
// one; nil where there is none. It is for an answer that is empty.
func (t typed) misspelt(ctx context.Context, c *client.Client) error {
	for _, hook := range wire.List(t.hook) {
		if err := misspeltHook(ctx, c, hook); err != nil {
			return err
		}
	}
	for _, event := range wire.List(t.event) {
		if near := meantEvent(event); near != "" {
			return fail(exitFailed, near+"see `hookd events`", "no agent has an event called %q", event)
		}
	}
	for _, of := range []struct{ kind, typed, by string }{{"tool", t.tool, "tool"}, {"agent", t.agent, "agent"}} {
		if of.typed == "" {
			continue
		}
		known := heardOf(ctx, c, of.by)
		for _, name := range wire.List(of.typed) {
			if near := meant(name, known); near != "" {
				return fail(exitFailed, near+"see `hookd stats --by "+of.by+"`", "hookd has not heard of %s %q", of.kind, name)
			}
		}
	}
	return nil
}

// misspeltHook is misspelt for a hook.
func misspeltHook(ctx context.Context, c *client.Client, hook string) error {
	_, err := c.Hook(ctx, hook)
	if refused := refusalIn(err); err != nil && refused != nil && !strings.HasPrefix(refused.Hint, "see ") {
		return err
	}
	return nil
}

// heardOf returns the tools or the agents that the contract knows, and those of the
// history.
func heardOf(ctx context.Context, c *client.Client, by string) []string {
	names := dialects()
	if by == "tool" {
		names = toolNames()
	}
	groups, _ := c.StatsBy(ctx, client.StatsQuery{By: by}) // without them, the contract's names are better than none
	for _, g := range groups {
		if g.Name != "" && !strings.HasPrefix(g.Name, "(") {
			names = append(names, g.Name)
		}
	}
	return names
}

// toolNames are those of the usual tools: canonical, and as agents call them.
func toolNames() (names []string) {
	for _, d := range events.Dialects() {
		for _, own := range dialect.OwnTools(d) {
			names = append(names, dialect.CanonicalTool(own), own)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// canonicalTools gives tools, by comma, the names that records have. A person may type
// the names that an agent gives them.
func canonicalTools(names string) string {
	list := wire.List(names)
	for i, name := range list {
		list[i] = dialect.CanonicalTool(name)
	}
	return strings.Join(list, ",")
}

// meant is "did you mean WORD? " for the word that text most likely stands for; "" where
// none is close, or text is one of them.
func meant(text string, words []string) string {
	near := spell.Near(text, words)
	if near == "" || slices.Contains(words, text) {
		return ""
	}
	return "did you mean " + near + "? "
}
