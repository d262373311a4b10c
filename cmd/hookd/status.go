package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/doctor"
)

func statusCommand(a *app) *cobra.Command {
	var fleet bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the daemon's state",
		Long: `status shows the daemon's state. The exit code is 3 when it does not run. Where the
machine has a system daemon, a line says whether that one answers. With --fleet it is
` + "`hookd fleet status`" + `: how all machines of the fleet are.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fleet {
				return fleetStatus(a, cmd)
			}
			ctx, cancel := a.answer(cmd)
			defer cancel()
			layer := systemLayer(ctx, cmd)
			st, err := a.dial(cmd).Status(ctx)
			if err != nil {
				if layer != "" && a.format != "json" {
					a.printer(a.out).pairs(kv("system", layer))
				}
				return err
			}
			return a.print(st, func(p *printer) { printStatus(p, st, layer) })
		},
	}
	cmd.Flags().BoolVar(&fleet, "fleet", false, "all machines of the fleet")
	return cmd
}

// systemLayer says how the machine's system daemon is; "" = there is none.
func systemLayer(ctx context.Context, cmd *cobra.Command) string {
	place := system.Here()
	present, required := place.Look()
	if !present {
		return ""
	}
	err := client.New(client.Options{Socket: place.Socket, Timeout: aliveTime}).Alive(ctx)
	what := "answers: it is asked first"
	switch {
	case ofSystem(cmd) && err == nil:
		what = "this is it"
	case err != nil && required:
		what = "DOES NOT ANSWER, and calls of agents are denied: " + err.Error()
	case err != nil:
		what = "does not answer: " + err.Error()
	}
	if required {
		what += "; required by " + place.Settings()
	}
	return what
}

// aliveTime is how long the system daemon may take to say that it is alive.
const aliveTime = 3 * time.Second

func printStatus(p *printer, st client.DaemonInfo, layer string) {
	condition := "ready"
	switch {
	case st.Draining:
		condition = "stopping"
	case !st.Store.OK:
		condition = "the store cannot be written"
	case !st.Ready:
		condition = "starting"
	}
	kill := "process groups"
	if st.Cgroup != "" {
		kill = "a cgroup each, under " + st.Cgroup
	}
	list := []pair{
		kv("hookd", fmt.Sprintf("%s, version %s, pid %d, since %s", condition, st.Version, st.PID,
			st.Started.Local().Format("2006-01-02 15:04:05"))),
		kv("system", layer),
		kv("home", st.Home),
		kv("socket", st.Socket),
		kv("hooks", fmt.Sprintf("%s; generation %d, read %s", tally(st.Hooks, "none"), st.Generation,
			ago(st.Reloaded))),
		kv("off", offLine(st.Snoozed)),
		kv("permitted", permitLine(st.Permits)),
		kv("policy", policyLine(st.Policy)),
		kv("watching", st.Watching),
		kv("events", fmt.Sprintf("%d accepted, seq %d, epoch %s", st.Events, st.Seq, st.Epoch)),
		kv("runs", tally(st.Runs, "none yet")),
		kv("running", fmt.Sprintf("%s; %d queued (%d bytes in memory)", tally(st.Running, "none"), queued(st),
			st.QueuedBytes)),
		kv("store", storeLine(st)),
		kv("lost", lossLine(st.Store.Losses)),
		kv("subscribers", fmt.Sprintf("%d, %d gaps", st.Subscribers, st.Gaps)),
		kv("processes", kill+"; started by "+st.Starts),
		kv("persistent", number(st.Copies)),
		kv("fleet", lagLine(st.Fleet)),
	}
	p.pairs(slices.Concat(list, unguardedPairs(st.Unguarded), forwardPairs(st.Forward))...)
	p.problems(st.Problems)
}

// queued counts the runs that wait for their start, on disk too.
func queued(st client.DaemonInfo) int {
	if !st.Behind {
		return st.Queued
	}
	return max(st.Queued, st.Store.PendingRuns-st.Running["observers"]-st.Retrying)
}

// unguardedPairs are lines for each agent that ran calls without an answer of hookd, or against it, or does
// not call hookd.
func unguardedPairs(list []client.Unguarded) (pairs []pair) {
	for _, u := range list {
		say := func(format string, args ...any) {
			pairs = append(pairs, pair{"unguarded", cell{string(u.Agent) + " " + fmt.Sprintf(format, args...), red}})
		}
		if u.Gone != "" {
			say("IS NOT GUARDED: %s; type `%s`", u.Gone, u.Do)
		}
		if u.Disobeyed > 0 {
			say("DID NOT OBEY %s; type `hookd log --disobeyed`", card.Plural(int(u.Disobeyed), "answer"))
		}
		if u.NotAsked > 0 {
			say("ran %s without asking; type `hookd log --not-asked`", card.Plural(int(u.NotAsked), "call"))
		}
		if u.Executed != nil && u.Executed.Commands > 0 {
			say("executed %s with no call open; type `hookd blindspots %s`",
				card.Plural(int(u.Executed.Commands), "command"), u.Agent)
		}
	}
	return pairs
}

// offLine says which hooks are off for a time; "" = none is.
func offLine(list []client.Snoozed) string {
	var parts []string
	for _, s := range list {
		who, _, _ := strings.Cut(s.By, " ")
		parts = append(parts, fmt.Sprintf("%s until %s (%s)", s.Hook, clockTime(s.Until), who))
	}
	return strings.Join(parts, ", ")
}

// permitLine says which denied calls may pass; "" = none may.
func permitLine(list []client.Grant) string {
	var parts []string
	for _, g := range list {
		scope := "once"
		if g.Scope != "once" {
			scope = "each time"
		}
		parts = append(parts, fmt.Sprintf("%s, %s until %s, by %s (%s)", covered(g), scope, clockTime(g.Until), g.Hook,
			g.From.User))
	}
	return strings.Join(parts, "\n")
}

// policyLine says which policy is in force; "" = none.
func policyLine(now *client.Policy) string {
	if now == nil {
		return ""
	}
	if now.Name == "" {
		return "from the fleet, which has put nothing in force here yet"
	}
	return fmt.Sprintf("%s, sequence %d, fetched %s, asked %s",
		now.Name, now.Sequence, ago(now.Fetched), ago(now.Checked))
}

// forwardPairs has a line for each target of the setting forward.
func forwardPairs(list []client.Forward) (pairs []pair) {
	for _, f := range list {
		line := fmt.Sprintf("%s to %s: %d sent, %s waiting", f.Name, f.To, f.Sent, doctor.WaitingText(f))
		if f.Oldest != nil {
			line += ", the oldest from " + ago(*f.Oldest)
		}
		if f.Refused > 0 {
			line += fmt.Sprintf(", %d thrown away by the target", f.Refused)
		}
		if f.Missed > 0 {
			line += fmt.Sprintf(", %d PRUNED BEFORE", f.Missed)
		}
		if f.Unread != "" {
			line += "; how far it is cannot be read: " + f.Unread
		}
		if f.Error != "" && f.Since != nil {
			line += fmt.Sprintf("; FAILS since %s: %s", f.Since.Local().Format("2006-01-02 15:04:05"), f.Error)
		}
		pairs = append(pairs, kv("forward", line))
	}
	return pairs
}

// lagLine tells the machine's state in its fleet, and how much waits; "" = it is in none.
func lagLine(f *client.FleetLag) string {
	if f == nil {
		return ""
	}
	line := fmt.Sprintf("%s of %s, %s", f.Machine, f.Tenant, connection(f.Connected, f.Error, f.Since))
	if f.Unread != "" {
		line += "; what waits cannot be read: " + f.Unread
	} else {
		line += "; waiting: " + outboxLine(f.Outbox)
	}
	if f.Error != "" {
		line += "; " + f.Error
	}
	return line
}

// tally writes counts in the order of their names.
func tally(by map[string]int, none string) string {
	var parts []string
	for name, n := range by {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, name))
		}
	}
	if len(parts) == 0 {
		return none
	}
	slices.SortFunc(parts, func(a, b string) int {
		_, x, _ := strings.Cut(a, " ")
		_, y, _ := strings.Cut(b, " ")
		return strings.Compare(x, y)
	})
	return strings.Join(parts, ", ")
}

// storeLine tells in one line the state of the history, and how much waits there.
func storeLine(st client.DaemonInfo) string {
	s := st.Store
	line := fmt.Sprintf("%s, %s, %s", sizeText(s.Bytes), card.Plural(int(s.Events), "event"),
		card.Plural(int(s.Runs), "run"))
	if s.JournalBytes > 0 {
		line += ", journal " + sizeText(s.JournalBytes)
	}
	for _, part := range []struct {
		n    int64
		text string
	}{{int64(s.PendingRuns), "pending"}, {int64(st.Retrying), "to be retried"}, {s.DeadLetters, "dead letters"},
		{int64(s.Journaled), "only in the journal"},
		{int64(s.Lost), "records lost"}} {
		if part.n > 0 {
			line += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	if !s.OK {
		line += "; CANNOT BE WRITTEN since " + s.Since.Local().Format("2006-01-02 15:04:05") + ": " + s.Error
	}
	return line
}

// lossLine names the things that were lost or set aside, and how to take them back; "" = nothing was.
func lossLine(list []client.Loss) string {
	if len(list) == 0 {
		return ""
	}
	text := doctor.LossText(list[0])
	if n := len(list) - 1; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text + "; type `hookd recover`"
}
