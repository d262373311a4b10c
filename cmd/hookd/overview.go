package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/agents/roster"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/doctor"
	"github.com/hookd/hookd/internal/people/story"
	"github.com/hookd/hookd/wire"
)

// overview is the answer of `hookd` alone: how a person is guarded.
type overview struct {
	Guarded    bool               `json:"guarded"` // every agent here is, and no denial was disobeyed
	Daemon     string             `json:"daemon"`  // running, or why it does not
	Agents     []agentHere        `json:"agents"`
	Waiting    []client.Ask       `json:"waiting"`
	Disobeyed  []client.Decision  `json:"disobeyed"` // of today
	NotAsked   []client.Unguarded `json:"not_asked"` // what agents ran unasked in the last 24 hours
	Troubles   []string           `json:"troubles"`  // of the daemon itself
	Unread     bool               `json:"unread"`    // hookd.yaml has changed since the daemon read it
	Restart    map[string]string  `json:"restart"`   // settings whose change waits for it, with the values in force
	Wrong      []wrongHook        `json:"wrong"`
	Snoozed    []client.Snoozed   `json:"snoozed"`
	Permits    []client.Grant     `json:"permits"`
	Calls      int64              `json:"calls"`    // of today
	Others     int64              `json:"others"`   // of today, decided about prompts, ends of turns and so on
	Outcomes   map[string]int64   `json:"outcomes"` // of today, by their words
	Denied     []client.Decision  `json:"denied"`   // the last ones of today
	Guards     int                `json:"guards"`   // that are in force
	Shadows    int                `json:"shadows"`
	P50MS      float64            `json:"p50_ms"` // of what agents waited for guards today
	P99MS      float64            `json:"p99_ms"`
	Next       []story.Step       `json:"next"`
	At         time.Time          `json:"time"`
	restart    string             // the command
	status     *client.DaemonInfo // nil = no daemon answers
	unreadable error
}

// agentHere is an agent that is on this machine.
type agentHere struct {
	Agent     string `json:"agent"`
	State     string `json:"state"`
	Connected bool   `json:"connected"`
	Unasked   string `json:"unasked,omitempty"` // why guards are not asked about each call all the same; "" = they are
	do        string // the command that mends it
	By        string `json:"by"` // the program or folder that shows that it is here
}

// wrongHook is a hook that does not work as it should.
type wrongHook struct {
	Hook   string `json:"hook"`
	State  string `json:"state"`
	What   string `json:"what"`
	Denies bool   `json:"denies"` // the calls that it guards are denied meanwhile
	folder string // where another hook has the name, which the name alone does not tell apart; else ""
}

// lookTime bounds the questions of one picture.
const lookTime = 5 * time.Second

// showOverview prints the guarded agents and the things that need a look: on a terminal as a living screen.
func showOverview(a *app, cmd *cobra.Command) error {
	o := lookAround(a, cmd)
	if a.format != "json" && isTerminal(a.out) && isTerminal(a.in) && o.status != nil {
		var err error
		if o, err = liveOverview(a, cmd, o); err != nil {
			return err
		}
	}
	if err := a.print(o, func(p *printer) { printOverview(p, o) }); err != nil {
		return err
	}
	if !o.Guarded { // no daemon, and an agent that no daemon guards, are the same to a script
		return said(exitNotRunning)
	}
	return nil
}

// lookAround reads all that the overview says.
func lookAround(a *app, cmd *cobra.Command) *overview {
	ctx, cancel := context.WithTimeout(cmd.Context(), min(a.patience, lookTime))
	defer cancel()
	o := &overview{
		Agents: agentsHere(cmd), Waiting: []client.Ask{}, Disobeyed: []client.Decision{},
		NotAsked: []client.Unguarded{}, Troubles: []string{}, Wrong: []wrongHook{},
		Snoozed: []client.Snoozed{}, Permits: []client.Grant{}, Denied: []client.Decision{},
		Outcomes: map[string]int64{}, At: time.Now(),
		restart: config.Config{System: ofSystem(cmd)}.Restart(),
	}
	o.unreadable = o.ask(ctx, a.dial(cmd))
	o.Daemon = "running"
	if o.unreadable != nil {
		o.Daemon = o.unreadable.Error()
	}
	if cfg, err := loadConfig(cmd); err == nil && o.status != nil {
		o.Unread = doctor.Unread(cfg, *o.status)
	}
	o.Guarded = o.status != nil && o.Guards > 0 && len(o.Disobeyed) == 0 && len(o.unguarded()) == 0
	o.Next = o.next()
	return o
}

