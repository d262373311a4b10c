package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/people/card"
)

// shutTime is how long the screen must stand before an ask can be answered, and how
// long no answer key may have come: a key that was meant for another ask, or is held,
// answers none.
const shutTime = 500 * time.Millisecond

const inboxHelp = `Each row is a call that waits. While this is open, an approver is present, so
hookd holds what hooks ask.

  up, down, k, j   select another call; scroll where all of the input is shown
  Enter            show all of the input, and go back
  Space            a page further
  a                allow it, once, after all of the input was on the screen
  s                allow it, and the same call for the rest of its session
  d                deny it
  q, Ctrl-C        end; what waits goes on to wait

For other times, a glob or a message to the agent type in another terminal
  hookd ask ASK
Answers do not count from the terminal of the agent that asks.`

// inbox is the state of one `hookd ask` on a terminal.
type inbox struct {
	a      *app
	cmd    *cobra.Command
	client *client.Client

	asks     []client.Ask // that wait, the oldest first
	selected string       // id; "" = none
	opens    time.Time    // when the selection may be answered
	pressed  time.Time    // when an answer key came last
	whole    bool         // all of the input is shown
	help     bool
	scroll   int
	page     int // lines of a page of the input
	note     string
	cards    map[string]*wholeCard // of asks that were selected
}

// wholeCard is a card with all of the input, and which of its lines were on the screen.
type wholeCard struct {
	*client.Card
	columns int
	lines   []string
	seen    []bool
}

// unseen is how many lines were not on the screen yet.
func (w *wholeCard) unseen() (n int) {
	for _, seen := range w.seen {
		if !seen {
			n++
		}
	}
	return n
}

// draw draws the input for so many columns. Where the width has changed, nothing was
// seen yet.
func (w *wholeCard) draw(columns int) []string {
	if w.columns != columns {
		w.lines, _ = card.Draw(w.What, columns)
		w.columns, w.seen = columns, make([]bool, len(w.lines))
	}
	return w.lines
}

func runInbox(a *app, cmd *cobra.Command) error {
	b := &inbox{a: a, cmd: cmd, client: a.dial(cmd), cards: map[string]*wholeCard{}}
	ctx, cancel := a.answer(cmd)
	_, err := b.client.Asks(ctx)
	cancel()
	if err != nil {
		return err
	}
	return b.live()
}

// live draws until q, on a screen of its own.
func (b *inbox) live() error {
	ctx, screen, err := b.a.openScreen(b.cmd.Context(), time.Second, "type `hookd ask | cat` for the list")
	if err != nil {
		return err
	}
	defer screen.close()
	records := b.follow(ctx)
	for {
		if err := b.paint(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case key := <-screen.keys:
			if b.press(ctx, key) {
				return nil
			}
		case r := <-records:
			b.hear(r)
		case <-screen.resized:
		case <-screen.ticks: // for the time that is left
		}
	}
}

// heard is a record, or why there are none any more.
type heard struct {
	client.AskRecord
	err error
}

