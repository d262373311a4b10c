package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match"
)

func emitCommand(a *app) *cobra.Command {
	var ev eventFlags
	cmd := &cobra.Command{
		Use:   "emit EVENT",
		Short: "Send an event to the daemon",
		Long: `emit sends one event and prints which hooks run for it. With --wait it prints
what they answered; the exit code is then 1 when the event was denied.

An event of an agent counts as tried by a person: it is in lists, marked, and in no
count of what agents did. With --agent or --agent-name it is a call of the agent of
that name, as a script that is one sends it.`,
		Example: `  hookd emit agent:end --data '{"agent_id":"a1","status":"ok"}'
  hookd emit pre_tool_use --data @call.json --wait
  git diff | jq -Rs '{tool_output:.}' |
    hookd emit transform_tool_result --data - --wait -o json`,
		Args:              one("EVENT"),
		ValidArgsFunction: eventNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := ev.completed(a, args[0], "")
			if err != nil {
				return err
			}
			env.Tried = ev.env.AgentID == "" && ev.env.AgentName == "" && events.Lookup(env.Event) != nil
			return emit(a, cmd, env)
		},
	}
	ev.addTo(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&ev.wait, "wait", "w", false, "wait for the hooks, and for the verdict of a decidable event")
	flags.StringVar(&ev.env.SessionID, "session", "", "session_id (default: that of the data)")
	flags.StringVar(&ev.env.AgentID, "agent", "", "agent_id (default: that of the data)")
	flags.StringVar(&ev.env.Sender, "sender", "", "the sender's name (default: uid:N)")
	flags.StringVar(&ev.env.ID, "id", "", "an id of your own: the same one is accepted once in 10 minutes")
	flags.StringVar(&ev.env.Parent, "parent", "", "event_id of the event that this one follows from")
	flags.Var(
		(*duration.Value)(&ev.timeout),
		"timeout",
		"what the hooks of a decidable event may take together (default: by their own deadlines)",
	)
	return cmd
}

// eventFlags are the flags of an event that is sent or only imagined.
type eventFlags struct {
	env     events.Envelope
	data    string
	dialect string
	wait    bool
	timeout time.Duration
}

func (f *eventFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.data, "data", "d", "", "the event's JSON object; @FILE reads a file, - reads stdin")
	flags.StringVar(&f.env.AgentName, "agent-name", "", "agent_name (default: that of the data)")
	flags.StringVar(&f.env.Cwd, "cwd", "", "cwd (default: that of the data)")
	flags.StringVar(&f.dialect, "dialect", "", "the system that the event name belongs to, e.g. claude-code (default: the first that has it)")
	flags.StringVar(&f.env.Lane, "lane", "", "default or preempt: run this lane of pre_tool_use only")
	_ = cmd.RegisterFlagCompletionFunc("dialect", words(dialects()...))
	_ = cmd.RegisterFlagCompletionFunc("lane", words(events.LaneDefault, events.LanePreempt))
}

// envelope checks the typed values as the daemon would, so that mistakes show
// without one. name may be empty where the event is chosen later.
func (f *eventFlags) envelope(a *app, name string) (events.Envelope, error) {
	env := f.env
	env.Event, env.Wait, env.Dialect, env.TimeoutMS = name, f.wait, events.Dialect(f.dialect), f.timeout.Milliseconds()
	if f.timeout < 0 || f.timeout > events.MaxTimeout {
		return env, fail(exitUsage, "type a time such as --timeout 4s", "--timeout is %s, not between 0 and %s",
			f.timeout, events.MaxTimeout)
	}
	data, err := readData(a, f.data)
	if err != nil {
		return env, err
	}
	env.Data = data
	line, err := json.Marshal(env)
	if err != nil {
		return env, fail(exitUsage, "see `hookd emit --help`", "encode event %q: %w", name, err)
	}
	if name == "" {
		return env, nil
	}
	if bad := events.CheckReserved(name); bad != nil {
		return env, bad
	}
	parsed, bad := events.Parse(line)
	if bad != nil {
		return env, bad
	}
	return parsed, nil
}

// completed is envelope, where the arguments of a tool call alone are a call of tool; "" = of the one
// that takes them. It says so, and that an event which is about a call has none.
func (f *eventFlags) completed(a *app, name, tool string) (events.Envelope, error) {
	env, err := f.envelope(a, name)
	if err != nil {
		return env, err
	}
	whole, changed := match.Whole(env, tool)
	field := match.ToolField(events.For(whole.Dialect, whole.Event))
	own, _ := rawjson.GetString(whole.Data, field)
	switch {
	case changed && tool == "":
		fmt.Fprintf(a.errOut, "note: the data is sent as the arguments of a call of %s\n", own)
	case field != "" && own == "":
		fmt.Fprintf(a.errOut, "note: the data names no tool: guards see no call; type --data '{\"command\":\"ls\"}'\n")
	}
	return whole, nil
}

// readData returns the value of --data as JSON; nil when it was not given.
func readData(a *app, value string) (json.RawMessage, error) {
	data, where := []byte(value), "--data"
	var err error
	switch {
	case value == "":
		return nil, nil
	case value == "-":
		data, err = io.ReadAll(a.in)
		where = "stdin"
	case value[0] == '@':
		where = value[1:]
		data, err = os.ReadFile(where)
	}
	if err != nil {
		return nil, fail(
			exitUsage,
			"type --data @FILE with a file that can be read, or --data - for stdin",
			"read --data: %w",
			err,
		)
	}
	var parsed json.RawMessage
	if err := json.Unmarshal(data, &parsed); err != nil {
		at := ""
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = textf(" at byte %d", syntax.Offset).text
		}
		return nil, fail(
			exitUsage,
			`type an object, e.g. --data '{"agent_id":"a1"}', or @FILE`,
			"%s is not valid JSON: %w%s",
			where,
			err,
			at,
		)
	}
	return parsed, nil
}

