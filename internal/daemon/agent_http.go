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

// Listening that has failed is tried again after firstRetry, then after twice as long
// each time, up to lastRetry.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// agentHTTP serves http.listen, for agents that call hooks over HTTP. While it cannot
// listen it tries again, and status, doctor and the log say why. A nil agentHTTP is
// one that the settings do not ask for.
//
// If another process has the port, agents may have shown it the token. So the token is
// changed at once, but agents get the new one only when hookd has the port again:
// before, they would show that one to the other process, too.
type agentHTTP struct {
	options loopback.Options
	home    string
	share   func(token string) error
	log     *zap.Logger

	failure atomic.Pointer[api.Problem] // why it does not listen; nil = it does

	// Used by openAgentHTTP and run only.
	server *loopback.Server // nil = it does not listen
	held   bool             // another process has had the port since it last listened
	leaked bool             // the token may have been seen and is not changed yet
}

// openAgentHTTP listens if the settings say so, else it returns nil. Only an address
// that is no loopback address is an error.
func openAgentHTTP(c config.Config, o Options) (*agentHTTP, error) {
	if c.HTTPListen == "" {
		return nil, nil
	}
	a := &agentHTTP{
		options: loopback.Options{
			Listen:    c.HTTPListen,
			TokenFile: c.TokenFile(),
			Socket:    c.Socket,
			MaxBytes:  c.MaxEventBytes,
			Log:       o.Log,
		},
		home: c.Home, share: o.ShareToken, log: o.Log.Named("daemon"),
	}
	if err := a.listen(); errors.Is(err, loopback.ErrNotLoopback) {
		return nil, err
	}
	return a, nil
}

// listen makes the server, or records why it cannot.
func (a *agentHTTP) listen() error {
	server, err := a.newServer()
	if err != nil {
		a.fail(err)
		return err
	}
	a.server, a.held = server, false
	a.failure.Store(nil)
	return nil
}

// changeLeaked changes a token that may have been seen.
func (a *agentHTTP) changeLeaked() error {
	if !a.leaked {
		return nil
	}
	_, _, err := loopback.Rotate(a.options.TokenFile)
	a.leaked = err != nil
	return err
}

// newServer listens, and gives agents the current token. It first changes a token
// that other users could read.
func (a *agentHTTP) newServer() (*loopback.Server, error) {
	if _, err := loopback.Token(a.options.TokenFile); errors.Is(err, loopback.ErrExposed) {
		a.leaked = true
		a.log.Warn("others could read the HTTP token, so it is changed", zap.String("file", a.options.TokenFile))
	}
	if err := a.changeLeaked(); err != nil {
		return nil, err
	}
	server, err := loopback.Open(a.options)
	if err != nil {
		return nil, err
	}
	token, err := loopback.Token(a.options.TokenFile)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	if a.share == nil {
		return server, nil
	}
	if err := a.share(token); err != nil {
		a.log.Warn(
			"an agent may show an old HTTP token, and is refused then: type `hookd token rotate`",
			zap.Error(err),
		)
	}
	return server, nil
}

// fail records and logs why it does not listen, once for each reason, and changes a
// token that another process may have seen.
func (a *agentHTTP) fail(err error) {
	p := &api.Problem{
		File:    filepath.Join(a.home, "hookd.yaml"),
		Message: fmt.Sprintf("agents cannot call hooks over HTTP, so those that do reach no hook: %v", err),
		Hint:    "see what is in the way with `hookd doctor`; hookd tries again by itself",
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		p.Message += "; another process holds the port and may have been shown the token, which is changed"
		p.Hint = "stop that process, or set another port for http.listen, start hookd again and type " +
			"`hookd connect claude-code --http`; hookd opens the port by itself when it is free"
		a.leaked, a.held = a.leaked || !a.held, true
		if bad := a.changeLeaked(); bad != nil {
			p.Message += fmt.Sprintf(" before it is used again (%v)", bad)
		}
	}
	if old := a.failure.Swap(p); old == nil || old.Message != p.Message {
		a.log.Warn(p.Message, zap.String("hint", p.Hint))
	}
}

// problem returns why it does not listen; nil if it does, or need not.
func (a *agentHTTP) problem() *api.Problem {
	if a == nil {
		return nil
	}
	return a.failure.Load()
}

// state returns its state for status; nil if the settings do not ask for it.
func (a *agentHTTP) state() *api.HTTP {
	if a == nil {
		return nil
	}
	h := &api.HTTP{Listen: a.options.Listen, Open: true}
	if p := a.failure.Load(); p != nil {
		h.Open, h.Error = false, p.Message
	}
	return h
}

// run serves until ctx ends, and listens again after each failure.
func (a *agentHTTP) run(ctx context.Context) {
	if a == nil {
		return
	}
	for wait := firstRetry; ; {
		if a.server != nil {
			a.log.Info("agents may call hooks over HTTP", zap.String("address", a.server.Addr()))
			err := a.server.Serve(ctx)
			a.server, wait = nil, firstRetry
			if err == nil {
				return
			}
			a.fail(err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = min(2*wait, lastRetry)
		_ = a.listen() // fail has logged an error
	}
}
