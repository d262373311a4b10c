package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
	"github.com/hookd/hookd/internal/people/card"
)

// houseRules is the hook that `hookd guard` writes rules into; its rules in the shadow stand
// in a hook of their own.
const houseRules = "house-rules"

// guard is one call of the command.
type guard struct {
	a                                           *app
	deny, ask, contain, allow, rewrite, instead string
	effect                                      []string // in place of a command
	shadow                                      bool
}

func guardCommand(a *app) *cobra.Command {
	g := guard{a: a}
	cmd := &cobra.Command{
		Use:   "guard [PATTERN --deny WHY]",
		Short: "List the rules of all guards, or write one",
		Long: `guard lists the rules of all hooks. With a command pattern and a decision it writes a rule,
and shows what that would have changed in the last week. A pattern also fits a longer command.

The list counts how often each rule decided in the last week, or in the newest 1,000 runs where
more came. A new rule stands in the hook house-rules, with two tests; ` + "`guard rm`" + ` takes it back.

In the pattern ` + "`*`" + ` is one word, at the end one or more. Options may stand anywhere, and a
branch fits as ` + "`main`, `+main`, `HEAD:main` and `refs/heads/main`" + `. A word that a line does
not write does not fit: ` + "`git push * main`" + ` is not ` + "`git push`" + ` on main, ` + "`--all`" + ` or
` + "`--mirror`" + `. Write a rule for each: ` + "`hookd guard 'git push --all' --deny …`" + `.`,
		Example: `  hookd guard 'git push * main' --deny 'main is protected'
  hookd guard
  hookd guard 'npm install' --rewrite 'npm ci'
  hookd guard --effect connect,send --ask 'it talks to the network'
  hookd guard 'terraform *' --ask 'it changes the cloud' --shadow`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fail(exitUsage, "quote it: hookd guard "+quote(strings.Join(args, " "))+" --deny WHY",
					"guard takes one PATTERN, %d are given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && g.effect == nil &&
				(g.shadow || g.deny+g.ask+g.contain+g.allow+g.rewrite+g.instead != ""):
				return fail(exitUsage, "hookd guard 'git push * main' --deny 'main is protected'",
					"the rule has no PATTERN of a command, and no --effect")
			case len(args) == 0 && g.effect == nil:
				return g.list(cmd)
			case len(args) == 1 && g.effect != nil:
				return fail(exitUsage, "hookd guard --effect connect,send --ask 'it talks to the network'",
					"write a command or --effect, not both")
			}
			return g.write(cmd, strings.Join(args, ""))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false // the most typed first
	flags.StringVar(&g.deny, "deny", "", "deny it, and why")
	flags.StringVar(&g.ask, "ask", "", "ask a person, and why")
	flags.StringVar(&g.allow, "allow", "", "allow it, and why")
	flags.StringVar(&g.contain, "contain", "", "run it in a box, and why")
	flags.StringVar(&g.rewrite, "rewrite", "", "run this command instead")
	flags.StringVar(&g.instead, "instead", "", "what the model is to do instead")
	flags.StringSliceVar(&g.effect, "effect", nil, "what a call does, in place of a command: connect, send, …")
	flags.BoolVar(&g.shadow, "shadow", false, "only record what the rule would decide")
	settingFlags(cmd, "hooks_dir")
	return withLimit(g.a, cmd)
}

// write adds a rule to the hook, and shows which calls it would have changed.
func (g *guard) write(cmd *cobra.Command, pattern string) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	rule, expect, err := g.rule(pattern)
	if err != nil {
		return err
	}
	name := houseRules
	if g.shadow {
		name += "-shadow"
	}
	dir := filepath.Join(cfg.HooksDir, name)
	file := filepath.Join(dir, hookdir.FileName)
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fail(exitFailed, "", "read %s: %w", file, err)
	}
	tests := []testOf{{"ls", "none"}}
	if g.effect == nil {
		tests = slices.Insert(tests, 0, testOf{strings.ReplaceAll(pattern, "*", "example"), expect})
	}
	next, err := withRule(text, name, g.shadow, rule, tests)
	if err != nil {
		return fail(exitRejected, "hookd edit "+name, "%s: %w", file, err)
	}
	if h, problems := hookdir.ReadText(dir, next, hookdir.Options{}); h == nil {
		return fail(exitRejected, "hookd edit "+name, "the rule does not fit into %s: %s", file, problems[0].Message)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(exitFailed, "", "make %s: %w", dir, err)
	}
	if err := replacefile.Write(file, next); err != nil {
		return fail(exitFailed, "", "write %s: %w", file, err)
	}
	fmt.Fprintf(g.a.errOut, "written: %s\n", file)
	if note := unwritten(pattern); note != "" {
		fmt.Fprintln(g.a.errOut, note)
	}
	return g.rehearse(cmd, cfg, name)
}

