package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/people/story"
	"github.com/hookd/hookd/wire"
)

func decisionsCommand(a *app) *cobra.Command {
	f := decisionFlags{query: queryFlags{}}
	cmd := &cobra.Command{
		Use:   "decisions [CALL]",
		Short: "List what was denied, asked and allowed, and why; newest first",
		Long: `decisions lists the calls of agents, newest first: what each was about, what was
decided, by which hook, and why. With the id of a call, or its end as the table
shows it, it shows that one with its runs.`,
		Example: `  hookd log --deny
  hookd log --agent codex --grep main.go --since today
  hookd log -f`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return showDecision(a, cmd, args[0])
			}
			q, err := f.parse(cmd)
			switch {
			case err != nil:
				return err
			case f.fleet:
				return fleetDecisions(a, cmd, q, f.follow)
			case f.follow:
				return followDecisions(a, cmd, q)
			}
			ctx, cancel := a.answer(cmd)
			defer cancel()
			list, err := a.dial(cmd).Decisions(ctx, client.DecisionQuery(q))
			if err == nil && len(list) == 0 {
				err = typedIn(q).misspelt(ctx, a.dial(cmd))
			}
			return a.printRead(err, map[string][]client.Decision{"decisions": list}, func(p *printer) {
				if err == nil || len(list) > 0 {
					printDecisions(p, list)
				}
			})
		},
	}
	f.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("hook", hookNames(a))
	_ = cmd.RegisterFlagCompletionFunc("event", eventNames(a))
	_ = cmd.RegisterFlagCompletionFunc("decision", words(outcomes()...))
	_ = cmd.RegisterFlagCompletionFunc("tool", lazily(toolNames))
	_ = cmd.RegisterFlagCompletionFunc("agent", words(dialects()...))
	return cmd
}

func typedIn(q wire.DecisionQuery) typed { return typed{q.Hook, q.Tool, q.Agent, q.Event} }

// decisionFlags are the parts of a query as they are typed.
type decisionFlags struct {
	query     queryFlags
	deny, ask bool
	disobeyed bool
	notAsked  bool
	parts     bool
	shadow    bool
	follow    bool
	fleet     bool
}

// queryFlags are the parts of a query as they are typed, by parameter.
type queryFlags map[string]*string

// add adds a flag for each parameter: its name, which is the parameter's unless that follows, and its usage.
func (q queryFlags) add(cmd *cobra.Command, list ...[3]string) {
	for _, f := range list {
		q[cmp.Or(f[1], f[0])] = cmd.Flags().String(f[0], "", f[2])
	}
}

// values are the parameters that were typed, --limit too.
func (q queryFlags) values(cmd *cobra.Command) url.Values {
	values := url.Values{}
	for parameter, value := range q {
		if *value != "" {
			values.Set(parameter, *value)
		}
	}
	if limit := cmd.Flags().Lookup("limit"); limit != nil && limit.Changed {
		values.Set("limit", limit.Value.String())
	}
	if tools := values.Get("tool"); tools != "" {
		values.Set("tool", canonicalTools(tools))
	}
	return values
}

func (f *decisionFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false // the most typed first
	flags.BoolVar(&f.deny, "deny", false, "only what was denied")
	flags.BoolVar(&f.ask, "ask", false, "only what a person was asked")
	f.query.add(cmd,
		[3]string{"since", "", "not older: 1h, 7d, yesterday, today, 09:00"},
		[3]string{"until", "", "older, as for --since"},
		[3]string{"grep", "q", "with this text in the call, such as a file, or in the reason"},
		[3]string{"session", "", "of this session, from hookd log --sessions"},
		[3]string{"agent", "", "of this agent: its name, its id, or such as claude-code"},
		[3]string{"tool", "", "of calls of this tool, such as shell"},
		[3]string{"hook", "", "that this hook decided"},
		[3]string{"cwd", "", "in this folder, or below it"},
		[3]string{"event", "", "about events of this name or kind"},
		[3]string{"decision", "", "disobeyed, 'not asked', deny, ask, rewrite, allow, context or none; several by comma"})
	flags.BoolVar(&f.disobeyed, "disobeyed", false, "only calls that ran against the answer")
	flags.BoolVar(&f.notAsked, "not-asked", false, "only calls that hookd was not asked about")
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on with each decision, until Ctrl-C")
	flags.IntP("limit", "n", 50, "at most so many")
	flags.BoolVar(&f.parts, "parts", false, "also decisions that say nothing beside another one about their call")
	flags.BoolVar(&f.shadow, "shadow", false, "only where a hook that only watches would have said something")
	flags.BoolVar(&f.fleet, "fleet", false, "of all machines of the fleet; without --since of the last day")
}

