package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/loopback"
)

// How long a door that is shut waits before it is tried again.
const (
	firstDoorWait = 250 * time.Millisecond
	mostDoorWait  = 30 * time.Second
)

// door is http.listen: open for agents that call hooks over HTTP, or shut until
// what is in its way is gone, which status, doctor and the log tell. A nil door
// is one that is not asked for.
//
// Where another process holds the port, agents may have shown it the token: it
// is changed at once, and agents get the new one when the door is open again,
// not before, as they would show that one to the other process, too.
type door struct {
	options loopback.Options
	home    string
	share   func(token string) error
	log     *zap.Logger

	shut atomic.Pointer[api.Problem] // why it is shut; nil = open

	// What follows is touched by openDoor and run alone.
	open   *loopback.Door // nil = shut
	held   bool           // another process has had the port since the door was open
	leaked bool           // that process may have been shown the token, which is still the same
}

// openDoor opens the door that the settings ask for; nil if they ask for none.
// Only an address that could never do is an error.
func openDoor(c config.Config, o Options) (*door, error) {
	if c.HTTPListen == "" {
		return nil, nil
	}
	d := &door{
		options: loopback.Options{
			Listen:    c.HTTPListen,
			TokenFile: c.TokenFile(),
			Socket:    c.Socket,
			MaxBytes:  c.MaxEventBytes,
			Log:       o.Log,
		},
		home: c.Home, share: o.ShareToken, log: o.Log.Named("daemon"),
	}
	if err := d.try(); errors.Is(err, loopback.ErrNotLoopback) {
		return nil, err
	}
	return d, nil
}

// try opens the door, or notes why it stays shut.
func (d *door) try() error {
	open, err := d.unlock()
	if err != nil {
		d.keepShut(err)
		return err
	}
	d.open, d.held = open, false
	d.shut.Store(nil)
	return nil
}

// void changes a token that may have been seen.
func (d *door) void() error {
	if !d.leaked {
		return nil
	}
	_, _, err := loopback.Rotate(d.options.TokenFile)
	d.leaked = err != nil
	return err
}

// unlock listens, and has agents know the token that counts. One that others
// could read counts no more.
func (d *door) unlock() (*loopback.Door, error) {
	if _, err := loopback.Token(d.options.TokenFile); errors.Is(err, loopback.ErrExposed) {
		d.leaked = true
		d.log.Warn("others could read the HTTP token, so it is changed", zap.String("file", d.options.TokenFile))
	}
	if err := d.void(); err != nil {
		return nil, err
	}
	open, err := loopback.Open(d.options)
	if err != nil {
		return nil, err
	}
	token, err := loopback.Token(d.options.TokenFile)
	if err != nil {
		return nil, errors.Join(err, open.Close())
	}
	if d.share == nil {
		return open, nil
	}
	if err := d.share(token); err != nil {
		d.log.Warn(
			"an agent may show an old HTTP token, and is refused then: type `hookd token rotate`",
			zap.Error(err),
		)
	}
	return open, nil
}

// keepShut tells why the door is shut, once for each reason, and voids the
// token that another process may have seen.
func (d *door) keepShut(err error) {
	p := &api.Problem{
		File: filepath.Join(
			d.home,
			"hookd.yaml",
		), Message: fmt.Sprintf("agents cannot call hooks over HTTP, so those that do reach no hook: %v", err),
		Hint: "see what is in the way with `hookd doctor`; hookd tries again by itself",
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		p.Message += "; another process holds the port and may have been shown the token, which is changed"
		p.Hint = "stop that process, or set another port for http.listen, start hookd again and type `hookd connect claude-code --http`; hookd opens the port by itself when it is free"
		d.leaked, d.held = d.leaked || !d.held, true
		if bad := d.void(); bad != nil {
			p.Message += fmt.Sprintf(" before it is used again (%v)", bad)
		}
	}
	if old := d.shut.Swap(p); old == nil || old.Message != p.Message {
		d.log.Warn(p.Message, zap.String("hint", p.Hint))
	}
}

// problem is why the door is shut; nil if it is open, or not asked for.
func (d *door) problem() *api.Problem {
	if d == nil {
		return nil
	}
	return d.shut.Load()
}

// state is how the door is, for status; nil if it is not asked for.
func (d *door) state() *api.HTTP {
	if d == nil {
		return nil
	}
	h := &api.HTTP{Listen: d.options.Listen, Open: true}
	if p := d.shut.Load(); p != nil {
		h.Open, h.Error = false, p.Message
	}
	return h
}

// run serves, and opens the door again whenever it is shut, until ctx ends.
func (d *door) run(ctx context.Context) {
	if d == nil {
		return
	}
	for wait := firstDoorWait; ; {
		if d.open != nil {
			d.log.Info("agents may call hooks over HTTP", zap.String("address", d.open.Addr()))
			err := d.open.Serve(ctx)
			d.open, wait = nil, firstDoorWait
			if err == nil {
				return
			}
			d.keepShut(err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = min(2*wait, mostDoorWait)
		_ = d.try() // what keeps it shut is told
	}
}
