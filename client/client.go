// Package client speaks to hookd over its socket: it sends events, waits for
// verdicts, follows the stream and queries hooks, runs and status. It is for
// agents and other programs written in Go; the hookd commands use it too.
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
// No other call is retried: a call that failed after it was sent may have been accepted. An Event with
// an ID can be sent again, hookd takes it once; Retryable says when that is worth while, a lost
// connection included.
//
// Where the machine has a system daemon (see docs/reference/system.md), every event goes to that
// one first, whatever the Options say, and an event that waits then to the user's own,
// which can only tighten the verdict. Where it must answer and does not, that is a
// denial. All other calls are for the daemon of the Options alone.
//
// Errors: ErrNotRunning when nothing listens, or only a process that is neither
// the own user's nor root's (then also ErrForeign), ErrTimeout when ctx's deadline or
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
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/base/peer"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/wire"
)

var (
	// ErrNotRunning says that nothing listens on the socket.
	ErrNotRunning = errors.New("hookd is not running")
	// ErrForeign is the ErrNotRunning of a socket on which a process of another
	// user listens. Nothing was sent to it.
	ErrForeign error = foreign{}
	// ErrTimeout says that no answer came in time.
	ErrTimeout = errors.New("no answer from hookd in time")
)

// foreign is ErrForeign. fmt.Errorf would make it at the start of each program, which takes
// longer than all else that this package does before main.
type foreign struct{}

func (foreign) Error() string {
	return ErrNotRunning.Error() + ": another user's process listens on its socket"
}

func (foreign) Unwrap() error { return ErrNotRunning }

// Options of a Client; the zero value is that of the user's own daemon.
type Options struct {
	Socket  string        // path; "" = DefaultSocket()
	Timeout time.Duration // of each call but Tail and Subscribe, besides ctx's; 0 = none
	// Door is the name of this program where a person does something through it, such as
	// page or command: letters and hyphens, at most 32. "" = socket.
	Door string
	// Blocking is for a program that sends an event or two and ends: a Conn is used by one
	// goroutine, which waits in the system. Dial then waits for the file system that the
	// socket is on, and no ctx ends a call of the Conn: SetDeadline does. On Linux such a
	// call takes a twentieth less of the program's time; elsewhere it takes the same.
	// Where the machine has a system daemon it changes nothing.
	Blocking bool
}

// A Client sends requests to one daemon. The zero Client is that of the user's
// own daemon, as New makes it of zero Options.
type Client struct {
	socket   string
	timeout  time.Duration
	door     string
	blocking bool
}

// New makes a Client. It does not dial.
func New(opt Options) *Client {
	return &Client{socket: opt.Socket, timeout: opt.Timeout, door: opt.Door, blocking: opt.Blocking}
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
func (c *Client) Socket() string {
	if c.socket == "" {
		return DefaultSocket()
	}
	return c.socket
}

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
	sent := conn.Send(ctx, ev)
	if sent != nil && !errors.Is(sent, io.ErrUnexpectedEOF) {
		return Answer{}, sent
	}
	answer, err := conn.Receive(ctx) // also when not all was taken: it says why
	var refused *Error
	if sent != nil && !errors.As(err, &refused) {
		return Answer{}, sent
	}
	return answer, err
}

// Hooks lists the hooks in registration order.
func (c *Client) Hooks(ctx context.Context) (HookList, error) {
	return get[HookList](ctx, c, wire.PathHooks)
}

// Hook returns the hook with this name.
func (c *Client) Hook(ctx context.Context, name string) (Hook, error) {
	return get[Hook](ctx, c, wire.PathHooks+"/"+escape(name))
}

// Test runs a hook now with ev and returns everything it did. An ev without a
// name takes the hook's first pattern that is one.
func (c *Client) Test(ctx context.Context, name string, ev Event) (TestResult, error) {
	return post[TestResult](ctx, c, wire.PathHooks+"/"+escape(name)+"/test", ev)
}

// RunTests runs the tests in a hook's file and returns their outcomes.
func (c *Client) RunTests(ctx context.Context, name string) (Tests, error) {
	return post[Tests](ctx, c, wire.PathHooks+"/"+escape(name)+"/tests", nil)
}

// Reload makes the daemon read its hooks again. Where some were rejected, the
// error is a *Error with the code "rejected", and the Reloaded is complete.
func (c *Client) Reload(ctx context.Context) (Reloaded, error) {
	reply, err := c.request(ctx, "POST", wire.PathReload, nil)
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
	return out, &Error{
		Code: CodeRejected, Message: "some hooks were rejected", Hint: "see the problems with: hookd list",
	}
}

