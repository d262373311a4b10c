package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/wire"
)

func tailCommand(a *app) *cobra.Command {
	var since, epoch string
	var follow, once, starts, ofFleet bool
	cmd := &cobra.Command{
		Use:   "tail [GLOB…]",
		Short: "Follow events and runs as they happen",
		Long: `tail prints one line for each event that matches one of the globs (all without
one), for each run of a hook for such an event, and for what was decided about it;
with --starts also when a run begins. When the daemon restarts, tail waits and goes
on where it was. It ends with Ctrl-C, and then says how many records it missed.`,
		Example: `  hookd log events
  hookd log events 'agent:*' session:reset
  hookd log events --since 0 -o json`,
		ValidArgsFunction: eventNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			once = once || !follow
			if ofFleet {
				return fleetDecisions(a, cmd, wire.DecisionQuery{Event: strings.Join(args, ",")}, !once)
			}
			opt := client.TailOptions{Match: args, Epoch: epoch, Once: once, Starts: starts}
			from, err := startOf(&opt, since)
			if err != nil {
				return err
			}
			return tail(a, cmd, opt, from)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "from this time on: 1h, yesterday, 09:00; or after this seq, 0 is all that is kept")
	cmd.Flags().StringVar(&epoch, "epoch", "", "of --since, as the first record tells it: another one yields a gap")
	cmd.Flags().BoolVarP(&follow, "follow", "f", true, "wait for more, until Ctrl-C; --follow=false is --once")
	cmd.Flags().BoolVar(&once, "once", false, "end at the newest record instead of waiting for more")
	cmd.Flags().BoolVar(&ofFleet, "fleet", false, "decisions of all machines of the fleet: events and runs stay where they are")
	cmd.Flags().BoolVar(&starts, "starts", false, "also a line when a run begins")
	return cmd
}

// startOf puts a number of a record into opt. Of a time it returns the time, and opt reads all that is kept.
func startOf(opt *client.TailOptions, since string) (from time.Time, err error) {
	if since == "" {
		return from, nil
	}
	seq, bad := strconv.ParseUint(since, 10, 64)
	opt.Since = &seq
	if bad == nil {
		return from, nil
	}
	from, ok := duration.Moment(since, time.Now())
	if !ok {
		return from, fail(exitUsage, "give 1h, yesterday, 09:00, 2006-01-02, or the number of a record",
			"--since is %q, no time", since)
	}
	seq = 0
	return from, nil
}

// happened is the time of a record; zero where it has none.
func happened(r client.Record) time.Time {
	switch {
	case r.Event != nil:
		return r.Event.Time
	case r.Run != nil:
		return r.Run.Started.Add(time.Duration(r.Run.DurationMS * float64(time.Millisecond)))
	case r.Decision != nil:
		return decidedAt(*r.Decision)
	case r.Start != nil:
		return r.Start.Started
	}
	return time.Time{}
}

func tail(a *app, cmd *cobra.Command, opt client.TailOptions, since time.Time) error {
	f := newFollower(a)
	show := func(r client.Record) {
		if at := happened(r); !at.IsZero() && at.Before(since) {
			return
		}
		if a.format == "json" {
			f.p.line(escape(string(r.Raw), keepNothing))
		} else {
			printRecordLine(f.p, r)
		}
	}
	for _, name := range opt.Match {
		if near := meantEvent(name); near != "" && !strings.ContainsAny(name, "*?[{") {
			f.say("no agent has an event called %s, %s", name, strings.TrimSpace(near))
		}
	}
	if opt.Once {
		return f.kept(cmd, opt, show)
	}
	from, err := f.begin(cmd)
	if err != nil {
		return err
	}
	if opt.Since != nil {
		from.Since, from.Epoch = opt.Since, opt.Epoch
	}
	from.Match, from.Starts = opt.Match, opt.Starts
	return f.run(cmd, from, show)
}

// kept prints the records that there are, up to now.
func (f *follower) kept(cmd *cobra.Command, opt client.TailOptions, show func(client.Record)) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := f.a.dial(cmd).Tail(ctx, opt, func(raw json.RawMessage) error {
		r, err := client.ParseRecord(raw)
		switch {
		case err != nil:
			return err
		case r.Type == client.RecordGap:
			f.gap(r)
		case r.Type == "epoch" && f.a.format != "json":
		default:
			show(r)
		}
		return f.p.err
	})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// preview is how much of a payload without a subject a line shows.
const preview = 256

func clock(t time.Time) string { return t.Local().Format("15:04:05.000") }

// shorten cuts s to n characters.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}