// agentsHere returns the agents on this machine, and whether each calls hookd.
func agentsHere(cmd *cobra.Command) []agentHere {
	var faults []roster.Fault
	if cfg, err := loadConfig(cmd); err == nil {
		faults, _ = new(roster.Looker).Look(cfg.Home) // the settings that are read below say most of that, too
	}
	list := []agentHere{}
	for _, found := range connect.FindAgents(connect.Options{}) {
		s := connect.Inspect(connectFlags{}.options(cmd, found.Agent))
		here := agentHere{
			Agent: found.Agent, State: string(s.State), By: found.By, Unasked: s.Unasked(),
			Connected: s.State == connect.Connected || s.State == connect.Partly,
			do:        "hookd agent connect " + found.Agent,
		}
		if s.State == connect.Connected && here.Unasked != "" { // it is told to run no hooks
			here.do = "hookd doctor " + found.Agent
		}
		for _, f := range faults {
			own := f.Project == "" && f.File == "" && !f.Managed
			if own && f.Agent == found.Agent && here.Connected && here.Unasked == "" {
				here.Unasked = f.Why
			}
		}
		list = append(list, here)
	}
	return list
}

// ask reads the facts that the daemon knows.
func (o *overview) ask(ctx context.Context, c *client.Client) error {
	st, err := c.Status(ctx)
	if err != nil {
		return err
	}
	o.status = &st
	o.Snoozed = append(o.Snoozed, st.Snoozed...)
	o.Permits = append(o.Permits, st.Permits...)
	o.Restart = st.Restart
	o.NotAsked = append(o.NotAsked, st.Unguarded...)
	asks, err := c.Asks(ctx)
	if err != nil {
		return err
	}
	o.Waiting = append(o.Waiting, asks.Asks...)
	hooks, err := c.Hooks(ctx)
	if err != nil {
		return err
	}
	ofHook := func(pr client.Problem) bool {
		return slices.ContainsFunc(hooks.Hooks, func(h client.Hook) bool { return slices.Contains(h.Problems, pr) })
	}
	o.Troubles = append(o.Troubles, troubles(st.Store, slices.DeleteFunc(st.Problems, ofHook))...)
	o.look(hooks.Hooks)
	return o.today(ctx, c)
}

// troubles returns the faults of the daemon itself: of its history, and the problems of its settings and sources.
func troubles(history client.Storage, problems []client.Problem) (list []string) {
	if !history.OK {
		list = append(list, "no history is kept, observers are refused: "+history.Error)
	}
	if lost := lossLine(history.Losses); lost != "" {
		list = append(list, lost)
	}
	for _, pr := range problems {
		if !pr.Warning {
			pr.Message = strings.TrimPrefix(pr.Message, pr.File+": ")
			list = append(list, strings.TrimPrefix(problemText(pr), filepath.Dir(pr.File)+"/"))
		}
	}
	return list
}

// look counts guards, and finds hooks that do not work.
func (o *overview) look(hooks []client.Hook) {
	for _, h := range hooks {
		inForce := h.State == "active" || h.State == "degraded"
		broken := h.NoStart && inForce
		switch {
		case h.State == "disabled":
			continue
		case h.Shadow && inForce:
			o.Shadows++
		case h.Decides && inForce && !broken:
			o.Guards++
		}
		w := wrongHook{Hook: h.Name, State: h.State}
		r := h.LastRun
		failed := r != nil && !r.Tried && r.Result != client.ResultInterrupted && slices.Contains(failures, r.Result)
		w.Denies = h.Failure == wire.FailureDenies && (failed || broken || h.State == "refused" || h.State == "gone")
		if h.State == "active" && !broken {
			if failed {
				w.What = "its last run failed: " + cmp.Or(r.Error, string(r.Result))
				o.Wrong = append(o.Wrong, w)
			}
			continue
		}
		if slices.ContainsFunc(hooks, func(o client.Hook) bool { return o.Name == h.Name && o.File != h.File }) {
			w.folder = filepath.Dir(h.File)
		}
		for _, pr := range h.Problems {
			if w.What == "" || !pr.Warning {
				w.What = pr.Message
			}
		}
		if broken && h.Failure == wire.FailurePasses {
			w.What += "; it guards nothing"
		}
		o.Wrong = append(o.Wrong, w)
	}
}

