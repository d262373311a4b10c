package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookd/hookd/client"
)

// settleTime is how long a selection that no key has made must stand before it can be
// answered: a key that was meant for another ask must not answer this one.
const settleTime = 700 * time.Millisecond

const inboxHelp = `Each row is a call that waits. While this is open, an approver is present, so
hookd holds what hooks ask.

  up, down, k, j   select another call; scroll where all of the input is shown
  a                allow it, once
  d                deny it
  s                allow it, and the same call for the rest of its session
  Enter            show all of the input, and go back
  q, Ctrl-C        end; what waits goes on to wait

For other times, a glob or a message to the agent type in another terminal
  hookd allow-ask ASK --for 15m --like 'git push *' --message TEXT
Answers do not count from the terminal of the agent that asks.`

// inbox is the state of one `hookd asks` on a terminal.
type inbox struct {
	a      *app
	cmd    *cobra.Command
	client *client.Client

	asks     []client.Ask // that wait, the oldest first
	selected string       // id; "" = none
	settled  time.Time    // when the selection may be answered
	whole    bool         // all of the input is shown
	help     bool
	scroll   int
	note     string
	inputs   map[string]json.RawMessage // of asks whose input the stream left out
}

func runInbox(a *app, cmd *cobra.Command) error {
	b := &inbox{a: a, cmd: cmd, client: a.dial(cmd), inputs: map[string]json.RawMessage{}}
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
	ctx, screen, err := b.a.openScreen(b.cmd.Context(), "type `hookd asks | cat` for the list")
	if err != nil {
		return err
	}
	defer screen.close()
	records := b.follow(ctx)
	ticker := time.NewTicker(time.Second) // for the time that is left
	defer ticker.Stop()
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
		case <-ticker.C:
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
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
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
		delete(b.inputs, h.Ask.ID)
		b.note = about(h.Ask.Tool, h.Ask.Subject) + ": " + answeredWords(h.Ask.Answered)
	}
	if b.at() < 0 && len(b.asks) > 0 {
		b.choose(b.asks[0].ID)
	}
}

// choose selects an ask that no key has selected.
func (b *inbox) choose(id string) {
	b.selected, b.settled, b.whole, b.scroll = id, time.Now().Add(settleTime), false, 0
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
	case "q", "Q", "\x03", "\x04": // Ctrl-C and Ctrl-D come as themselves from a raw terminal
		return true
	case "?":
		b.help = true
	case "\r", "\n":
		b.whole, b.scroll = !b.whole, 0
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
	return false
}

func (b *inbox) move(by int) {
	if b.whole {
		b.scroll = max(0, b.scroll+by)
		return
	}
	if len(b.asks) > 0 {
		b.selected = b.asks[min(max(b.at()+by, 0), len(b.asks)-1)].ID
		b.settled = time.Time{}
	}
}

func (b *inbox) answer(ctx context.Context, r client.AskReply) {
	at := b.at()
	if at < 0 {
		return
	}
	if time.Now().Before(b.settled) {
		b.note = "another call is selected now: look at it, and press the key again"
		return
	}
	ctx, cancel := context.WithTimeout(ctx, b.a.within)
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

// input is all of the input of the selected ask.
func (b *inbox) input(ask client.Ask) json.RawMessage {
	if ask.Input != nil || ask.Bytes == 0 {
		return ask.Input
	}
	if b.inputs[ask.ID] == nil {
		ctx, cancel := context.WithTimeout(b.cmd.Context(), b.a.within)
		defer cancel()
		if all, err := b.client.Ask(ctx, ask.ID); err == nil {
			b.inputs[ask.ID] = all.Input
		}
	}
	return b.inputs[ask.ID]
}

// paint draws the picture and fills the screen with it: no line wraps, none scrolls.
func (b *inbox) paint() error {
	width, height, err := term.GetSize(int(b.a.out.Fd()))
	if err != nil {
		return err
	}
	if width < 1 || height < 2 { // a terminal that does not tell its size
		width, height = 80, 24
	}
	p := b.a.printer(b.a.out)
	p.width, p.wide = width, false
	lines, keys := b.picture(p, width, height-1)
	foot := []string{cut(keys, width, false)}
	if b.note != "" {
		foot = wrapped(b.note, width)
		foot = foot[:min(len(foot), max(1, height/2))]
	}
	var out strings.Builder
	out.WriteString("\x1b[H")
	for _, line := range lines[:min(len(lines), height-len(foot))] {
		out.WriteString(line + "\x1b[K\r\n")
	}
	for i, line := range foot {
		foot[i] = p.paint(dim, line) + "\x1b[K"
	}
	out.WriteString(strings.Join(foot, "\r\n") + "\x1b[J")
	_, err = io.WriteString(b.a.out, out.String())
	return err
}

// picture returns the lines of the screen, and what its last line says of keys.
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
	list := b.list(p, at, max(3, height/2-3))
	detail := b.drawn(p, func(p *printer) {
		ask := b.asks[at]
		ask.Input = nil
		p.line()
		p.ask(ask)
	})
	detail = detail[:min(len(detail), max(4, height-len(list)-4))]
	input := broken(inputLines(b.input(b.asks[at])), width-2)
	lines = append(append(list, detail...), p.paint(bold, "input"))
	keys = "a allow   d deny   s session   Enter input   ? help   q quit"
	room := max(0, height-len(lines))
	if len(input) > room {
		keys = fmt.Sprintf("%d more lines of input: Enter   %s", len(input)-room, keys)
		input = input[:room]
	}
	for _, line := range input {
		lines = append(lines, "  "+line)
	}
	return lines, keys
}

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
	input := broken(inputLines(b.input(ask)), width)
	b.scroll = min(b.scroll, max(0, len(input)-height+2))
	lines = append(lines, p.paint(bold, cut("input of "+about(ask.Tool, ask.Subject), width, false)), "")
	lines = append(lines, input[b.scroll:min(len(input), b.scroll+max(1, height-2))]...)
	keys = "a allow   d deny   s session   Enter back"
	if more := len(input) - b.scroll - (height - 2); more > 0 {
		keys = fmt.Sprintf("%d more lines: down   %s", more, keys)
	}
	return lines, keys
}

// drawn is what draw prints, as lines.
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

// inputLines are the arguments of a call as a person reads them: a text as it is, with
// its lines; everything else as JSON. Nothing in them does anything on a terminal.
func inputLines(input json.RawMessage) (lines []string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		return strings.Split(escape(string(input), keepNewlines), "\n")
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(a, b) })
	for _, name := range names {
		var value string
		if json.Unmarshal(members[name], &value) != nil {
			var indented bytes.Buffer
			if json.Indent(&indented, members[name], "", "  ") != nil {
				indented.Write(members[name])
			}
			value = indented.String()
		}
		value = strings.ReplaceAll(value, "\t", "    ")
		parts := strings.Split(escape(value, keepNewlines), "\n")
		lines = append(lines, escape(name, keepNothing)+": "+parts[0])
		for _, part := range parts[1:] {
			lines = append(lines, "  "+part)
		}
	}
	return lines
}

// broken breaks lines at width: none of an input may be out of sight.
func broken(lines []string, width int) (out []string) {
	for _, line := range lines {
		for {
			part := runewidth.Truncate(line, max(2, width), "")
			out = append(out, part)
			if line = line[len(part):]; line == "" {
				break
			}
		}
	}
	return out
}
