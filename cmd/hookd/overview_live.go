package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookd/hookd/client"
)

// overviewEvery is the time between two pictures of the living screen.
const overviewEvery = time.Second

const overviewKeys = "enter open  p permit  z snooze  a answer  u undo  ? help  q quit"

// living is the state of `hookd` on a terminal.
type living struct {
	a        *app
	cmd      *cobra.Command
	o        *overview
	selected string // event id of a denied call; "" = the newest
	confirm  func() []string
	question string // what y confirms; "" = nothing
	note     string
}

// liveOverview draws until q, on a screen of its own, and returns the last picture.
func liveOverview(a *app, cmd *cobra.Command, o *overview) (*overview, error) {
	l := &living{a: a, cmd: cmd, o: o}
	const instead = "type `hookd | cat` for one picture"
	ctx, screen, err := a.openScreen(cmd.Context(), overviewEvery, instead)
	if err != nil {
		return o, err
	}
	defer func() { screen.close() }()
	for {
		if err := l.paint(); err != nil {
			return l.o, err
		}
		key, ended := screen.next(ctx)
		if ended {
			return l.o, nil
		}
		if key != ticked {
			line, end := l.press(key)
			if end {
				return l.o, nil
			}
			if line == nil {
				continue
			}
			screen.close()
			l.run(line, screen.keys)
			if ctx, screen, err = a.openScreen(cmd.Context(), overviewEvery, instead); err != nil {
				return l.o, err
			}
		}
		l.o = lookAround(a, cmd)
	}
}

// run runs a command line of hookd as if it was typed, and waits for a key unless that command had
// the screen itself.
func (l *living) run(line []string, keys <-chan string) {
	fmt.Fprintf(l.a.out, "$ hookd %s\n", strings.Join(line, " "))
	sub := newApp(l.a.in, l.a.out, l.a.errOut)
	sub.keys = l.a.keys
	sub.run(l.cmd.Context(), slices.Concat(line, l.socket()))
	if line[0] == "ask" {
		return
	}
	was, err := term.MakeRaw(int(l.a.in.Fd()))
	if err != nil {
		return
	}
	defer term.Restore(int(l.a.in.Fd()), was)
	io.WriteString(l.a.out, "\r\nany key goes back\r\n")
	select {
	case <-keys:
	case <-l.cmd.Context().Done():
	}
}

// socket is the flag that a person has typed for the daemon's socket.
func (l *living) socket() []string {
	if flag := l.cmd.Flags().Lookup("socket"); flag != nil && flag.Changed {
		return []string{"--socket", flag.Value.String()}
	}
	return nil
}

// at is the selected call; nil = none was denied today.
func (l *living) at() *client.Decision {
	for i, d := range l.o.Denied {
		if d.EventID == l.selected {
			return &l.o.Denied[i]
		}
	}
	if len(l.o.Denied) == 0 {
		return nil
	}
	return &l.o.Denied[0]
}

// move selects the call that is so many further down.
func (l *living) move(by int) {
	now := l.at()
	if now == nil {
		return
	}
	at := slices.IndexFunc(l.o.Denied, func(d client.Decision) bool { return d.EventID == now.EventID })
	l.selected = l.o.Denied[min(max(at+by, 0), len(l.o.Denied)-1)].EventID
}

// press acts on a key: it returns a command line to run, or that the screen ends.
func (l *living) press(key string) (line []string, end bool) {
	if key == "" { // the terminal has another size
		return nil, false
	}
	if l.question != "" {
		confirmed := l.confirm
		l.question, l.confirm = "", nil
		if key == "y" || key == "Y" {
			return confirmed(), false
		}
		l.note = "nothing was changed"
		return nil, false
	}
	l.note = ""
	d := l.at()
	switch key {
	case "j", "\x1b[B", "\x1bOB":
		l.move(1)
	case "k", "\x1b[A", "\x1bOA":
		l.move(-1)
	case "a":
		if len(l.o.Waiting) > 0 {
			return []string{"ask"}, false
		}
		l.note = "nothing waits for an answer"
	case "?":
		return []string{"--help"}, false
	case "\r", "\n", "w", "p", "z", "u":
		if d == nil {
			l.note = "no call was denied today"
			return nil, false
		}
		return l.act(key, d), false
	}
	return nil, quits(key)
}

// act returns the command line for a key on a denied call. A key that makes a guard weaker asks first.
func (l *living) act(key string, d *client.Decision) []string {
	id := ending(d.EventID)
	switch key {
	case "p":
		l.ask("let the next same call pass once?", []string{"permit", id})
	case "z":
		if len(d.DecidedBy) == 0 {
			l.note = "no guard decided it"
			return nil
		}
		l.ask("switch "+d.DecidedBy[0]+" off for an hour?", []string{"snooze", d.DecidedBy[0], "1h"})
	case "u":
		return []string{"undo"}
	default:
		return []string{"why", id}
	}
	return nil
}

// ask wants a y before a command line is run.
func (l *living) ask(question string, line []string) {
	l.question = escape(question, keepNothing) + " [y/N]"
	l.confirm = func() []string { return line }
}

// paint draws the picture, with the calls that were denied today.
func (l *living) paint() error {
	return l.a.fill(func(p *printer, _ int) []string {
		printOverview(p, l.o)
		if d := l.at(); d != nil {
			p.line()
			p.line(p.paint(bold, "denied today"))
			for _, call := range l.o.Denied[:min(len(l.o.Denied), 5)] {
				mark := "  "
				if call.EventID == d.EventID {
					mark = "> "
				}
				who := agentName(call.AgentName, call.AgentID, call.Dialect, call.Tried)
				at := decidedAt(call).Local().Format("15:04")
				parts := []string{at, who, call.Subject, reasons(call)}
				p.line(p.fit(mark + escape(strings.Join(parts, "  "), keepNothing)))
			}
		}
		return []string{cmp.Or(l.question, l.note, overviewKeys)}
	})
}