// MayWeaken returns nil if this process may do something that weakens guards: a command, in
// words. An agent's process may not; then the error is a *Error with the code "forbidden".
func (c *Client) MayWeaken(ctx context.Context, what string) error {
	reply, err := c.request(ctx, "POST", wire.PathWeaken+"?what="+url.QueryEscape(what), nil)
	if err != nil {
		return err
	}
	_, err = decode[struct{}](reply)
	return err
}

// Metrics returns the daemon's metrics in the text format of Prometheus.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	r, err := c.request(ctx, "GET", wire.PathMetrics, nil)
	if err != nil {
		return nil, err
	}
	if r.status != 200 {
		return nil, r.refusal()
	}
	return r.body, nil
}

// Status returns the daemon's state.
func (c *Client) Status(ctx context.Context) (DaemonInfo, error) {
	return get[DaemonInfo](ctx, c, wire.PathStatus)
}

// Alive returns nil when the daemon answers, which it does for every user who may connect.
func (c *Client) Alive(ctx context.Context) error {
	reply, err := c.request(ctx, "GET", wire.PathHealthz, nil)
	if err == nil && reply.status != 200 {
		err = reply.refusal()
	}
	return err
}

// Ready returns nil when the daemon has booted and takes events; the error
// says why it does not.
func (c *Client) Ready(ctx context.Context) error {
	reply, err := c.request(ctx, "GET", wire.PathReadyz, nil)
	if err != nil || reply.status == 200 {
		return err
	}
	state, err := unmarshal[wire.Ready](reply.body)
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

// socket is a connection. A call of Read or Write that waits ends at its deadline or when
// the connection is closed.
type socket interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
	SyscallConn() (syscall.RawConn, error)
}

// dial connects, and has the kernel say which process listens before a byte
// is sent: any user who can write to a folder on the way can put a socket there.
func (c *Client) dial(ctx context.Context) (socket, error) {
	conn, err := connect(ctx, c.Socket())
	return c.checked(ctx, conn, err)
}

// checked returns the result of dial: the connection that it has checked, or the error
// that explains why there is none.
func (c *Client) checked(ctx context.Context, conn socket, err error) (socket, error) {
	switch {
	case err == nil:
		if err := c.checkListener(conn); err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w (socket %s)", ErrNotRunning, c.Socket())
	case errors.Is(err, syscall.EINVAL): // all that the system says of a path that does not fit
		err = fmt.Errorf("a path of %d bytes is too long for a socket, set LIBREFANG_HOME to a shorter path of a folder that only you can use: %w", len(c.Socket()), err)
	}
	return nil, c.explain(ctx, "dial", err)
}

// dialTime is how long a socket may take to be connected to: the file system that it
// is on may not answer, which no deadline of the system's call ends.
const dialTime = 5 * time.Second

// connect connects to a socket. A socket that does not answer costs a goroutine and a
// thread until it does.
func connect(ctx context.Context, path string) (socket, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	type dialled struct {
		conn socket
		err  error
	}
	done := make(chan dialled, 1)
	go func() {
		conn, err := open(path)
		done <- dialled{conn, err}
	}()
	select {
	case d := <-done:
		return d.conn, d.err
	case <-ctx.Done():
		go func() {
			if d := <-done; d.conn != nil {
				d.conn.Close()
			}
		}()
		return nil, fmt.Errorf("connect to %s: %w", path, ctx.Err())
	}
}

// checkListener refuses a listener that is neither the own user's nor root's.
func (c *Client) checkListener(conn socket) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("%w: %w (socket %s)", ErrForeign, err, c.Socket())
	}
	listener, err := peer.Of(raw)
	switch place := system.Here(); {
	case err != nil: // unknown is not trusted
		return fmt.Errorf("%w: %w (socket %s)", ErrForeign, err, c.Socket())
	case c.Socket() == place.Socket:
		if err := place.Check(listener); err != nil {
			return fmt.Errorf("%w: %w (socket %s)", ErrForeign, err, c.Socket())
		}
	case !listener.Trusted():
		return fmt.Errorf("%w (socket %s, uid %d, pid %d)", ErrForeign, c.Socket(), listener.UID, listener.PID)
	}
	return nil
}

// explain says why op failed. When ctx ends, the connection is closed and op fails
// on it: then ctx is the reason. When the daemon closed the connection, the error
// is io.ErrUnexpectedEOF.
func (c *Client) explain(ctx context.Context, op string, err error) error {
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("%w (socket %s)", ErrTimeout, c.Socket())
	case cause != nil:
		return cause
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: it takes connections and answers nothing, is it stopped? (socket %s)", ErrTimeout, c.Socket())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%s: hookd closed the connection (socket %s): %w", op, c.Socket(), io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s (socket %s): %w", op, c.Socket(), err)
}
