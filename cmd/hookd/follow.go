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

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/people/card"
)

// follower prints records of the stream until Ctrl-C. It outlives the daemon: it
// says that it waits and that hookd is back, and goes on where it was.
type follower struct {
	a      *app
	p      *printer
	lost   bool   // the daemon has gone, and that was said
	seen   uint64 // number of the last record
	missed uint64 // records that are gone
}

func newFollower(a *app) *follower { return &follower{a: a, p: a.printer(a.out)} }

// begin returns where the stream stands now, for a history to be read before it is
// followed. A daemon that does not run is an error here, and waited for later.
func (f *follower) begin(cmd *cobra.Command) (client.SubscribeOptions, error) {
	ctx, cancel := f.a.answer(cmd)
	defer cancel()
	st, err := f.a.dial(cmd).Status(ctx)
	return client.SubscribeOptions{Since: &st.Seq, Epoch: st.Epoch}, err
}

// run hands each record to show, but the gaps, which it reports itself.
func (f *follower) run(cmd *cobra.Command, opt client.SubscribeOptions, show func(client.Record)) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	opt.Lost, opt.Opened = f.wait, f.back
	for r, err := range f.a.dial(cmd).Subscribe(ctx, opt) {
		switch {
		case err != nil && ctx.Err() != nil:
			return f.end()
		case err != nil:
			return err
		case r.Type == client.RecordGap:
			f.gap(r)
		default:
			show(r)
		}
		f.seen = max(f.seen, r.Seq)
		if f.p.err != nil {
			return f.p.err
		}
	}
	return f.end()
}

// wait is called while the daemon is away, or does not get at the records that it is asked for. It
// returns err where waiting would change nothing.
func (f *follower) wait(err error) error {
	var refused *client.Error
	answered := errors.As(err, &refused)
	switch {
	case answered && refused.Code != client.CodeInternal && !client.Retryable(err):
		return err
	case f.lost:
	case answered:
		f.say("%v: waiting, Ctrl-C ends", err)
	default:
		f.say("hookd has gone (%v): waiting for it, Ctrl-C ends", err)
	}
	f.lost = true
	return nil
}

// found is called when the daemon answers.
func (f *follower) found() {
	if f.lost {
		f.say("hookd is back")
	}
	f.lost = false
}

func (f *follower) back(epoch string, seq uint64) {
	f.found()
	if f.a.format == "json" {
		raw, err := json.Marshal(map[string]any{"type": "epoch", "epoch": epoch, "seq": seq})
		if err == nil {
			f.p.line(string(raw))
		}
	}
}

func (f *follower) gap(r client.Record) {
	if f.missed++; r.From > 0 { // 0 = it is not known since when
		f.missed += r.Seq - r.From
	}
	if f.a.format == "json" {
		f.p.line(escape(string(r.Raw), keepNothing))
		return
	}
	printGap(f.p, r.From, r.Seq)
}

// end tells how many records Ctrl-C leaves unprinted.
func (f *follower) end() error {
	if f.missed > 0 {
		f.say("missed %s that hookd did not have any more", card.Plural(int(f.missed), "record"))
	}
	return nil
}

// say reports to the person, beside the printed records.
func (f *follower) say(format string, args ...any) {
	p := f.a.printer(f.a.errOut)
	p.linef("hookd: "+format, args...)
}

// printRecordLine writes a record of the stream on one line that fits the terminal.
func printRecordLine(p *printer, r client.Record) {
	switch {
	case r.Event != nil:
		e := r.Event
		what := e.Subject
		if what == "" {
			what = shorten(string(e.Data), preview)
		}
		printEntry(p,
			e.Time,
			r.Seq,
			cell{"event", bold},
			agentName(e.AgentName, e.AgentID, e.Dialect, e.Tried),
			e.Event,
			about(e.Tool, what),
		)
	case r.Run != nil:
		run := r.Run
		end := run.Started.Add(time.Duration(run.DurationMS * float64(time.Millisecond)))
		printEntry(p, end, r.Seq, result(run.Result),
			fitEntry(p, run.Hook, run.Event, run.Tool, run.Subject, why(*run),
				millis(run.DurationMS), ending(run.ID))...)
	case r.Decision != nil:
		d := r.Decision
		printEntry(p, decidedAt(*d), r.Seq, outcome(d.Outcome),
			fitEntry(p, agentName(d.AgentName, d.AgentID, d.Dialect, d.Tried),
				d.Event, d.Tool, d.Subject, reasonAndDeciders(p, *d))...)
	case r.Start != nil:
		s := r.Start
		printEntry(p, s.Started, 0, cell{"start", dim}, s.Hook, s.Event, about(s.Tool, s.Subject), ending(s.RunID))
	case r.Type == client.RecordGap:
		printGap(p, r.From, r.Seq)
	}
}

