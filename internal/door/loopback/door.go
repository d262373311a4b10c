package loopback

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/wire"
)

// Listening that has failed is tried again after firstRetry, then after twice as long
// each time, up to lastRetry.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// Door serves agents that call hooks over HTTP for as long as the daemon runs. While it
// cannot listen it tries again, and says why. A nil Door is one which the settings do
// not ask for: it is shut.
//
// If another process has the port, agents may have shown it the token. So the token is
// changed at once, but agents get the new one only when hookd has the port again:
// before, they would show the new token to the other process, too.
type Door struct {
	options DoorOptions
	log     *zap.Logger

	failure atomic.Pointer[wire.Problem] // why it does not listen; nil = it does

	// Used by OpenDoor and Run only.
	server *Server // nil = it does not listen
	held   bool    // another process has had the port since it last listened
	leaked bool    // the token may have been seen and is not changed yet
}

// DoorOptions are those of a Door. Listen is "" when the settings do not ask for one.
type DoorOptions struct {
	Options
	Home  string                   // whose hookd.yaml has the address
	Share func(token string) error // gives a new token to the agents; nil = nothing does
}

// OpenDoor listens if the options say so, else it returns nil. Only an address that is
// no loopback address is an error.
func OpenDoor(o DoorOptions) (*Door, error) {
	if o.Listen == "" {
		return nil, nil
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.For == (Purpose{}) {
		o.For = ForAgents
	}
	d := &Door{options: o, log: o.Log.Named("daemon")}
	if err := d.listen(); errors.Is(err, ErrNotLoopback) {
		return nil, err
	}
	return d, nil
}

// listen makes the server, or records why it cannot.
func (d *Door) listen() error {
	server, err := d.newServer()
	if err != nil {
		d.fail(err)
		return err
	}
	d.server, d.held = server, false
	d.failure.Store(nil)
	return nil
}

// changeLeaked changes a token that may have been seen.
func (d *Door) changeLeaked() error {
	if !d.leaked {
		return nil
	}
	_, _, err := Rotate(d.options.TokenFile)
	d.leaked = err != nil
	return err
}

// newServer listens, and gives agents the current token. It first changes a token
// that other users could read.
func (d *Door) newServer() (*Server, error) {
	if _, err := Token(d.options.TokenFile); errors.Is(err, ErrExposed) {
		d.leaked = true
		d.log.Warn("others could read the HTTP token, so it is changed", zap.String("file", d.options.TokenFile))
	}
	if err := d.changeLeaked(); err != nil {
		return nil, err
	}
	server, err := Open(d.options.Options)
	if err != nil {
		return nil, err
	}
	token, err := Token(d.options.TokenFile)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	if d.options.Share == nil {
		return server, nil
	}
	if err := d.options.Share(token); err != nil {
		d.log.Warn(
			"an agent may show an old HTTP token, and is refused then: type `hookd token rotate`",
			zap.Error(err),
		)
	}
	return server, nil
}

// fail records and logs why it does not listen, once for each reason, and changes a
// token that another process may have seen.
func (d *Door) fail(err error) {
	p := &wire.Problem{
		File:    filepath.Join(d.options.Home, "hookd.yaml"),
		Message: fmt.Sprintf("%s: %v", d.options.For.Shut, err),
		Hint:    "see what is in the way with `hookd doctor`; hookd keeps trying",
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		p.Message += "; another process holds the port and may have been shown the token, which is changed"
		p.Hint = "stop that process, or set another port for " + d.options.For.Setting + " and start hookd again"
		if d.options.For.Again != "" {
			p.Hint += ", then type " + d.options.For.Again
		}
		p.Hint += "; hookd opens the port as soon as it is free"
		d.leaked, d.held = d.leaked || !d.held, true
		if bad := d.changeLeaked(); bad != nil {
			p.Message += fmt.Sprintf(" before it is used again (%v)", bad)
		}
	}
	if old := d.failure.Swap(p); old == nil || old.Message != p.Message {
		d.log.Warn(p.Message, zap.String("hint", p.Hint))
	}
}

// Problem returns why it does not listen; nil if it does, or need not.
func (d *Door) Problem() *wire.Problem {
	if d == nil {
		return nil
	}
	return d.failure.Load()
}

// State returns its state for status; nil if the settings do not ask for it.
func (d *Door) State() *wire.HTTP {
	if d == nil {
		return nil
	}
	h := &wire.HTTP{Listen: d.options.Listen, Open: true}
	if p := d.failure.Load(); p != nil {
		h.Open, h.Error = false, p.Message
	}
	return h
}

// Close frees the address. It is for a Door whose Run is never called; nil has none.
func (d *Door) Close() error {
	if d == nil || d.server == nil {
		return nil
	}
	return d.server.Close()
}

// Run serves until ctx ends, and listens again after each failure.
func (d *Door) Run(ctx context.Context) {
	if d == nil {
		return
	}
	for wait := firstRetry; ; {
		if d.server != nil {
			d.log.Info(d.options.For.Open, zap.String("address", d.server.Addr()))
			err := d.server.Serve(ctx)
			d.server, wait = nil, firstRetry
			if err == nil {
				return
			}
			d.fail(err)
		}
		if !pause.For(wait, ctx.Done()) {
			return
		}
		wait = min(2*wait, lastRetry)
		_ = d.listen() // fail has logged an error
	}
}