// follow follows asks until ctx ends, and begins again where the daemon has gone.
func (b *inbox) follow(ctx context.Context) <-chan heard {
	records := make(chan heard)
	give := func(h heard) bool {
		select {
		case records <- h:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		for ctx.Err() == nil {
			for r, err := range b.client.FollowAsks(ctx, true) {
				if !give(heard{r, err}) || err != nil {
					break
				}
			}
			pause.For(time.Second, ctx.Done())
		}
	}()
	return records
}

// hear takes in a record.
func (b *inbox) hear(h heard) {
	if h.err != nil {
		b.asks = nil
		b.note = "hookd does not answer, waiting: " + h.err.Error()
		if errors.Is(h.err, io.ErrUnexpectedEOF) {
			b.note = "hookd has gone, waiting for it"
		}
		b.choose("")
		return
	}
	drop := func(id string) {
		b.asks = slices.DeleteFunc(b.asks, func(a client.Ask) bool { return a.ID == id })
	}
	switch h.Type {
	case client.AskOpen:
		b.asks, b.note = nil, ""
	case client.AskHeld:
		drop(h.Ask.ID)
		b.asks = append(b.asks, h.Ask)
	case client.AskAnswerIn:
		drop(h.Ask.ID)
		delete(b.cards, h.Ask.ID)
		b.note = about(h.Ask.Tool, h.Ask.Subject) + ": " + answeredWords(h.Ask.Answered)
	}
	b.shut() // rows have moved
	if b.at() < 0 && len(b.asks) > 0 {
		b.choose(b.asks[0].ID)
	}
}

// shut shuts the answers for a moment: the screen has changed.
func (b *inbox) shut() { b.opens = time.Now().Add(shutTime) }

// choose selects an ask.
func (b *inbox) choose(id string) {
	b.selected, b.whole, b.scroll = id, false, 0
	b.shut()
}

// at is the index of the selected ask; -1 = there is none.
func (b *inbox) at() int {
	return slices.IndexFunc(b.asks, func(a client.Ask) bool { return a.ID == b.selected })
}

// press acts on a key, and reports whether it ends the inbox.
func (b *inbox) press(ctx context.Context, key string) bool {
	if b.help && key != "q" && key != "\x03" {
		b.help = false
		return false
	}
	b.note = ""
	switch key {
	case "?":
		b.help = true
	case "\r", "\n":
		b.whole, b.scroll = !b.whole, 0
		b.shut()
	case " ":
		b.whole, b.scroll = true, b.scroll+b.page
	case "j", "\x1b[B", "\x1bOB":
		b.move(1)
	case "k", "\x1b[A", "\x1bOA":
		b.move(-1)
	case "a":
		b.answer(ctx, client.AskReply{Answer: client.OutcomeAllow})
	case "s":
		b.answer(ctx, client.AskReply{Answer: client.OutcomeAllow, For: "session"})
	case "d":
		b.answer(ctx, client.AskReply{Answer: client.OutcomeDeny})
	}
	return quits(key)
}

func (b *inbox) move(by int) {
	if b.whole {
		b.scroll = max(0, b.scroll+by)
		return
	}
	if len(b.asks) > 0 {
		b.choose(b.asks[min(max(b.at()+by, 0), len(b.asks)-1)].ID)
	}
}

func (b *inbox) answer(ctx context.Context, r client.AskReply) {
	at := b.at()
	if at < 0 {
		return
	}
	if r.Answer == client.OutcomeAllow {
		whole := b.card(b.asks[at])
		if why := whole.shut(); why != "" {
			b.note = "it cannot be allowed yet: " + why
			return
		}
		r.Digest = whole.Digest
	}
	now, before := time.Now(), b.pressed
	if b.pressed = now; now.Before(b.opens) || now.Sub(before) < shutTime {
		b.note = "the screen has just changed, or a key was pressed twice: look, and press the key again"
		return
	}
	ctx, cancel := context.WithTimeout(ctx, b.a.patience)
	defer cancel()
	r.Door = "terminal"
	ask := b.asks[at]
	if _, err := b.client.AnswerAsk(ctx, ask.ID, r); err != nil {
		b.note = err.Error()
		var refused *client.Error
		if errors.As(err, &refused) && refused.Hint != "" {
			b.note += " (" + refused.Hint + ")"
		}
	}
}

// card is the whole card of an ask; without one, a short one.
func (b *inbox) card(ask client.Ask) *wholeCard {
	if known := b.cards[ask.ID]; known != nil && known.Whole {
		return known
	}
	found := ask.Card
	if found == nil || !found.Whole {
		ctx, cancel := context.WithTimeout(b.cmd.Context(), b.a.patience)
		defer cancel()
		if all, err := b.client.Ask(ctx, ask.ID); err == nil && all.Card != nil {
			found = all.Card
		}
	}
	if found == nil {
		found = &client.Card{}
	}
	b.cards[ask.ID] = &wholeCard{Card: found}
	return b.cards[ask.ID]
}

// shut says why the call cannot be allowed yet; "" = it can.
func (w *wholeCard) shut() string {
	switch left := w.unseen(); {
	case !w.Whole || w.Digest == "":
		return "only a part is here"
	case w.columns == 0 || left > 0:
		return fmt.Sprintf("%d of %d lines were on the screen (Enter, then Space)", len(w.seen)-left, len(w.seen))
	}
	return ""
}

// paint draws the picture, with a note and the keys below it.
func (b *inbox) paint() error {
	return b.a.fill(func(p *printer, height int) (foot []string) {
		if b.note != "" {
			foot = wrapped(b.note, p.width)
			foot = foot[:min(len(foot), max(1, height/3))]
		}
		lines, keys := b.picture(p, p.width, height-len(foot)-1)
		for _, line := range lines {
			p.line(line)
		}
		return append(foot, keys)
	})
}

// picture returns the lines of the screen, and the keys that its last line names.
func (b *inbox) picture(p *printer, width, height int) (lines []string, keys string) {
	at := b.at()
	switch {
	case b.help:
		return strings.Split(inboxHelp, "\n"), "any key: back"
	case at < 0:
		return []string{p.paint(bold, "asks"), "", "No call waits for an answer. While this is open, an approver is present:",
			"hookd holds what hooks ask."}, "q quit   ? help"
	case b.whole:
		return b.wholeInput(p, b.asks[at], width, height)
	}
	ask := b.asks[at]
	whole := b.card(ask)
	list := b.list(p, at, max(1, min(5, height/4)))
	says := b.saysLines(p, whole.Card, width, max(6, height/2))
	room := max(1, height-len(list)-len(says)-2)
	all := whole.draw(width)
	shown := all
	if len(all) > room {
		short := whole.Card
		if ask.Card != nil {
			short = ask.Card
		}
		if shown, _ = card.Draw(short.What, width); len(shown) > room {
			more := fmt.Sprintf(" ╱╱╱  %d more lines of the screen: Enter", len(all)-room+1)
			shown = append(shown[:max(0, room-1)], more)
		}
	} else {
		whole.saw(0, len(all))
	}
	lines = append(append(append(list, p.rule(width)), shown...), p.rule(width))
	return append(lines, says...), b.keys(whole, "Enter all   ? help   q quit")
}

// saw notes lines that are on the screen.
func (w *wholeCard) saw(from, to int) {
	for i := from; i < to; i++ {
		w.seen[i] = true
	}
}

// keys says which answers there are, and why Allow is shut.
func (b *inbox) keys(w *wholeCard, more string) string {
	allow := "a allow   s session"
	if why := w.shut(); why != "" {
		allow = "allow: " + why
	} else if w.Hidden {
		allow = "a allow"
	}
	return "d deny   " + allow + "   " + more
}

// saysLines are the sentences of a card, at most so many lines.
func (b *inbox) saysLines(p *printer, c *client.Card, width, most int) []string {
	lines := b.drawn(p, func(p *printer) { printCardSays(p, c) })
	return lines[:min(len(lines), most)]
}

func (p *printer) rule(width int) string { return strings.Repeat("─", width) }

// list draws the rows around the selected one.
func (b *inbox) list(p *printer, at, room int) []string {
	first := max(0, min(at-room/2, len(b.asks)-room))
	shown := b.asks[first:min(len(b.asks), first+room)]
	lines := b.drawn(p, func(p *printer) {
		p.line(p.paint(bold, fmt.Sprintf("asks: %d wait", len(b.asks))))
		var rows [][]cell
		for _, ask := range shown {
			mark := text(" ")
			if ask.ID == b.selected {
				mark = text(">")
			}
			rows = append(rows, []cell{mark, text(left(ask)), text(ask.Agent), text(ask.Hook),
				text(about(ask.Tool, ask.Subject))})
		}
		p.table([]column{
			{title: ""}, {title: "LEFT"}, asideColumn("AGENT"), hookColumn("HOOK"), textColumn("SUBJECT"),
		}, rows)
	})
	return lines
}

func (b *inbox) wholeInput(p *printer, ask client.Ask, width, height int) (lines []string, keys string) {
	whole := b.card(ask)
	all := whole.draw(width)
	b.page = max(1, height-2)
	b.scroll = max(0, min(b.scroll, len(all)-b.page))
	end := min(len(all), b.scroll+b.page)
	whole.saw(b.scroll, end)
	title := fmt.Sprintf("%s  lines %d to %d of %d", about(ask.Tool, ask.Subject), b.scroll+1, end, len(all))
	lines = append(lines, p.paint(bold, cut(title, width, false)), p.rule(width))
	return append(lines, all[b.scroll:end]...), b.keys(whole, "Space on   Enter back")
}

// drawn returns the output of draw, as lines.
func (b *inbox) drawn(p *printer, draw func(*printer)) []string {
	var out bytes.Buffer
	q := *p
	q.w, q.colours = &out, false // a line with colours cannot be cut
	draw(&q)
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(out.String(), "\n"), "\n") {
		lines = append(lines, cut(line, p.width, false))
	}
	return lines
}
