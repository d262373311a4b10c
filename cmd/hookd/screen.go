package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// screen is the terminal while a program has the whole screen.
type screen struct {
	keys    <-chan string // each as it is pressed; an arrow is three bytes
	resized <-chan os.Signal
	ticks   <-chan time.Time
	close   func() // gives the terminal back as it was
}

// openScreen clears the terminal for a program, which paints at each tick. instead is the command to type where the
// program has no terminal. ctx ends with SIGINT and SIGTERM.
func (a *app) openScreen(ctx context.Context, every time.Duration, instead string) (context.Context, *screen, error) {
	in := int(a.in.Fd())
	was, err := term.MakeRaw(in)
	if err != nil {
		return nil, nil, fail(exitFailed, instead, "read keys: %w", err)
	}
	io.WriteString(a.out, "\x1b[?1049h\x1b[?25l")
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	ticker := time.NewTicker(every)
	return ctx, &screen{keys: a.readKeys(), resized: resized, ticks: ticker.C, close: func() {
		ticker.Stop()
		signal.Stop(resized)
		stop()
		io.WriteString(a.out, "\x1b[?25h\x1b[?1049l")
		term.Restore(in, was)
	}}, nil
}

// ticked is the key that time presses.
const ticked = "tick"

// next waits for a key; it is "" where the terminal has another size now. It reports whether ctx has ended.
func (s *screen) next(ctx context.Context) (key string, ended bool) {
	select {
	case <-ctx.Done():
		return "", true
	case key = <-s.keys:
	case <-s.resized:
	case <-s.ticks:
		key = ticked
	}
	return key, false
}

// quits reports whether a key ends each screen. Ctrl-C and Ctrl-D come as themselves from a raw terminal.
func quits(key string) bool { return slices.Contains([]string{"q", "Q", "\x03", "\x04"}, key) }

// fill draws a picture over the whole terminal: no line wraps, none scrolls. draw writes the head; of a height
// that is too small its last lines are left out. It returns the lines of the foot, which come at once below it.
func (a *app) fill(draw func(p *printer, height int) (foot []string)) error {
	width, height, err := term.GetSize(int(a.out.Fd()))
	if err != nil {
		return err
	}
	if width < 1 || height < 2 { // a terminal that does not tell its size
		width, height = 80, 24
	}
	var head, all bytes.Buffer
	p := a.printer(a.out)
	p.w, p.width, p.wide = &head, width, false
	foot := draw(p, height)
	all.WriteString("\x1b[H")
	lines := strings.Split(strings.TrimRight(head.String(), "\n"), "\n")
	for _, line := range lines[:max(0, min(len(lines), height-len(foot)))] {
		all.WriteString(line + "\x1b[K\r\n")
	}
	for i, line := range foot {
		foot[i] = p.paint(dim, cut(line, width, false)) + "\x1b[K"
	}
	all.WriteString(strings.Join(foot, "\r\n") + "\x1b[J")
	_, err = a.out.Write(all.Bytes())
	return err
}

// readKeys reads keys until the program ends: a read of a terminal cannot be called off, and
// each screen gets the keys of the only one.
func (a *app) readKeys() <-chan string {
	if a.keys != nil {
		return a.keys
	}
	keys := make(chan string)
	a.keys = keys
	go func() {
		var typed [16]byte
		for {
			n, err := a.in.Read(typed[:])
			if n == 0 || err != nil {
				return
			}
			for rest := typed[:n]; len(rest) > 0; {
				key := rest[:1]
				if rest[0] == 0x1b && len(rest) >= 3 && (rest[1] == '[' || rest[1] == 'O') {
					key = rest[:3]
				}
				keys <- string(key)
				rest = rest[len(key):]
			}
		}
	}()
	return keys
}