func (f *decisionFlags) parse(cmd *cobra.Command) (wire.DecisionQuery, error) {
	values := f.query.values(cmd)
	wanted := []string{values.Get("decision")}
	for word, on := range map[string]bool{
		"deny": f.deny, "ask": f.ask, "disobeyed": f.disobeyed, "not asked": f.notAsked,
	} {
		if on {
			wanted = append(wanted, word)
		}
	}
	if wanted = nonEmpty(wanted); len(wanted) > 0 {
		values.Set("decision", strings.Join(wanted, ","))
	}
	if f.parts {
		values.Set("parts", "1")
	}
	if f.shadow {
		values.Set("shadow", "1")
	}
	q, bad := wire.ParseDecisionQuery(values, time.Now())
	if bad != nil {
		return q, fail(exitUsage, bad.Hint+", see `hookd log --help`", "%w", bad)
	}
	return q, nil
}

// followDecisions prints the decisions that fit, oldest first, and then each new one.
func followDecisions(a *app, cmd *cobra.Command, q wire.DecisionQuery) error {
	return followPast(a, cmd, past[client.Decision]{
		list: func(ctx context.Context) ([]client.Decision, error) {
			return a.dial(cmd).Decisions(ctx, client.DecisionQuery(q))
		},
		typed: typedIn(q),
		id:    func(d client.Decision) string { return d.EventID },
		record: func(d client.Decision) client.Record {
			return client.Record{Type: client.RecordVerdict, Seq: d.Seq, Decision: &d}
		},
		value: func(r client.Record) *client.Decision { return r.Decision },
		fits: func(raw []byte) bool {
			var d wire.Decision
			return json.Unmarshal(raw, &d) == nil && q.Fits(&d)
		},
	})
}

func printDecisions(p *printer, list []client.Decision) {
	if len(list) == 0 {
		p.sentence(plain, "no such decisions; a guard makes one for each call that it looks at: `hookd list` shows the hooks")
		return
	}
	id := idsOf(p, list, func(d client.Decision) string { return d.EventID })
	header := []column{
		{title: "TIME"},
		{title: "VERDICT"},
		asideColumn("AGENT"),
		nameColumn("TOOL"),
		textColumn("SUBJECT"),
		textColumn("REASON"),
		{title: "BY", yield: 1, end: true, spare: true},
		{title: "EVENT"},
	}
	if p.wide {
		header = append(header, fixed("NAME", "SESSION", "TOOK", "REWROTE", "CWD")...)
	}
	var rows [][]cell
	for _, d := range list {
		row := []cell{
			text(p.when(decidedAt(d))),
			outcome(d.Outcome),
			text(agentName(d.AgentName, d.AgentID, d.Dialect, d.Tried)),
			text(d.Tool),
			text(d.Subject),
			text(reasons(d)),
			text(fitDeciders(p, d)),
			text(id(d.EventID)),
		}
		if p.wide {
			row = append(
				row,
				text(d.Event),
				text(d.SessionID),
				text(millis(d.DurationMS)),
				text(strings.Join(d.Rewrote, " ")),
				text(d.Cwd),
			)
		}
		rows = append(rows, row)
	}
	p.table(header, rows)
}

