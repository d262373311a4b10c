// Package client speaks to hookd over its socket: it sends events, waits for
// verdicts, follows the stream and asks what there is. It is how the hookd
// commands do it, and for Go programs that want the same.
//
//	c := client.New(client.Options{})
//	answer, err := c.Emit(ctx, client.Event{Event: "agent:end", Data: data})
//
// Every call dials a connection of its own and waits for the answer, so a
// Client holds nothing, needs no Close, may be used by many goroutines and
// outlives a restart of the daemon. Dial gives one connection for many events.
//
// Nothing is retried: a call that failed after it was sent may have been
// accepted. An Event with an ID can be sent again, hookd takes it once.
//
// Errors: ErrNotRunning when nothing listens, ErrTimeout when ctx's deadline or
// Options.Timeout passed first, ctx's own error when it was cancelled, and a
// *Error when hookd refused.
//
// The package does not import net/http: programs that an agent starts for
// each of its events would pay for it at every start.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/verdict"
)

// What is sent and received, by names that other modules can use.
type (
	Event      = events.Envelope // an event as it is sent
	Dialect    = events.Dialect  // whose names an event uses
	Answer     = api.Answer      // to an event
	RunResult  = api.RunResult   // of a run, in an Answer
	Verdict    = verdict.Verdict // the merged answer of the hooks
	Error      = events.Error    // a refusal
	Code       = events.Code     // of a refusal
	Hook       = api.Hook        // a hook as the daemon has it
	HookList   = api.Hooks       // all of them
	Problem    = api.Problem     // in a hook's file
	TestResult = api.Tested      // of a hook that was tried
	Run        = events.Run      // the record of a run
	Output     = events.Output   // of a run
	RunQuery   = api.RunQuery    // which runs
	Reloaded   = api.Reload      // what a reload did
	DaemonInfo = api.Status      // how the daemon is
)

var (
	// ErrNotRunning says that nothing listens on the socket.
	ErrNotRunning = errors.New("hookd is not running")
	// ErrTimeout says that no answer came in time.
	ErrTimeout = errors.New("no answer from hookd in time")
)

// Options of a Client; the zero value is that of the user's own daemon.
type Options struct {
	Socket  string        // path; "" = DefaultSocket()
	Timeout time.Duration // of each call but Tail, besides ctx's; 0 = none
}

// A Client sends requests to one daemon.
type Client struct {
	socket  string
	timeout time.Duration
}

// New makes a Client. It does not dial.
func New(opt Options) *Client {
	if opt.Socket == "" {
		opt.Socket = DefaultSocket()
	}
	return &Client{socket: opt.Socket, timeout: opt.Timeout}
}

// DefaultSocket is $HOOKD_SOCKET, else hookd.sock in $LIBREFANG_HOME, else in
// ~/.librefang.
func DefaultSocket() string {
	if path := os.Getenv("HOOKD_SOCKET"); path != "" {
		return path
	}
	home := os.Getenv("LIBREFANG_HOME")
	if home == "" {
		user, _ := os.UserHomeDir() // without $HOME, the working directory
		home = filepath.Join(user, ".librefang")
	}
	return filepath.Join(home, "hookd.sock")
}

// Socket returns the path that the Client dials.
func (c *Client) Socket() string { return c.socket }

// Emit sends one event and returns its answer: at once when it was accepted,
// or, with ev.Wait, when its runs have ended.
func (c *Client) Emit(ctx context.Context, ev Event) (Answer, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	conn, err := c.Dial(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer conn.Close()
	if err := conn.Send(ctx, ev); err != nil {
		return Answer{}, err
	}
	return conn.Receive(ctx)
}

// Hooks lists the hooks in registration order.
func (c *Client) Hooks(ctx context.Context) (HookList, error) {
	return get[HookList](ctx, c, api.PathHooks)
}

// Hook returns the hook with this name.
func (c *Client) Hook(ctx context.Context, name string) (Hook, error) {
	return get[Hook](ctx, c, api.PathHooks+"/"+escape(name))
}

// Test runs a hook now with ev and returns everything it did. An ev without a
// name takes the hook's first pattern that is one.
func (c *Client) Test(ctx context.Context, name string, ev Event) (TestResult, error) {
	return post[TestResult](ctx, c, api.PathHooks+"/"+escape(name)+"/test", ev)
}

// Reload makes the daemon read its hooks again. Where some were rejected, the
// error is a *Error with the code "rejected", and the Reloaded is complete.
func (c *Client) Reload(ctx context.Context) (Reloaded, error) {
	reply, err := c.request(ctx, "POST", api.PathReload, nil)
	if err != nil {
		return Reloaded{}, err
	}
	if reply.status != 422 {
		return decode[Reloaded](reply)
	}
	out, err := unmarshal[Reloaded](reply.body)
	if err != nil || out.Problems == nil {
		return Reloaded{}, reply.refusal()
	}
	return out, &Error{Code: events.CodeRejected, Message: "some hooks were rejected", Hint: "see the problems with: hookd list"}
}

// Runs lists finished runs, newest first.
func (c *Client) Runs(ctx context.Context, q RunQuery) ([]Run, error) {
	path := api.PathRuns
	if query := q.Values().Encode(); query != "" {
		path += "?" + query
	}
	out, err := get[api.Runs](ctx, c, path)
	return out.Runs, err
}

// Run returns the record of one run, with what it printed.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	return get[Run](ctx, c, api.PathRuns+"/"+escape(id))
}

// Status tells how the daemon is.
func (c *Client) Status(ctx context.Context) (DaemonInfo, error) {
	return get[DaemonInfo](ctx, c, api.PathStatus)
}

// Ready returns nil when the daemon has booted and takes events; the error
// says why it does not.
func (c *Client) Ready(ctx context.Context) error {
	reply, err := c.request(ctx, "GET", api.PathReadyz, nil)
	if err != nil || reply.status == 200 {
		return err
	}
	state, err := unmarshal[api.Ready](reply.body)
	if err != nil || state.Reason == "" {
		return reply.refusal()
	}
	return fmt.Errorf("hookd is not ready: %s", state.Reason)
}

func (c *Client) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.timeout)
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.socket)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w (socket %s)", ErrNotRunning, c.socket)
	}
	return nil, c.explain(ctx, "dial", err)
}

// explain says why op failed: ctx's end closes the connection, which is only
// how it was done. Of a daemon that hung up, the error is io.ErrUnexpectedEOF.
func (c *Client) explain(ctx context.Context, op string, err error) error {
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("%w (socket %s)", ErrTimeout, c.socket)
	case cause != nil:
		return cause
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%s: hookd closed the connection (socket %s): %w", op, c.socket, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s (socket %s): %w", op, c.socket, err)
}