// unwritten says which pushes to the branch of a pattern do not write it; "" = the pattern is about no branch.
func unwritten(pattern string) string {
	words := strings.Fields(pattern)
	if len(words) < 4 || words[0] != "git" || words[1] != "push" || strings.Contains(words[len(words)-1], "*") {
		return ""
	}
	branch := words[len(words)-1]
	return fmt.Sprintf("It fits %s, +%s and HEAD:%s. It does not fit a push that does not name\nthe branch: "+
		"`git push` on %s, --all, --mirror. For those:\n  hookd guard 'git push --all' --deny WHY\n"+
		"  hookd guard 'git push --mirror' --deny WHY\n"+
		"and in HOOK.yaml: - deny: {command: git push, branch: %s}", branch, branch, branch, branch, branch)
}

// rehearse shows which calls the hook would have changed in the last week. Without a daemon there
// is no week to look at.
func (g *guard) rehearse(cmd *cobra.Command, cfg config.Config, name string) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), time.Second)
	defer cancel()
	if _, err := g.a.dial(cmd).Status(ctx); err != nil {
		g.a.printer(g.a.errOut).sentence(plain, "hookd does not run: once it does, `hookd guard what-if "+name+
			"` shows what the rule would have changed")
		return nil
	}
	w := whatIf{a: g.a, since: "7d", limit: 1000}
	return w.run(cmd, filepath.Join(cfg.HooksDir, name))
}

// rule makes a rule from the flags, and the decision that its test expects.
func (g *guard) rule(pattern string) (rule *yaml.Node, expect string, err error) {
	if _, err := facts.ParsePattern(pattern); err != nil && g.effect == nil {
		return nil, "", fail(exitUsage, "write a program and the words behind it, such as 'git push * main'",
			"bad pattern %q: %w", pattern, err)
	}
	var decision, why string
	given := 0
	for _, d := range []struct{ word, why, expect string }{
		{"deny", g.deny, "deny"}, {"ask", g.ask, "ask"}, {"contain", g.contain, "contain"}, {"allow", g.allow, "allow"},
		{"rewrite", g.rewrite, "rewrite"},
	} {
		if d.why != "" {
			decision, why, expect = d.word, d.why, d.expect
			given++
		}
	}
	if strings.HasPrefix(why, "-") {
		return nil, "", fail(exitUsage, "hookd guard '"+pattern+"' --"+decision+" WHY",
			"%s is a flag: --%s wants a text", why, decision)
	}
	if given != 1 {
		return nil, "", fail(exitUsage, "hookd guard '"+pattern+"' --deny 'why it is denied'",
			"write one of --deny, --ask, --contain, --allow and --rewrite")
	}
	if rule = mapping(decision, pattern); g.effect != nil {
		rule.Content[1] = mapping("effect", "")
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, kind := range g.effect {
			list.Content = append(list.Content, scalar(kind))
		}
		rule.Content[1].Style, rule.Content[1].Content[1] = yaml.FlowStyle, list
	}
	if decision == "rewrite" {
		add(rule, "to", why)
	} else {
		add(rule, "why", why)
	}
	if g.instead != "" {
		add(rule, "instead", g.instead)
	}
	return rule, expect, nil
}

// testOf is a line and the decision that its test expects.
type testOf struct{ line, expect string }

// withRule adds a rule and tests to the text of a HOOK.yaml; an empty text is a new hook.
// Comments and the order of the old lines stay.
func withRule(text []byte, name string, shadow bool, rule *yaml.Node, tests []testOf) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("name: " + name + "\ndescription: Rules of this machine, written by `hookd guard`.\n")
		if shadow {
			text = append(text, "shadow: true\n"...)
		}
	}
	doc, root, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	list := listUnder(root, "rules")
	if slices.ContainsFunc(list.Content, func(r *yaml.Node) bool { return same(r, rule) }) {
		return nil, errors.New("it has this rule already")
	}
	list.Content = append(list.Content, rule)
	checks := listUnder(root, "tests")
	for _, t := range tests {
		data := mapping("command", t.line)
		data.Style = yaml.FlowStyle
		test := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{scalar("data"), data}}
		add(test, "expect", t.expect)
		addOnce(checks, test)
	}
	return encodeYAML(doc)
}

func guardRmCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm RULE|HOOK",
		Short: "Take back a rule that `hookd guard` wrote, or delete a guard",
		Long: `rm takes a rule out of house-rules, with its test: RULE is the command pattern, or the rule
as hookd guard lists it. With the name of a hook or a pack it deletes that one. It asks on a
terminal and refuses without one unless --yes.`,
		Example: "  hookd guard rm 'git push * main'\n  hookd guard rm gallery/command-guard",
		Args:    one("RULE"),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			for _, name := range []string{houseRules, houseRules + "-shadow"} {
				found, err := removeRule(a, cmd, filepath.Join(cfg.HooksDir, name), args[0], yes)
				if found || err != nil {
					return err
				}
			}
			return removeHook(a, cmd, cfg, args[0], yes)
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// removeRule takes a rule out of the hook in dir, which `hookd guard` has written. found is false where that
// hook does not have the rule. With its last rule the hook goes.
func removeRule(a *app, cmd *cobra.Command, dir, rule string, yes bool) (found bool, err error) {
	hookName, file := filepath.Base(dir), filepath.Join(dir, hookdir.FileName)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fail(exitFailed, permissionsHint+file, "read %s: %w", file, err)
	}
	next, left, err := withoutRule(text, dir, rule)
	if err != nil || next == nil {
		return false, err
	}
	question := fmt.Sprintf("Take the rule %q out of %s?", rule, hookName)
	if err := a.confirm(yes, question, "hookd guard rm "+quote(rule)+" --yes"); err != nil {
		return true, err
	}
	if left == 0 {
		err = os.RemoveAll(dir)
	} else {
		err = replacefile.Write(file, next)
	}
	if err != nil {
		return true, fail(exitFailed, permissionsHint+dir, "%w", err)
	}
	did := removed{Hook: hookName, Rule: rule}
	if did.Reloaded, err = a.reloadDaemon(cmd); err != nil {
		return true, err
	}
	return true, a.print(did, func(p *printer) {
		p.linef("%s no longer has the rule %s; %s left", hookName, rule, card.Plural(left, "rule"))
	})
}

// withoutRule takes a rule and its tests out of the text of a HOOK.yaml: a nil text where it has no such
// rule. left is how many rules it still has.
func withoutRule(text []byte, dir, rule string) (next []byte, left int, err error) {
	h, problems := hookdir.ReadText(dir, text, hookdir.Options{})
	if h == nil {
		return nil, 0, fail(exitRejected, "hookd guard edit "+filepath.Base(dir), "%s", problems[0].Message)
	}
	doc, root, err := parseYAML(text)
	if err != nil {
		return nil, 0, err
	}
	list, checks := listUnder(root, "rules"), listUnder(root, "tests")
	if h.Rules == nil || len(list.Content) != len(h.Rules.Rules) {
		return nil, 0, nil
	}
	at := slices.IndexFunc(h.Rules.Rules, func(r *rules.Rule) bool {
		return r.Name == rule || r.Name == string(r.Action)+" "+rule
	})
	if at < 0 {
		return nil, 0, nil
	}
	pattern := strings.TrimPrefix(rule, string(h.Rules.Rules[at].Action)+" ")
	list.Content = slices.Delete(list.Content, at, at+1)
	line := scalar(strings.ReplaceAll(pattern, "*", "example"))
	checks.Content = slices.DeleteFunc(checks.Content, func(test *yaml.Node) bool {
		return len(test.Content) > 1 && slices.ContainsFunc(test.Content[1].Content, func(n *yaml.Node) bool {
			return same(n, line)
		})
	})
	next, err = encodeYAML(doc)
	return next, len(list.Content), err
}