// outcomes are the words that decisions are searched for by.
func outcomes() (list []string) {
	for _, o := range wire.Outcomes() {
		list = append(list, string(o))
	}
	return list
}

// decidedAt is when a decision was made. The newest one is first.
func decidedAt(d client.Decision) time.Time {
	return d.Time.Add(time.Duration(d.DurationMS * float64(time.Millisecond)))
}

// outcome is a decision in its colour.
func outcome(o client.Outcome) cell {
	switch o {
	case client.OutcomeDeny, client.OutcomeDisobeyed, client.OutcomeNotAsked:
		return cell{string(o), red}
	case client.OutcomeAsk:
		return cell{string(o), yellow}
	case client.OutcomeAllow:
		return cell{string(o), green}
	case client.OutcomeRewrite, client.OutcomeContain:
		return cell{string(o), yellow}
	}
	return text(string(o))
}

// fitDeciders names the hooks that made a decision; where there is no room for many, the first and how many
// more there are.
func fitDeciders(p *printer, d client.Decision) string {
	if d.Judge != "" {
		return strings.TrimSpace(string(d.Dialect) + " " + d.Judge)
	}
	if list := d.DecidedBy; len(list) > 2 && p.width > 0 && !p.wide {
		return fmt.Sprintf("%s +%d", list[0], len(list)-1)
	}
	return strings.Join(d.DecidedBy, ", ")
}

// reasonAndDeciders says why it was decided so, and by which hooks.
func reasonAndDeciders(p *printer, d client.Decision) string {
	why, by := reasons(d), fitDeciders(p, d)
	if why == "" || by == "" {
		return why + by
	}
	return why + " (" + by + ")"
}

// reasons tells why it was decided so, the hooks' changes, and how others would have decided.
func reasons(d client.Decision) string {
	why := story.WithoutName(story.FirstLine(d.Reason), d.DecidedBy...)
	if ran := ranWords(d); ran != "" {
		why = strings.Join(nonEmpty([]string{ran, why}), "; ")
	}
	if len(d.Rewrote) > 0 {
		why = strings.Join(nonEmpty([]string{why, rewroteWords(d)}), "; ")
	}
	if d.Answered != nil {
		if words := answeredWords(d.Answered); !strings.Contains(why, words) {
			why = strings.Join(nonEmpty([]string{why, words}), "; ")
		}
	}
	for _, u := range d.Untaken {
		why = strings.Join(nonEmpty([]string{why, u}), "; ")
	}
	for _, s := range d.Shadow {
		why = strings.Join(nonEmpty([]string{why, would(s)}), "; ")
	}
	return why
}

// rewroteWords names the parts that hooks changed, and the call that runs instead.
func rewroteWords(d client.Decision) string {
	if d.Contained != "" {
		return inBox(d)
	}
	words := "rewrote " + strings.Join(d.Rewrote, ", ")
	if d.NewSubject != "" {
		words += " to: " + d.NewSubject
	}
	return words
}

// inBox says in which box a call runs.
func inBox(d client.Decision) string {
	words := "in the box " + d.Contained
	if len(d.Opened) > 0 {
		words += " with a way to " + strings.Join(d.Opened, ", ")
	}
	return words
}

// boxWords says how the box of a call ended; "" = the call had none, or that is not known.
func boxWords(d client.Decision) string {
	if d.Ran == nil || d.Ran.Box == nil {
		return ""
	}
	b := d.Ran.Box
	words := fmt.Sprintf("by %s, exit %d", b.Level, b.Exit)
	if len(b.Kept) > 0 {
		words += "; kept out: " + strings.Join(b.Kept, ", ")
	}
	if len(b.Refused) > 0 {
		words += "; refused: " + strings.Join(b.Refused, ", ")
	}
	return words
}

