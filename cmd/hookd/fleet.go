package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/link"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/story"
	"github.com/hookd/hookd/wire"
)

func fleetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Show and set up the machines that share hooks, decisions and asks",
		Long: `fleet is about the machines that share NATS servers by fleet.servers in hookd.yaml.
Without a command it shows them. decisions, sessions, asks and tail show what happens
on all of them with --fleet.`,
		Example: "  hookd fleet status\n  hookd log --fleet --deny",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return fleetStatus(a, cmd) },
	}
	cmd.AddCommand(fleetStatusCommand(a), fleetInitCommand(a), fleetKeygenCommand(a), fleetUserCommand(a),
		fleetUsersCommand(a),
		fleetAccountsCommand(a), fleetQueueCommand(a), fleetForgetCommand(a),
		fleetRolloutCommand(a), fleetRolloutsCommand(a), fleetDisableCommand(a), fleetEnableCommand(a))
	return cmd
}

func fleetStatusCommand(a *app) *cobra.Command {
	return withLimit(a, &cobra.Command{
		Use:   "status",
		Short: "Show the machines: which are away, their versions, policies and failing guards",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return fleetStatus(a, cmd) },
	})
}

func fleetStatus(a *app, cmd *cobra.Command) error {
	return show(a, cmd, func(ctx context.Context, c *client.Client) (client.FleetInfo, error) {
		f, err := c.Fleet(ctx)
		f.Machines = upTo(f.Machines, a.limit)
		return f, err
	}, printFleet)
}

func printFleet(p *printer, f client.FleetInfo) {
	state := connection(f.Connected, f.Error, f.Since)
	if f.Connected {
		state = strings.Replace(state, "connected", "connected to "+f.Server+",", 1)
	} else if f.Error == engine.ErrKey.Error() {
		f.Error = refusedHelp(f.Machine)
	}
	list := []pair{
		kv("fleet", f.Tenant),
		kv("machine", f.Machine),
		kv("servers", state),
		kv("trouble", f.Error),
		kv("waits here", outboxLine(f.Outbox)),
		kv("events", fmt.Sprintf("%d sent, %d taken, %d came twice, %d refused", f.Events.Sent, f.Events.Taken,
			f.Events.Doubles, f.Events.Refused)),
		kv("dead letters", number(f.Dead)),
	}
	if f.Directive != nil {
		printDirective(p, *f.Directive, list...)
	} else {
		p.pairs(list...)
	}
	if f.Unread != "" {
		p.sentence(plain, "the other machines are not known now: "+f.Unread)
		return
	}
	var rows [][]cell
	for _, m := range f.Machines {
		state := cell{"here", green}
		if m.Away {
			state = cell{"away", yellow}
		}
		if off := time.Duration(m.ClockMS) * time.Millisecond; off.Abs() > clockOff {
			state = cell{state.text + ", clock " + clockText(off), yellow}
		}
		failing := text(strings.Join(m.Failing, " "))
		failing.c = red
		waits := textf("%d", m.Waiting)
		if m.Oldest != nil {
			waits = text(fmt.Sprintf("%d, oldest %s", m.Waiting, ago(*m.Oldest)))
		}
		rows = append(rows, []cell{
			text(m.Machine), state, text(p.when(m.Time)), text(m.Version), text(m.Policy),
			textf("%d", m.Hooks), failing, waits,
		})
	}
	p.table([]column{
		nameColumn("MACHINE"), {title: "STATE"}, {title: "REPORTED"}, {title: "VERSION"}, {title: "POLICY"},
		{title: "HOOKS"}, textColumn("FAILING GUARDS"), {title: "WAITS"},
	}, rows)
	printTroubles(p, f.Machines)
}

// printTroubles says of each machine why its state cannot be relied on.
func printTroubles(p *printer, machines []client.FleetMachine) {
	for _, m := range machines {
		if m.Trouble != "" {
			p.sentence(red, m.Machine+": "+m.Trouble)
		}
	}
}

// clockText says by how much a clock is ahead or behind.
func clockText(off time.Duration) string {
	way := " ahead"
	if off < 0 {
		way = " behind"
	}
	return span(float64(off.Abs().Milliseconds())) + way
}

// connection says whether a machine is connected to the servers of its fleet. trouble is why not.
func connection(connected bool, trouble string, since time.Time) string {
	switch {
	case connected:
		return "connected since " + ago(since)
	case trouble == engine.ErrKey.Error():
		return "THE SERVERS REFUSE THIS KEY, since " + ago(since)
	}
	return "NO SERVER ANSWERS, since " + ago(since)
}

// refusedHelp names the command for a machine that the servers do not let in.
func refusedHelp(machine string) string {
	return "it was revoked, has expired, or was never told to the servers. An operator lets it in: " +
		"hookd fleet user " + machine + " KEY, with the KEY of hookd fleet keygen, see docs/reference/fleet.md"
}

// clockOff is by how much the clock of a machine may be off before the table says so.
const clockOff = 30 * time.Second

