package hookfiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
	"github.com/hookd/hookd/wire"
)

// Limits of the history that one look at a guard reads and shows.
const (
	mostDecisions = 20_000
	mostFailures  = 1_000 // of each kind
	mostGroups    = 40
	mostCommands  = 12 // of a group
)

// Guard has a guard's decisions of a time, grouped. It has no counts of runs: the socket has these.
type Guard struct {
	Since  time.Time `json:"since"`
	Asked  []Asked   `json:"asked"`  // the oldest first
	Groups []*Group  `json:"groups"` // the largest first
	Whole  bool      `json:"whole"`  // each decision of that time is counted
	Rules  int       `json:"rules"`
	Never  []Rule    `json:"never"`           // rules that decided nothing in that time
	Layer  string    `json:"layer,omitempty"` // in words: yours, of a pack, of the policy
	Edits  bool      `json:"edits"`           // its files can be edited on the page
}

// Asked counts the questions of an hour, or of a day, in UTC.
type Asked struct {
	Start string `json:"start"` // as wire.GroupStats.Name
	Asked int    `json:"asked"`
	Yes   int    `json:"yes"`
}

// Rule is a rule and its place.
type Rule struct {
	Name  string `json:"name,omitempty"`
	Where string `json:"where,omitempty"` // file and line
}

// Group has the answers of a guard with one reason.
type Group struct {
	Said     string    `json:"said"` // deny, ask, would deny, would ask or failed
	Reason   string    `json:"reason"`
	Rule     Rule      `json:"rule,omitzero"` // zero = it has no rules, or that one is gone
	Count    int       `json:"count"`
	Yes      int       `json:"yes"` // answers of persons and grants
	No       int       `json:"no"`
	Last     time.Time `json:"last"`
	Who      []Named   `json:"who"`      // the most frequent first
	Commands []Command `json:"commands"` // the most frequent first
	More     int       `json:"more"`     // commands that are not listed

	commands map[[2]string]*Command
	who      map[string]int
}

// Named counts something that has a name.
type Named struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Command is a call that was made at least once.
type Command struct {
	Tool    string    `json:"tool"`
	Subject string    `json:"subject"`
	Count   int       `json:"count"`
	Last    time.Time `json:"last"`
	Call    string    `json:"call"`          // id of the newest
	Run     string    `json:"run,omitempty"` // of a failure
}