// ranWords says how a call ran that hookd was not asked about, or against its answer; "" = it did not.
func ranWords(d client.Decision) string {
	switch {
	case d.Guarded == client.GuardedNotAsked && d.Told != nil:
		return "it ran without an answer"
	case d.Guarded == client.GuardedNotAsked:
		return "it ran, and hookd was not asked"
	case d.Guarded != client.GuardedDisobeyed || d.Ran == nil:
		return ""
	case d.Ran.Instead != "":
		return "RAN ANOTHER INPUT: " + d.Ran.Instead
	}
	return "RAN ALL THE SAME"
}

// resultWords says how a call ended; "" = its agent has not said.
func resultWords(d client.Decision) string {
	if d.Ran == nil {
		return ""
	}
	words := "ran"
	if d.Ran.Failed {
		words = "ran, and failed"
	}
	if d.Ran.TookMS > 0 {
		words += ", in " + millis(d.Ran.TookMS)
	}
	return words + " (" + d.Ran.EventID + ")"
}

// toldWords tells which answer the agent heard; "" = its sender says nothing about that.
func toldWords(d client.Decision) string {
	switch t := d.Told; {
	case t == nil:
		return ""
	case t.Unsure != "":
		return "not known: " + t.Unsure
	default:
		words := string(t.Decision)
		switch {
		case t.Rewrote && d.Contained != "":
			words += ", " + inBox(d)
		case t.Rewrote:
			words += ", with another input"
		}
		return strings.Join(nonEmpty([]string{words, t.Reason}), ": ")
	}
}

// would tells how a hook in the shadow would have decided, and why.
func would(s client.Shadowed) string {
	word := s.Hook + " would " + string(s.Decision)
	if s.Decision == client.OutcomeNone {
		word = s.Hook + " would rewrite " + strings.Join(s.Rewrote, ", ")
	}
	return strings.Join(nonEmpty([]string{word, story.WithoutName(story.FirstLine(s.Reason), s.Hook)}), ": ")
}

func showDecision(a *app, cmd *cobra.Command, id string) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	e, err := a.dial(cmd).Event(ctx, id)
	if err != nil {
		return err
	}
	if e.Decision == nil {
		return fail(exitFailed, "see its runs with `hookd log runs --event "+e.EventID+"`",
			"nothing was decided about event %s, a %s", e.EventID, e.Event)
	}
	runs, err := a.dial(cmd).Runs(ctx, client.RunQuery{EventID: e.EventID})
	if err != nil {
		return err
	}
	answer := struct {
		client.Decision
		RunRecords []client.Run `json:"run_records"`
	}{*e.Decision, runs}
	return a.print(answer, func(p *printer) { printDecision(p, *e.Decision, runs) })
}

func printDecision(p *printer, d client.Decision, runs []client.Run) {
	shadows := make([]string, len(d.Shadow))
	for i, s := range d.Shadow {
		shadows[i] = would(s)
	}
	p.pairs(
		pair{"decision", outcome(d.Outcome)},
		kv("guarded", string(d.Guarded)),
		kv("about", about(d.Tool, d.Subject)),
		kv("decided by", fitDeciders(p, d)),
		kv("reason", d.Reason),
		kv("told", toldWords(d)),
		kv("result", resultWords(d)),
		kv("box", boxWords(d)),
		kv("rewrote", strings.Join(d.Rewrote, ", ")),
		kv("new input", string(d.NewInput)),
		kv("shadow", strings.Join(shadows, "\n")),
		kv("undo", undoLine(d)),
		kv("event", d.Event+" "+d.EventID),
		kv("agent", strings.Join(nonEmpty([]string{d.AgentName, d.AgentID, string(d.Dialect)}), " ")),
		kv("session", d.SessionID),
		kv("call", d.CallID),
		kv("folder", d.Cwd),
		kv("time", d.Time.Local().Format(time.RFC3339Nano)),
		kv("took", millis(d.DurationMS)),
	)
	if len(runs) > 0 {
		p.line()
		printRuns(p, runs)
		p.line()
		p.linef("what a hook printed: hookd log output %s", ending(runs[0].ID))
	}
}

// ending is the part of an id that names it on a line of its own.
func ending(id string) string { return id[max(0, len(id)-8):] }
