// Package client speaks to hookd over its socket: it sends events, waits for
// verdicts, follows the stream and asks what there is. It is for agents and
// other programs written in Go, and it is how the hookd commands do it.
//
//	c := client.New(client.Options{})
//	answer, err := c.Emit(ctx, client.Event{Event: "agent:end", Data: data})
//	verdict, err := c.Decide(ctx, client.Event{Event: "pre_tool_use", Data: call})
//	for record, err := range c.Subscribe(ctx, client.SubscribeOptions{Match: []string{"agent:*"}}) { … }
//
// Every call dials a connection of its own and waits for the answer, so a
// Client holds nothing, needs no Close, may be used by many goroutines and
// outlives a restart of the daemon. EmitAll and Dial use one connection for
// many events; Subscribe dials again when it is lost.
//
// No other call is retried: one that failed after it was sent may have been
// accepted. An Event with an ID can be sent again, hookd takes it once;
// Retryable says when that is worth while.
//
// Errors: ErrNotRunning when nothing listens, ErrTimeout when ctx's deadline or
// Options.Timeout passed first, ctx's own error when it was cancelled, and a
// *Error, whose Code says why, when hookd refused. A call that ends early
// cancels no run.
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

// An Event is an event as it is sent. Only Event, its name, is required. Data
// is a JSON object; SessionID, AgentID, AgentName and Cwd are taken from it
// when they are empty. ID is the sender's own: the same one from the same
// Sender is accepted once in 10 minutes. Dialect says whose name it is,
// TimeoutMS what its hooks may take together, Parent the EventID of the event
// that it follows from, Lane which lane of pre_tool_use runs.
type Event = events.Envelope

// An Answer is what the sender of an event gets: its EventID, its Seq in the
// stream, the names of the hooks that Matched, Warnings about what was
// tolerated; with Wait also the Verdict and the Runs.
type Answer = api.Answer

// A RunResult is a run in an Answer.
type RunResult = api.RunResult

// A Verdict is what the hooks that block say together. Allowed false denies,
// and Message says why; Continue false stops the agent. PermissionDecision is
// "", allow, ask or deny, with its DecisionReason. UpdatedInput is the tool's
// whole new input, UpdatedToolResponse its new result, AdditionalContext text
// for the model, SystemMessage text for the user. What nobody said is zero.
type Verdict = verdict.Verdict

// An Error is a refusal: its Code for programs, its Message and Hint for people.
type Error = events.Error

// What is asked for, by names that other modules can use.
type (
	Dialect    = events.Dialect // whose names an event uses
	Code       = events.Code    // of an Error
	Result     = events.Result  // of a run
	Hook       = api.Hook       // a hook as the daemon has it
	HookList   = api.Hooks      // all of them
	Problem    = api.Problem    // in a hook's file
	TestResult = api.Tested     // of a hook that was tried
	Run        = events.Run     // the record of a run
	Output     = events.Output  // of a run
	RunQuery   = api.RunQuery   // which runs
	Reloaded   = api.Reload     // what a reload did
	DaemonInfo = api.Status     // how the daemon is
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
	Timeout time.Duration // of each call but Tail and Subscribe, besides ctx's; 0 = none
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
	case errors.Is(err, syscall.EINVAL): // all that the system says of a path that does not fit
		err = fmt.Errorf("a path of %d bytes is too long for a socket: %w", len(c.socket), err)
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