// Guard groups what a hook said in a time by reason and by command. A zero until is now; by is hour or day.
func (f Files) Guard(ctx context.Context, name string, since, until time.Time, by string) (any, error) {
	cfg, err := f.Load()
	if err != nil {
		return nil, err
	}
	g := &Guard{Since: since, Groups: []*Group{}, Asked: []Asked{}, Never: []Rule{}}
	groups := groupings{name: name, by: by, groups: map[[2]string]*Group{}, asked: map[string]*Asked{}}
	decisions, err := f.Client.Decisions(ctx, client.DecisionQuery{
		Hook: name, Since: since, Until: until, Limit: mostDecisions,
	})
	if err != nil && !errors.Is(err, client.ErrRecent) {
		return nil, err
	}
	g.Whole = err == nil && len(decisions) < mostDecisions
	failures := map[string]bool{} // events: the decisions about them say the same once more
	for _, result := range []client.Result{client.ResultFailed, client.ResultTimeout, client.ResultSpawnError} {
		q := client.RunQuery{Hook: name, Result: result, Since: since, Until: until, Limit: mostFailures}
		runs, err := f.Client.Runs(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range runs {
			groups.failed(&runs[i])
			failures[runs[i].EventID] = true
		}
	}
	for i := range decisions {
		if !failures[decisions[i].EventID] {
			groups.decided(&decisions[i])
		}
	}
	fired := map[string]bool{}
	g.Groups, g.Asked = groups.sorted(), groups.times()
	h, _ := catalog.Named(cfg, name) // a hook that is gone has a history still
	for _, group := range g.Groups {
		rule, err := f.ruleOf(ctx, group, name)
		if err != nil {
			return nil, err
		}
		fired[rule] = rule != ""
		group.Rule = placeOf(h, rule)
	}
	g.describe(h, fired)
	return g, nil
}

// describe adds the texts of h's files; nil = they are gone. fired are the rules that decided.
func (g *Guard) describe(h *hook.Hook, fired map[string]bool) {
	if h == nil {
		return
	}
	g.Layer = h.Layer.Text()
	g.Edits = h.Layer == hook.LayerUser && h.Source.Type == hookdir.SourceType
	if h.Rules == nil {
		return
	}
	g.Rules = len(h.Rules.Rules)
	if !g.Whole || len(g.Groups) == mostGroups {
		return // a rule that is not seen here may have decided
	}
	for _, r := range h.Rules.Rules {
		if !fired[r.Name] && len(g.Never) < mostCommands {
			g.Never = append(g.Never, placeOf(h, r.Name))
		}
	}
}

// ruleOf returns the name of the rule that a group is of, as its newest run has it.
func (f Files) ruleOf(ctx context.Context, g *Group, hook string) (string, error) {
	if g.Said == "failed" || len(g.Commands) == 0 {
		return "", nil
	}
	runs, err := f.Client.Runs(ctx, client.RunQuery{EventID: g.Commands[0].Call, Limit: 100})
	for _, r := range runs {
		if r.Hook == hook && r.Rule != "" {
			return r.Rule, err
		}
	}
	return "", err
}

func placeOf(h *hook.Hook, name string) Rule {
	r := Rule{Name: name}
	if h != nil && h.Rules != nil && name != "" {
		if of := h.Rules.Rule(name); of != nil {
			r.Where = fmt.Sprintf("%s:%d", filepath.Base(of.File), of.Line)
		}
	}
	return r
}

// groupings collects what a hook said.
type groupings struct {
	name, by string
	groups   map[[2]string]*Group // by what was said, and the kind of its reason
	asked    map[string]*Asked
}

// decided adds a decision that the hook made, or would have made.
func (gs groupings) decided(d *wire.Decision) {
	if d.Tried {
		return
	}
	for _, s := range d.Shadow {
		if s.Hook == gs.name && (s.Decision == wire.OutcomeDeny || s.Decision == wire.OutcomeAsk) {
			gs.add("would "+string(s.Decision), s.Reason, d)
		}
	}
	if !slices.Contains(d.DecidedBy, gs.name) {
		return
	}
	said := string(d.Decision)
	if d.Answered != nil && d.Answered.By != "permit" {
		said = string(wire.OutcomeAsk)
	} else if word := d.Word(); word == wire.OutcomeDisobeyed {
		said = string(wire.OutcomeDeny)
	} else if d.Decision == wire.OutcomeNone {
		said = string(word)
	}
	g := gs.add(said, d.Reason, d)
	if said != string(wire.OutcomeAsk) {
		return
	}
	at := gs.at(d.Time)
	at.Asked++
	if d.Answered == nil {
		return
	}
	switch d.Answered.Answer {
	case wire.OutcomeAllow:
		g.Yes++
		at.Yes++
	case wire.OutcomeDeny:
		g.No++
	}
}

// at counts the questions of the hour or the day of a time.
func (gs groupings) at(t time.Time) *Asked {
	start := t.UTC().Format(time.DateOnly)
	if gs.by == "hour" {
		start = t.UTC().Truncate(time.Hour).Format(time.RFC3339)
	}
	if gs.asked[start] == nil {
		gs.asked[start] = &Asked{Start: start}
	}
	return gs.asked[start]
}

func (gs groupings) add(said, reason string, d *wire.Decision) *Group {
	c := Command{Tool: d.Tool, Subject: d.Subject, Last: d.Time, Call: d.EventID}
	return gs.one(said, ownReason(reason, gs.name), cmp.Or(d.AgentName, string(d.Dialect)), c)
}

func (gs groupings) failed(r *wire.Run) {
	c := Command{Tool: r.Tool, Subject: r.Subject, Last: r.Started, Call: r.EventID, Run: r.ID}
	gs.one("failed", cmp.Or(r.Cause, r.Error), cmp.Or(r.AgentName, string(r.Dialect)), c)
}

// one counts one call. The newest are added first.
func (gs groupings) one(said, reason, who string, c Command) *Group {
	key := [2]string{said, shapeOf(reason)}
	g := gs.groups[key]
	if g == nil {
		g = &Group{
			Said: said, Reason: reason, Last: c.Last, Commands: []Command{},
			commands: map[[2]string]*Command{}, who: map[string]int{},
		}
		gs.groups[key] = g
	}
	g.Count++
	g.who[who]++
	of := [2]string{c.Tool, c.Subject}
	if g.commands[of] == nil {
		g.commands[of] = &c
	}
	g.commands[of].Count++
	return g
}

// sorted returns the largest groups, each with its most frequent commands.
func (gs groupings) sorted() []*Group {
	all := []*Group{}
	for _, g := range gs.groups {
		for name, n := range g.who {
			g.Who = append(g.Who, Named{name, n})
		}
		slices.SortFunc(g.Who, func(a, b Named) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Name, b.Name)) })
		for _, c := range g.commands {
			g.Commands = append(g.Commands, *c)
		}
		slices.SortFunc(g.Commands, func(a, b Command) int { return cmp.Or(b.Count-a.Count, b.Last.Compare(a.Last)) })
		g.More = max(0, len(g.Commands)-mostCommands)
		g.Commands = g.Commands[:min(len(g.Commands), mostCommands)]
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *Group) int { return cmp.Or(b.Count-a.Count, b.Last.Compare(a.Last)) })
	return all[:min(len(all), mostGroups)]
}

func (gs groupings) times() []Asked {
	all := []Asked{}
	for _, a := range gs.asked {
		all = append(all, *a)
	}
	slices.SortFunc(all, func(a, b Asked) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

// ownReason is the first line that the hook itself gave as a reason. Of rules it is without the call that it repeats:
// the same rule is one reason, whatever the command.
func ownReason(reason, hook string) string {
	short := hook[strings.LastIndex(hook, "/")+1:]
	own, _, _ := strings.Cut(reason, "\n")
	for l := range strings.Lines(reason) {
		for _, name := range []string{hook, short} {
			if after, is := strings.CutPrefix(l, name+": "); is {
				own = after
			}
		}
	}
	return strings.TrimSpace(ofRule.ReplaceAllString(own, "$1)"))
}

// ofRule is the end of a reason that a rule gave, from the rule's name on.
var ofRule = lazyregexp.New(`( \(rule .*?)(?:: |\)(?:\. |$)).*`)

// varies are the parts of a reason that differ from call to call: numbers, paths, quoted text.
var varies = lazyregexp.New("\\d+|\"[^\"]*\"|'[^']*'|`[^`]*`|\\S*[/~]\\S*")

// shapeOf is equal for reasons that say the same about other calls.
func shapeOf(reason string) string { return varies.ReplaceAllString(reason, "*") }