func outboxLine(o client.FleetOutbox) string {
	line := fmt.Sprintf("%s (%s), %s", card.Plural(int(o.Events), "event"), sizeText(o.Bytes),
		card.Plural(int(o.Decisions), "decision"))
	if o.Oldest != nil {
		line += ", the oldest " + ago(*o.Oldest)
	}
	if o.Refused > 0 {
		line += fmt.Sprintf("; %d are never taken: %s", o.Refused, o.Why)
	}
	return line
}

// operatorName is the name that commands of an operator give to the servers, whatever the
// machine's entry there is called. Answers come on this name.
const operatorName = "operator"

// initTime is how long making all streams may take.
const initTime = time.Minute

func fleetInitCommand(a *app) *cobra.Command {
	var creds string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make the streams of a fleet, with an operator's key",
		Long: `init makes the streams that machines of the tenant need, where they are missing. The
key is that of an operator, see ` + "`hookd fleet user`" + `: machines cannot make them.`,
		Example: "  hookd fleet init --creds operator.nk",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := fleetConfig(cmd)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), initTime)
			defer cancel()
			names := fleet.Names{Tenant: cfg.Fleet.Tenant, Machine: operatorName}
			if err := makeStreams(ctx, cfg, creds, names); err != nil {
				return fail(exitFailed, "see that the servers run, and that the key is an operator's", "%w", err)
			}
			list := []string{}
			for _, s := range names.Layout() {
				list = append(list, s.Name)
			}
			return a.print(map[string][]string{"streams": list}, func(p *printer) {
				p.linef("tenant %s has its streams: %s", names.Tenant, strings.Join(list, " "))
			})
		},
	}
	credsFlag(cmd, &creds)
	return cmd
}

func makeStreams(ctx context.Context, cfg config.Config, creds string, names fleet.Names) error {
	b, end, err := dialServers(ctx, cfg, creds, names.Machine)
	if err != nil {
		return err
	}
	defer end()
	for {
		err := b.Prepare(ctx, names.Layout())
		if err == nil {
			return names.MakeQueues(ctx, b)
		}
		if !errors.Is(err, engine.ErrAway) {
			return err
		}
		select {
		case <-b.Changed():
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", err, b.State().Err)
		}
	}
}

func fleetKeygenCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make the key that a machine proves its name with",
		Long: `keygen writes an nkey to FILE, which stays on the machine as fleet.creds, and prints
its public half, which the servers are told with ` + "`hookd fleet user`" + `.`,
		Example: "  hookd fleet keygen ~/.librefang/fleet.nk",
		Args:    one("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			public, err := link.Key(cmd.Context(), args[0])
			if err != nil {
				return fail(exitFailed, "name a new file, in a folder that you can write to: a key that is lost cannot be made again",
					"%w", err)
			}
			return a.print(map[string]string{"file": args[0], "key": public}, func(p *printer) { p.line(public) })
		},
	}
}

func fleetUserCommand(a *app) *cobra.Command {
	role, tenant, until := string(fleet.RoleMachine), "default", ""
	cmd := &cobra.Command{
		Use:   "user MACHINE KEY",
		Short: "Print a machine's entry for a NATS server's configuration",
		Long: `user prints an entry for the users of an account in a server's configuration: the
machine with its public key, and what it may do. A machine publishes under its own name
alone, and reads what all machines of the tenant tell. A worker also takes work of hooks
of scope fleet. An operator makes streams.`,
		Example: "  hookd fleet user laptop-7 --until 2027-11-30 \\\n    UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4\n" +
			"  hookd fleet user ops U… --role operator",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("user wants a MACHINE and its KEY, %d given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(fleet.Roles(), fleet.Role(role)) {
				return fail(exitUsage, "give machine, worker or operator", "there is no role %q", role)
			}
			if err := link.CheckKey(cmd.Context(), args[1]); err != nil {
				return fail(exitUsage, "give what `hookd fleet keygen FILE` has printed", "%w", err)
			}
			names := fleet.Names{Tenant: tenant, Machine: args[0]}
			if err := names.Check(); err != nil {
				return fail(exitUsage, "", "%w", err)
			}
			caller := args[0]
			if fleet.Role(role) == fleet.RoleOperator {
				caller = operatorName
			}
			if until != "" {
				if _, err := time.Parse(time.DateOnly, until); err != nil {
					return fail(exitUsage, "give a day such as 2027-11-30", "--until: %w", err)
				}
			}
			entry := names.User(fleet.Role(role), engine.Inbox(caller), args[1], until)
			return a.print(map[string]string{"user": entry}, func(p *printer) { p.line("  ", entry) })
		},
	}
	cmd.Flags().StringVar(&role, "role", role, "machine, worker or operator")
	cmd.Flags().StringVar(&tenant, "tenant", tenant, "fleet.tenant of the machine")
	cmd.Flags().StringVar(&until, "until", "", "last `day` of the key, as in 2027-11-30: hookd fleet users leaves it out after that")
	_ = cmd.RegisterFlagCompletionFunc("role", words("machine", "worker", "operator"))
	return cmd
}

