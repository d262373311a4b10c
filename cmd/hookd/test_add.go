package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// addedTest is the answer of `hookd guard test CALL` with the flag --expect.
type addedTest struct {
	Hook   string `json:"hook"`
	File   string `json:"file"`
	Call   string `json:"call"`
	Expect string `json:"expect"`
	Was    string `json:"was"` // what was decided about the call

	redacted bool // secrets were taken out of the call
}

// addTest writes a call of the history as a test into the file of the guard that decided.
func addTest(a *app, cmd *cobra.Command, id, expect string) error {
	return show(a, cmd, func(ctx context.Context, _ *client.Client) (addedTest, error) {
		return makeTest(ctx, a, cmd, id, expect)
	}, func(p *printer, done addedTest) {
		p.linef("%s has this call as a test now: it expects %s, and %s was decided.", done.Hook, expect, done.Was)
		if done.redacted {
			p.line(p.paint(yellow, "note:"), " secrets were taken out of the call: look at the test")
		}
		p.linef("It is in %s. Mend the rule until it passes:", tilde(done.File))
		p.linef("  hookd hook edit %s", quote(done.Hook))
		p.linef("  hookd guard test %s", quote(done.Hook))
	})
}

// makeTest is addTest without words for people.
func makeTest(ctx context.Context, a *app, cmd *cobra.Command, id, expect string) (done addedTest, err error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return done, err
	}
	e, err := a.dial(cmd).Event(ctx, id)
	switch {
	case err != nil:
		return done, err
	case e.Decision == nil || len(e.Decision.DecidedBy) == 0:
		return done, fail(exitFailed, "see the calls that were: `hookd log`", "no guard decided about %s", e.EventID)
	case !e.Whole:
		return done, fail(exitFailed, "write the test by hand with `hookd hook edit "+quote(e.Decision.DecidedBy[0])+"`",
			"the history has not all of call %s", e.EventID)
	}
	h, err := guardFile(cfg, e.Decision.DecidedBy)
	if err != nil {
		return done, err
	}
	test, err := testFor(e, expect)
	if err != nil {
		return done, fail(exitFailed, "write the test by hand with `hookd hook edit "+quote(h.Name)+"`", "%w", err)
	}
	if err := addTestTo(h, test); err != nil {
		return done, fail(exitRejected, "hookd hook edit "+quote(h.Name), "%s: %w", h.File, err)
	}
	done = addedTest{h.Name, h.File, e.EventID, expect, string(e.Decision.Decision), e.Redacted}
	_, err = a.reloadDaemon(cmd)
	return done, err
}

// guardFile returns the first of the hooks whose file is the user's own.
func guardFile(cfg config.Config, names []string) (*hook.Hook, error) {
	var last hook.Entry
	for _, name := range names {
		e, _ := entryOf(cfg, name) // a hook that is gone decides nothing
		if e.Hook != nil && e.Hook.Layer == hook.LayerUser && e.Source.Type == hookdir.SourceType {
			return e.Hook, nil
		}
		if e.Hook != nil {
			last = e
		}
	}
	if last.Hook == nil {
		return nil, fail(exitFailed, "see the hooks with `hookd hook`", "hook %s is not there now", cmp.Or(names...))
	}
	return nil, fail(exitFailed, "write rules of your own with `hookd guard`", "hook %s is not yours alone: it is of a %s",
		last.Name, last.Hook.Layer.Text())
}

// testFor is a call as a test.
func testFor(e client.StoredEvent, expect string) (*yaml.Node, error) {
	env := events.Received(e.Envelope)
	event := events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event)}
	data := json.RawMessage(dialect.Call(&event).Given)
	if len(data) == 0 {
		data = env.Data
	}
	var args yaml.Node
	if err := yaml.Unmarshal(data, &args); err != nil || len(args.Content) != 1 { // JSON is YAML
		return nil, fmt.Errorf("the arguments of the call cannot be written: %w", err)
	}
	test := mapping("name", "call "+ending(e.EventID)+" of "+e.Time.Local().Format("2 Jan 2006"), "event", e.Event)
	for _, pair := range [][2]string{{"tool", e.Tool}, {"dialect", string(e.Dialect)}, {"cwd", e.Cwd}} {
		if pair[1] != "" {
			add(test, pair[0], pair[1])
		}
	}
	test.Content = append(test.Content, scalar("data"), args.Content[0])
	add(test, "expect", expect)
	return test, nil
}

// addTestTo adds a test to the file of a hook, which must be readable with it.
func addTestTo(h *hook.Hook, test *yaml.Node) error {
	text, err := os.ReadFile(h.File)
	if err != nil {
		return err
	}
	doc, root, err := parseYAML(text)
	if err != nil {
		return err
	}
	checks := listUnder(root, "tests")
	if slices.ContainsFunc(checks.Content, func(have *yaml.Node) bool { return same(have, test) }) {
		return fmt.Errorf("it has this call as a test already")
	}
	checks.Content = append(checks.Content, test)
	next, err := encodeYAML(doc)
	if err != nil {
		return err
	}
	if read, problems := hookdir.ReadText(h.Dir, next, hookdir.Options{}); read == nil {
		return fmt.Errorf("the test does not fit: %s", problems[0].Message)
	}
	return replacefile.Write(h.File, next)
}
