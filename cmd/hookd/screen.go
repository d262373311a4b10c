package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// screen is the terminal while a program has the whole screen.
type screen struct {
	keys    <-chan string // each as it is pressed; an arrow is three bytes
	resized <-chan os.Signal
	close   func() // gives the terminal back as it was
}

// openScreen clears the terminal for a program. instead is the command to type where the program has
// no terminal. ctx ends with SIGINT and SIGTERM.
func (a *app) openScreen(ctx context.Context, instead string) (context.Context, *screen, error) {
	in := int(a.in.Fd())
	was, err := term.MakeRaw(in)
	if err != nil {
		return nil, nil, fail(exitFailed, instead, "read keys: %w", err)
	}
	io.WriteString(a.out, "\x1b[?1049h\x1b[?25l")
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	return ctx, &screen{keys: a.readKeys(), resized: resized, close: func() {
		signal.Stop(resized)
		stop()
		io.WriteString(a.out, "\x1b[?25h\x1b[?1049l")
		term.Restore(in, was)
	}}, nil
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