func emit(a *app, cmd *cobra.Command, env events.Envelope) error {
	ctx, cancel := cmd.Context(), context.CancelFunc(func() {})
	switch {
	case !env.Wait:
		ctx, cancel = a.answer(cmd)
	case env.TimeoutMS > 0:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(env.TimeoutMS)*time.Millisecond+a.patience)
	}
	defer cancel()
	answer, err := a.dial(cmd).Emit(ctx, env.Sent())
	if err != nil {
		return err
	}
	if err := a.print(answer, func(p *printer) { printEmitAnswer(p, env.Event, answer) }); err != nil {
		return err
	}
	if unseen(env, answer) && a.format != "json" {
		sayUnseen(a, cmd, env)
	}
	if answer.Verdict != nil && !answer.Verdict.Allowed {
		return said(exitFailed)
	}
	return nil
}

// unseen reports whether an event that hooks can decide was decided by none.
func unseen(env events.Envelope, answer client.Answer) bool {
	return env.Wait && len(answer.Runs) == 0 && events.For(env.Dialect, env.Event).Decidable
}

// sayUnseen says why hooks do not look at an event.
func sayUnseen(a *app, cmd *cobra.Command, env events.Envelope) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return // the answer is what was asked for
	}
	for _, h := range catalog.Match(cfg, env).Hooks {
		if !h.Runs && h.Why != "" {
			hook, why := escape(h.Hook, keepNothing), escape(h.Why, keepNothing)
			fmt.Fprintf(a.errOut, "%s does not look at it: %s\n", hook, why)
		}
	}
}

func printEmitAnswer(p *printer, event string, answer client.Answer) {
	what := "accepted"
	if answer.Duplicate {
		what = "accepted before"
	}
	p.linef("%s %s: event %s, seq %d", event, what, answer.EventID, answer.Seq)
	for _, w := range answer.Warnings {
		p.line(p.paint(yellow, "warning:"), " ", escape(w, keepNothing))
	}
	if answer.Own() != nil {
		p.linef("the system daemon alone has decided; your own: %v", answer.Own())
	} else if len(answer.Matched) == 0 {
		p.linef("no hook runs for it; %ssee why with `hookd match %s`", meantEvent(event), event)
	} else {
		p.hung(2, "hooks: ", escape(strings.Join(answer.Matched, ", "), keepNothing))
		printMisspelled(p, event)
	}
	if answer.Verdict != nil && len(answer.Runs) == 0 && answer.Verdict.Allowed && !observes(event) {
		word := "not decided: no hook looked at it"
		if len(answer.Matched) > 0 {
			word = "not decided: hooks watch it, and none decides"
		}
		p.line(p.paint(yellow, word))
	} else if answer.Verdict != nil {
		printVerdict(p, answer.Verdict, observes(event))
	}
	if len(answer.Runs) > 0 {
		printRunResults(p, answer.Runs)
	}
}

func printRunResults(p *printer, runs []client.RunResult) {
	p.line()
	id := idsOf(p, runs, func(r client.RunResult) string { return r.RunID })
	var rows [][]cell
	for _, r := range runs {
		rows = append(rows, []cell{result(r.Result), text(r.Hook), text(endOf(r.ExitCode, r.Signal)),
			text(millis(r.DurationMS)), text(id(r.RunID)), text(r.Error)})
	}
	p.table(
		[]column{
			{title: "RESULT"},
			hookColumn("HOOK"),
			{title: "EXIT"},
			{title: "TIME"},
			{title: "RUN"},
			textColumn("ERROR"),
		},
		rows,
	)
}

// observes reports whether hooks can decide nothing about an event.
func observes(event string) bool {
	return slices.Equal(powers(events.For("", event)), []string{"observe"})
}

// printVerdict writes the merged answer: the decision, its reason, and its changes.
func printVerdict(p *printer, v *client.Verdict, observed bool) {
	word, c := "allowed", green
	switch {
	case observed:
		word, c = "observed: no hook can decide about this event", plain
	case !v.Allowed:
		word, c = "denied", red
	case v.PermissionDecision == "ask":
		word, c = "to be asked", yellow
	}
	p.line(p.paint(c, word))
	stop := ""
	if !v.Continue {
		stop = "the agent has to stop"
		if v.StopReason != "" {
			stop += ": " + v.StopReason
		}
	}
	var metadata, specific strings.Builder
	if len(v.Metadata) > 0 {
		_ = writeJSON(&metadata, v.Metadata, "")
	}
	if len(v.Specific) > 0 {
		_ = writeJSON(&specific, v.Specific, "")
	}
	p.pairs(
		kv("  decided by", strings.Join(v.DecidedBy, ", ")),
		kv("  message", v.Message),
		kv("  continue", stop),
		kv("  permission", strings.TrimSpace(v.PermissionDecision+" "+v.DecisionReason)),
		kv("  system message", v.SystemMessage),
		kv("  context", v.AdditionalContext),
		kv("  new input", string(v.UpdatedInput)),
		kv("  new result", unquoted(v.UpdatedToolResponse)),
		kv("  new messages", string(v.UpdatedMessages)),
		kv("  summary", v.Summary),
		kv("  metadata", strings.TrimSpace(metadata.String())),
		kv("  for the agent", strings.TrimSpace(specific.String())),
	)
}

// unquoted shows a JSON string as its text, anything else as it is.
func unquoted(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	if s == "" {
		return `""`
	}
	return s
}