// countAll counts the decisions that fit, in as many parts as the history is read: about calls, about all other
// events, and by their words.
func countAll(
	ctx context.Context, c *client.Client, q client.DecisionQuery,
) (calls, others int64, by map[string]int64, err error) {
	by = map[string]int64{}
	for {
		counts, err := c.Counts(ctx, client.CountQuery{DecisionQuery: q})
		if err != nil {
			return 0, 0, nil, err
		}
		others += counts.Total
		for _, n := range counts.Tools { // only a call has a tool
			calls, others = calls+n.Count, others-n.Count
		}
		for _, n := range counts.Decisions {
			by[n.Name] += n.Count
		}
		if counts.Next == 0 {
			return calls, others, by, nil
		}
		q.Before = counts.Next
	}
}

// countWords says how many decisions were denied or asked about, and how many stand out in another way.
func countWords(by map[string]int64) (list []string) {
	for _, part := range []struct{ outcome, word string }{
		{"deny", "denied"}, {"ask", "asked"}, {"contain", "contained"}, {"rewrite", "rewritten"},
		{"disobeyed", "disobeyed"}, {"not asked", "not asked"},
	} {
		if n := by[part.outcome]; n > 0 || part.outcome == "deny" || part.outcome == "ask" {
			list = append(list, card.Thousands(int(n))+" "+part.word)
		}
	}
	return list
}

// today counts the calls of today.
func (o *overview) today(ctx context.Context, c *client.Client) error {
	since := time.Date(o.At.Year(), o.At.Month(), o.At.Day(), 0, 0, 0, 0, o.At.Location())
	var err error
	if o.Calls, o.Others, o.Outcomes, err = countAll(ctx, c, client.DecisionQuery{Since: since}); err != nil {
		return err
	}
	disobeyed, err := c.Decisions(ctx, client.DecisionQuery{
		Decision: string(client.OutcomeDisobeyed), Since: since, Limit: 5,
	})
	if err != nil {
		return err
	}
	o.Disobeyed = append(o.Disobeyed, disobeyed...)
	denied, err := c.Decisions(ctx, client.DecisionQuery{Decision: string(client.OutcomeDeny), Since: since, Limit: 20})
	if err != nil {
		return err
	}
	for _, d := range denied {
		if !d.Tried {
			o.Denied = append(o.Denied, d)
		}
	}
	stats, err := c.Stats(ctx, client.StatsQuery{Since: since})
	if err != nil {
		return err
	}
	for _, s := range stats {
		if s.WaitedMS > 0 {
			o.P50MS, o.P99MS = max(o.P50MS, s.P50MS), max(o.P99MS, s.P99MS)
		}
	}
	return nil
}

// unguarded are the agents here that do not call hookd about each call.
func (o *overview) unguarded() (list []agentHere) {
	for _, agent := range o.Agents {
		if !agent.Connected || agent.Unasked != "" {
			list = append(list, agent)
		}
	}
	return list
}