// listedRule is a rule with how often it decided.
type listedRule struct {
	Hook     string `json:"hook"`
	Rule     string `json:"rule"`
	Decision string `json:"decision"`
	Fired    int    `json:"fired"`    // since guardList.Since
	Asked    int    `json:"asked"`    // of those
	Approved int    `json:"approved"` // of those, by a person or a grant
	Why      string `json:"why,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// guardList is the answer of `hookd guard` in JSON.
type guardList struct {
	Rules []listedRule `json:"rules"`
	Since time.Time    `json:"since"` // fired, asked and approved count from here on; zero = not known
}

// list prints the rules of all hooks.
func (g *guard) list(cmd *cobra.Command) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	snapshot := catalog.Scan(cfg)
	fired, since, unread := g.fired(cmd)
	all := []listedRule{}
	for _, e := range snapshot.Entries {
		if e.Hook == nil || e.Hook.Rules == nil {
			continue
		}
		for _, r := range e.Hook.Rules.Rules {
			l := listedRule{Hook: e.Hook.Name, Rule: r.Name, Decision: string(r.Action), Why: r.Why, File: r.File,
				Line: r.Line}
			if n := fired[[2]string{e.Hook.Name, r.Name}]; n != nil {
				l.Fired, l.Asked, l.Approved = n.Fired, n.Asked, n.Approved
			}
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b listedRule) int { // a person's own first
		return cmp.Compare(ofGallery(a), ofGallery(b))
	})
	all = upTo(all, g.a.limit)
	err = g.a.print(guardList{all, since}, func(p *printer) {
		printRules(p, all)
		if len(all) > 0 && unread == nil {
			p.line()
			p.linef("fired since %s", since.Local().Format("Jan 2 15:04"))
		}
	})
	if unread != nil && len(all) > 0 {
		g.a.printer(g.a.errOut).linef("hookd: how often they fired is not known: %v", unread)
	}
	return err
}

// ofGallery is 1 for a rule that stands in a hook as the gallery has it, and 0 for any other.
func ofGallery(l listedRule) int {
	if _, err := rules.GalleryText(path.Base(l.Hook)); err == nil && filepath.Base(l.File) == "HOOK.yaml" {
		return 1
	}
	return 0
}

// fired counts how often rules decided since a time: a week ago, or later where more runs than are counted came.
func (g *guard) fired(cmd *cobra.Command) (map[[2]string]*listedRule, time.Time, error) {
	counts := map[[2]string]*listedRule{}
	ctx, cancel := g.a.answer(cmd)
	defer cancel()
	c := g.a.dial(cmd)
	since := time.Now().Add(-7 * 24 * time.Hour)
	approved := map[string]bool{}
	decisions, err := c.Decisions(ctx, client.DecisionQuery{Since: since, Limit: mostCounted})
	if err != nil {
		return counts, time.Time{}, err
	}
	for _, d := range decisions {
		approved[d.EventID] = d.Answered != nil && d.Decision == client.OutcomeAllow
	}
	runs, err := c.Runs(ctx, client.RunQuery{Since: since, Limit: mostCounted})
	if err != nil {
		return counts, time.Time{}, err
	}
	if len(runs) == mostCounted {
		since = runs[len(runs)-1].Started
	}
	for _, r := range runs {
		if r.Rule == "" || r.Tried {
			continue
		}
		n := counts[[2]string{r.Hook, r.Rule}]
		if n == nil {
			n = &listedRule{}
			counts[[2]string{r.Hook, r.Rule}] = n
		}
		n.Fired++
		if r.Decision == client.OutcomeAsk {
			n.Asked++
			if approved[r.EventID] {
				n.Approved++
			}
		}
	}
	return counts, since, nil
}

// mostCounted is how many of the newest runs and decisions are counted.
const mostCounted = 1000

func printRules(p *printer, all []listedRule) {
	if len(all) == 0 {
		p.sentence(plain, "no hook has rules; write one: `hookd guard 'git push * main' --deny 'main is protected'`")
		return
	}
	var rows [][]cell
	for _, r := range all {
		c := plain
		switch rules.Action(r.Decision) {
		case rules.Deny:
			c = red
		case rules.Ask, rules.Contain:
			c = yellow
		}
		rows = append(rows, []cell{
			text(r.Hook), {r.Decision, c}, text(r.Rule),
			textf("%d", r.Fired), textf("%d", r.Asked), textf("%d", r.Approved),
			text(r.Why),
		})
	}
	p.table(append(fixed("HOOK", "DECISION"), column{title: "RULE", yield: 1}, column{title: "FIRED"},
		column{title: "ASKED"}, column{title: "YES"},
		column{title: "WHY", yield: 2}), rows)
}
