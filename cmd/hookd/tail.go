package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func tailCommand(a *app) *cobra.Command {
	var since uint64
	var epoch string
	var once bool
	cmd := &cobra.Command{
		Use:   "tail [GLOB…]",
		Short: "Follow events and runs as they happen",
		Long: `tail prints one line for each event that matches one of the globs (all without
one) and for each run of a hook for such an event. It ends with Ctrl-C.`,
		Example: `  hookd tail
  hookd tail 'agent:*' session:reset
  hookd tail --since 0 -o json`,
		ValidArgsFunction: eventNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt := client.TailOptions{Match: args, Epoch: epoch, Once: once}
			if cmd.Flags().Changed("since") {
				opt.Since = &since
			}
			return tail(a, cmd, opt)
		},
	}
	cmd.Flags().Uint64Var(&since, "since", 0, "begin after the record with this seq; 0 is everything that is kept")
	cmd.Flags().StringVar(&epoch, "epoch", "", "of --since, as the first record tells it: another one yields a gap")
	cmd.Flags().BoolVar(&once, "once", false, "end at the newest record instead of waiting for more")
	return cmd
}

func tail(a *app, cmd *cobra.Command, opt client.TailOptions) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p := a.printer(a.out)
	err := a.dial(cmd).Tail(ctx, opt, func(raw json.RawMessage) error {
		if a.format == "json" {
			p.line(escape(string(raw), keepNothing))
		} else {
			p.record(raw)
		}
		return p.err
	})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// record is any record of the stream; Type says which fields count.
type record struct {
	Type  string    `json:"type"`
	Seq   uint64    `json:"seq"`
	From  uint64    `json:"from"`
	To    uint64    `json:"to"`
	Time  time.Time `json:"time"`
	Event string    `json:"event"`

	Sender string          `json:"sender"`
	Data   json.RawMessage `json:"data"`

	RunID      string        `json:"run_id"`
	Hook       string        `json:"hook"`
	Result     client.Result `json:"result"`
	ExitCode   int           `json:"exit_code"`
	Started    time.Time     `json:"started"`
	DurationMS float64       `json:"duration_ms"`
	Error      string        `json:"error"`
}

// preview is how much of a payload a line of tail shows.
const preview = 256

func (p *printer) record(raw json.RawMessage) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		p.line(escape(string(raw), keepNothing))
		return
	}
	switch r.Type {
	case "event":
		p.line(p.paint(dim, clock(r.Time)), fmt.Sprintf(" %6d ", r.Seq), p.paint(bold, "event "),
			escape(r.Event, keepNothing), " ", escape(shorten(string(r.Data), preview), keepNothing))
	case "run":
		line := fmt.Sprintf("%s %s %s %s", r.Hook, r.Event, millis(r.DurationMS), r.RunID)
		if r.Error != "" {
			line += " " + r.Error
		}
		at := r.Started.Add(time.Duration(r.DurationMS * float64(time.Millisecond)))
		res := result(r.Result)
		p.line(p.paint(dim, clock(at)), fmt.Sprintf(" %6d ", r.Seq), p.paint(res.c, fmt.Sprintf("%-5s", res.text)),
			" ", escape(line, keepNothing))
	case "gap":
		p.linef("… records %d to %d are gone: this reader was too slow, or they are no longer kept", r.From, r.To)
	}
}

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