// next returns the commands to type next, the most urgent first.
func (o *overview) next() (list []story.Step) {
	add := func(command, what string) {
		if len(list) < 4 {
			list = append(list, story.Step{For: "next", Command: command, Note: what})
		}
	}
	switch {
	case o.status == nil && errors.Is(o.unreadable, client.ErrNotRunning):
		add("hookd init", "set hookd up, or start it again")
		return list
	case o.status == nil:
		add("hookd daemon doctor", "see why hookd does not answer")
		return list
	}
	if len(o.Waiting) > 0 {
		add("hookd ask", "answer "+cmp.Or(o.Waiting[0].Agent, "the agent"))
	}
	for _, d := range o.Disobeyed {
		add("hookd why "+ending(d.EventID), "see what ran all the same")
	}
	if len(o.Troubles) > 0 {
		add("hookd status", "see what is wrong with hookd")
	}
	if o.Unread {
		add("hookd reload", "put hookd.yaml into force")
	}
	if len(o.Restart) > 0 {
		add(o.restart, "put changed settings into force")
	}
	for _, w := range o.Wrong {
		if w.State == "waiting" {
			add("hookd hook allow "+quote(w.Hook), "look at it, and put it into force")
			continue
		}
		if w.folder != "" {
			add("hookd validate "+quote(w.folder), "see what is wrong with it")
			continue
		}
		add("hookd hook show "+quote(w.Hook), "see what is wrong with it")
	}
	switch {
	case o.Guards > 0 || len(o.Snoozed) == 0:
	case len(o.Snoozed) == 1:
		add("hookd snooze "+quote(o.Snoozed[0].Hook)+" --end", "switch it on again: no guard is on")
	default:
		add("hookd snooze --all --end", "switch them on again: no guard is on")
	}
	if o.Guards == 0 && len(o.Snoozed) == 0 {
		add("hookd hook add gallery/command-guard", "the first guard: no guard is on")
	}
	for _, agent := range o.unguarded() {
		add(agent.do, "guard it")
	}
	told := func(d client.Decision) bool { return len(o.Denied) > 0 && d.EventID == o.Denied[0].EventID }
	if len(o.Denied) > 0 && len(list) < 3 && !slices.ContainsFunc(o.Disobeyed, told) {
		add("hookd why", "the last denial as a story")
	}
	if len(list) == 0 && o.Calls == 0 {
		add("hookd guard 'git push * main' --deny 'open a pull request'", "your own rule")
	}
	return list
}

// printOverview prints how a person is, in 80 columns.
func printOverview(p *printer, o *overview) {
	printGuarded(p, o)
	p.line()
	printAttention(p, o)
	if o.status == nil {
		word, why := "does not answer", o.Daemon
		if errors.Is(o.unreadable, client.ErrNotRunning) {
			word, why = "is not running", strings.TrimPrefix(why, "hookd is not running ")
		}
		const indent = 2 + 10 + 1
		p.hung(indent, fmt.Sprintf("  %-10s %s  ", "hookd", word), escape(why, keepNothing))
		p.line()
		p.nextSteps(o.Next)
		return
	}
	counted := card.Plural(int(o.Calls), "call")
	if o.Others > 0 {
		counted += " and " + card.Plural(int(o.Others), "other event") // the rest of the line counts both
	}
	words := append([]string{counted}, countWords(o.Outcomes)...)
	p.fact("today", strings.Join(words, "   "), "")
	guards := fmt.Sprintf("%d on", o.Guards)
	if o.Shadows > 0 {
		guards += fmt.Sprintf(", %d in shadow", o.Shadows)
	}
	if o.P50MS > 0 {
		guards += fmt.Sprintf(" · at most p50 %s, p99 %s a call", millis(o.P50MS), millis(o.P99MS))
	}
	p.fact("guards", guards, "")
	p.line()
	p.nextSteps(o.Next)
}

// printGuarded says which agents here are guarded.
func printGuarded(p *printer, o *overview) {
	var on, off, wild []string
	for _, agent := range o.Agents {
		name := agent.Agent
		if agent.State == string(connect.Partly) {
			name += " (partly)"
		}
		of := func(d client.Decision) bool { return string(d.Dialect) == agent.Agent }
		switch {
		case !agent.Connected || agent.Unasked != "" || o.status == nil || o.Guards == 0:
			off = append(off, name)
		case slices.ContainsFunc(o.Disobeyed, of):
			wild = append(wild, name)
		default:
			on = append(on, name)
		}
	}
	var parts []string
	if len(on) > 0 {
		parts = append(parts, p.paint(green, "Guarded")+": "+strings.Join(on, ", ")+".")
	}
	if len(wild) > 0 {
		parts = append(parts, p.paint(red, "Does not obey")+": "+strings.Join(wild, ", ")+".")
	}
	if len(off) > 0 {
		parts = append(parts, p.paint(red, "Not guarded")+": "+strings.Join(off, ", ")+".")
	}
	if len(o.Agents) == 0 {
		parts = append(parts, "No agent is found on this machine.")
	}
	p.line(fillLines(strings.Join(parts, "  "), cmp.Or(p.width, pipeWidth)))
}