// fleetDecisions lists the decisions of all machines, and with follow goes on.
func fleetDecisions(a *app, cmd *cobra.Command, q wire.DecisionQuery, follow bool) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	query := client.FleetQuery{DecisionQuery: client.DecisionQuery(q)}
	page, err := fleetPage(a, cmd, query)
	f := newFollower(a)
	if follow && err != nil && !errors.Is(err, client.ErrNotRunning) {
		err = f.wait(err)
	}
	switch {
	case err != nil:
		return err
	case follow:
		return f.fleet(ctx, cmd, query, page)
	}
	return a.print(page, func(p *printer) { printFleetDecisions(p, page.Decisions) })
}

func fleetPage(a *app, cmd *cobra.Command, q client.FleetQuery) (client.FleetDecisions, error) {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	return a.dial(cmd).FleetDecisions(ctx, q)
}

// How often new decisions are asked for, and how many at once.
const (
	fleetLook = time.Second
	fleetPart = 1000
)

// fleet prints page, oldest first, and then each decision that a machine publishes. Like run, it
// outlives the daemon, and the servers of the fleet.
func (f *follower) fleet(
	ctx context.Context, cmd *cobra.Command, q client.FleetQuery, page client.FleetDecisions,
) error {
	tick := time.NewTicker(fleetLook)
	defer tick.Stop()
	for {
		for _, d := range slices.Backward(page.Decisions) {
			printFleetDecision(f.p, d, f.a.format == "json")
		}
		if f.p.err != nil {
			return f.p.err
		}
		if page.Through > 0 { // else there was nothing yet since q.Since
			q.After, q.Since, q.Limit = page.Through, time.Time{}, fleetPart
		}
		if len(page.Decisions) < fleetPart {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil
			}
		}
		next, err := fleetPage(f.a, cmd, q)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			f.found()
			page = next
		default:
			if err := f.wait(err); err != nil {
				return err
			}
			page = client.FleetDecisions{}
		}
	}
}

// printFleetDecision prints one decision on one line.
func printFleetDecision(p *printer, d client.FleetDecision, asJSON bool) {
	if asJSON {
		if raw, err := json.Marshal(d); err == nil {
			p.line(escape(string(raw), keepNothing))
		}
		return
	}
	v := d.Decision
	p.line(p.fit(strings.Join([]string{
		p.when(v.Time), d.Machine, string(v.Outcome), agentName(v.AgentName, v.AgentID, v.Dialect, v.Tried),
		about(v.Tool, v.Subject), reasonAndDeciders(p, v),
	}, "  ")))
}

func printFleetDecisions(p *printer, list []client.FleetDecision) {
	if len(list) == 0 {
		p.sentence(plain, "no such decisions on any machine within that time; --since 7d looks further back")
		return
	}
	var rows [][]cell
	for _, m := range list {
		d := m.Decision
		rows = append(rows, []cell{
			text(p.when(decidedAt(d))), text(m.Machine), outcome(d.Outcome),
			text(agentName(d.AgentName, d.AgentID, d.Dialect, d.Tried)), text(d.Tool), text(d.Subject),
			text(reasonAndDeciders(p, d)),
		})
	}
	p.table([]column{
		{title: "TIME"}, nameColumn("MACHINE"), {title: "VERDICT"}, asideColumn("AGENT"), nameColumn("TOOL"),
		textColumn("SUBJECT"), textColumn("REASON"),
	}, rows)
}

func printFleetSessions(p *printer, list []client.FleetSession) {
	if len(list) == 0 {
		p.line("no such sessions on any machine; `hookd fleet status` shows the machines")
		return
	}
	var rows [][]cell
	for _, m := range list {
		s := m.Session
		rows = append(rows, []cell{
			text(p.when(s.Last)), text(m.Machine), sessionState(s.State),
			text(agentName(s.AgentName, s.AgentID, s.Dialect, false)), text(ending(s.SessionID)), textf("%d", s.Tools),
			textf("%d", s.Denials), textf("%d", s.Asks), text(s.Subject),
		})
	}
	p.table([]column{
		{title: "LAST"}, nameColumn("MACHINE"), {title: "STATE"}, nameColumn("AGENT"), {title: "SESSION"},
		{title: "CALLS"}, {title: "DENIED"}, {title: "ASKED"}, textColumn("SUBJECT"),
	}, rows)
}

func printFleetAsks(p *printer, list []client.FleetAsk) {
	if len(list) == 0 {
		p.line("no call waits for an answer on any machine")
		return
	}
	var rows [][]cell
	for _, m := range list {
		rows = append(rows, []cell{text(ending(m.Ask.ID)), text(m.Machine), text(left(m.Ask)), text(m.Ask.Hook),
			text(m.Ask.Agent), text(about(m.Ask.Tool, m.Ask.Subject)), text(story.FirstLine(m.Ask.Reason))})
	}
	p.table([]column{
		{title: "ASK"}, nameColumn("MACHINE"), {title: "LEFT"}, hookColumn("HOOK"), asideColumn("AGENT"),
		textColumn("SUBJECT"), textColumn("REASON"),
	}, rows)
	p.line("answer with the key of an approver: `hookd ask allow ASK --key FILE`,")
	p.line("or `hookd ask deny ASK --key FILE`")
}