// entryHead is the width of an entry's time, number and word, with the blanks that part them.
const entryHead = len("15:04:05.000 123456 deny    ")

// leastSubject is how many columns a subject has before its reason has any.
const leastSubject = 14

// fitEntry returns the parts of an entry that has a reason. Where they are too long for the
// terminal, the event's name goes, since the tool shows it, a hook is named without its pack,
// and the subject leaves half of the rest to the reason, where it has leastSubject then.
func fitEntry(p *printer, name, event, tool, subject, reason string, between ...string) []string {
	parts := func(event, what string) []string {
		return nonEmpty(slices.Concat([]string{name, event, what}, between, []string{reason}))
	}
	columns := func(text string) int { return runewidth.StringWidth(escape(text, keepNothing)) }
	width := func(parts []string) int { return entryHead + columns(strings.Join(parts, "  ")) }
	what := about(tool, subject)
	whole := parts(event, what)
	if p.width <= 0 || p.wide || tool == "" || width(whole) <= p.width {
		return whole
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	room := p.width - width(parts("", "x")) + columns(reason) + 1 // of what and the reason
	subject = cut(escape(what, keepNothing), max(room/2, min(room, leastSubject), room-columns(reason), 1), false)
	return parts("", subject)
}

// printEntry writes the time, the number, the word, and the parts of a record; the last give way.
func printEntry(p *printer, at time.Time, seq uint64, what cell, parts ...string) {
	number := ""
	if seq > 0 {
		number = textf("%d", seq).text
	}
	head := fmt.Sprintf("%s %6s %-7s ", clock(at), number, what.text)
	line := p.fit(head + escape(strings.Join(nonEmpty(parts), "  "), keepNothing))
	if len(line) <= len(head) {
		p.line(line)
		return
	}
	word := p.paint(what.c, fmt.Sprintf("%-7s", what.text))
	p.line(p.paint(dim, clock(at)), fmt.Sprintf(" %6s ", number), word, " ", line[len(head):])
}

func printGap(p *printer, from, to uint64) {
	p.linef("… records %d to %d are gone: this reader was too slow, or they are no longer kept", from, to)
}

// nonEmpty drops the texts of a list that are "".
func nonEmpty(parts []string) []string {
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// about names a tool and the subject of its call.
func about(tool, subject string) string {
	if tool == "" || subject == "" {
		return tool + subject
	}
	return tool + ": " + subject
}

// triedMark stands in the place of the agent where a person tried hooks.
const triedMark = "(tried)"

// agentName is the shortest that identifies an agent.
func agentName(name, id string, d client.Dialect, tried bool) string {
	switch {
	case tried:
		return triedMark
	case name != "":
		return name
	case d != "" && d != client.Dialect("hookd"):
		return string(d)
	}
	return id
}

// past is a list from the history that the stream goes on with.
type past[T any] struct {
	typed  typed
	list   func(context.Context) ([]T, error) // newest first
	id     func(T) string
	record func(T) client.Record  // of the stream
	value  func(client.Record) *T // nil = the record is about something else
	fits   func(raw []byte) bool  // whether a record of the stream is asked for
}

// followPast prints the list, oldest first, and then the records that come. Where the stream
// stands is asked before the list is read, so nothing falls between.
func followPast[T any](a *app, cmd *cobra.Command, h past[T]) error {
	f := newFollower(a)
	from, err := f.begin(cmd)
	if err != nil {
		return err
	}
	ctx, cancel := a.answer(cmd)
	defer cancel()
	list, err := h.list(ctx)
	switch {
	case errors.Is(err, client.ErrRecent):
		f.say("%v", err)
	case err != nil:
		return err
	}
	if len(list) == 0 {
		if err := h.typed.misspelt(ctx, a.dial(cmd)); err != nil {
			f.say("%v: %s", err, explain(err).hint)
		}
	}
	show := func(v T) error {
		r := h.record(v)
		if a.format == "json" {
			return writeRecord(a, r.Type, v)
		}
		printRecordLine(f.p, r)
		return f.p.err
	}
	shown := map[string]bool{} // records since the question
	for _, v := range slices.Backward(list) {
		shown[h.id(v)] = h.record(v).Seq > *from.Since
		if err := show(v); err != nil {
			return err
		}
	}
	return f.run(cmd, from, func(r client.Record) {
		if v := h.value(r); v != nil && !shown[h.id(*v)] && h.fits(r.Raw) {
			f.p.err = show(*v)
		}
	})
}