// printAttention prints the facts that need a look.
func printAttention(p *printer, o *overview) {
	before := p.written
	for _, agent := range o.Agents {
		if agent.Connected && agent.Unasked != "" {
			p.paintedFact(red, "unguarded", agent.Agent, tilde(agent.Unasked))
		}
	}
	for _, ask := range o.Waiting {
		p.fact("waiting", "1 ask", fmt.Sprintf("%s in %s: %s   %s", ask.Agent, tilde(ask.Cwd), ask.Subject, left(ask)))
	}
	for _, d := range o.Disobeyed {
		p.paintedFact(red, "disobeyed", ending(d.EventID), fmt.Sprintf("%s ran %s",
			agentName(d.AgentName, d.AgentID, d.Dialect, d.Tried), d.Subject))
	}
	for _, u := range o.NotAsked {
		if u.NotAsked > 0 {
			what := "by " + string(u.Agent) + " in the last 24 hours"
			p.paintedFact(yellow, "not asked", card.Plural(int(u.NotAsked), "call"), what)
		}
	}
	for _, what := range o.Troubles {
		p.paintedFact(red, "failing", "hookd", what)
	}
	if o.Unread {
		p.paintedFact(yellow, "changed", "settings", "hookd has not read hookd.yaml since")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Restart)) {
		p.paintedFact(yellow, "changed", name, "hookd runs with "+cmp.Or(o.Restart[name], "none")+" until a restart")
	}
	for _, w := range o.Wrong {
		what := w.What
		if w.Denies {
			const denied, before = "; calls denied", 24 // columns: the reason is cut
			what = cut(what, cmp.Or(p.width, pipeWidth)-before-len(denied), false) + denied
		}
		p.paintedFact(red, map[bool]string{true: "waiting", false: "failing"}[w.State == "waiting"], w.Hook, what)
	}
	for _, s := range o.Snoozed {
		who, _, _ := strings.Cut(s.By, " ")
		p.paintedFact(yellow, "off", s.Hook, fmt.Sprintf("until %s (%s)", clockTime(s.Until), who))
	}
	for _, g := range o.Permits {
		what := fmt.Sprintf("by %s until %s: %s", g.Hook, clockTime(g.Until), covered(g))
		p.paintedFact(yellow, "permitted", strings.ToLower(numbered(g)), what)
	}
	if p.written > before {
		p.line()
	}
}

// fact prints a line of the overview: its word, how much or who, and the thing itself.
func (p *printer) fact(word, much, what string) { p.paintedFact(plain, word, much, what) }

func (p *printer) paintedFact(c colour, word, much, what string) {
	line := fmt.Sprintf("  %-10s ", word)
	rest := escape(much, keepNothing)
	if what != "" {
		rest = fmt.Sprintf("%-9s  %s", rest, escape(story.FirstLine(what), keepNothing))
	}
	rest = cut(rest, max(cmp.Or(p.width, pipeWidth)-len(line), leastHelp), false)
	p.line(p.paint(c, line), rest)
}

// nextSteps prints the commands to type next.
func (p *printer) nextSteps(list []story.Step) {
	width := 0
	for _, s := range list {
		width = max(width, len(s.Command))
	}
	for i, s := range list {
		lead := "      "
		if i == 0 {
			lead = "next  "
		}
		command := p.paint(blue, s.Command)
		if at := len(lead) + width + 3; p.width == 0 || at+seenColumns(s.Note) <= p.width { // else it stands alone
			command += strings.Repeat(" ", width-len(s.Command)+3) + escape(s.Note, keepNothing)
		}
		p.line(lead, command)
	}
}
