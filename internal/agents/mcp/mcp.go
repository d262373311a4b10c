// Package mcp is the server of `hookd mcp`: agents that can call an MCP tool as a hook call
// the tool hook, and the model may ask the tool would_deny how hooks would decide about a call.
// It speaks over stdin and stdout of the agent that started it, and is no part of the
// daemon: each call of hook is one call of the bridge, which dials hookd's socket.
//
// It promises: the tool hook answers in the agent's own form for hooks, and fails closed.
// An agent lets a call pass when a tool ends with an error, so each call that could not be checked
// is answered with a denial: a daemon that does not answer, a payload that cannot be read, a
// message that is too large. would_deny changes nothing and leaves nothing in the history,
// and it knows of one session: that of the agent which started the server. A message has a
// limit, and so has the number of calls under way; others wait for their turn.
//
// It decides nothing. It cannot guard an agent that does not start it, or stops it: such
// an agent goes on without hooks.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

const (
	// Name is the name under which the server is registered in an agent's settings.
	Name = neutral.HookServer
	// HookTool is the tool that an agent's hooks call.
	HookTool = neutral.HookTool
	// WouldTool is the tool that a model may call.
	WouldTool = "would_deny"
)

const (
	// maxMessage bounds one message of the agent, in bytes.
	maxMessage = 16 << 20
	// maxCalls bounds the calls of hook under way; maxWould those of would_deny, each of
	// which starts the processes of hooks.
	maxCalls, maxWould = 64, 1
)

// Options of a Server. Agent, In, Out and Err are required.
type Options struct {
	Agent    string // a dialect, see dialect.Agents
	Version  string // of hookd, for the agent
	Socket   string // hookd's; "" = client.DefaultSocket()
	State    string // the bridge's folder; "" = its default
	FailOpen bool   // what could not be checked is no opinion, not a denial
	Cwd      string // the folder that the agent works in
	In       io.ReadCloser
	Out      io.WriteCloser
	Err      io.Writer // for a person: what went wrong

	// Would says how hooks would decide about a call; nil = there is no such tool.
	Would func(context.Context, Call) (Would, error)

	maxMessage int // 0 = maxMessage; for tests
}

// Server serves one agent.
type Server struct {
	opt   Options
	calls chan struct{} // calls of hook under way
	would chan struct{} // calls of would_deny under way

	mu      sync.Mutex
	session string // of the last call of hook; "" = there was none. Guarded by mu
}

// New returns a Server, which Run serves.
func New(o Options) *Server {
	if o.maxMessage == 0 {
		o.maxMessage = maxMessage
	}
	return &Server{opt: o, calls: make(chan struct{}, maxCalls), would: make(chan struct{}, maxWould)}
}

// Run serves until the agent closes stdin, or ctx ends. Both are no errors.
func (s *Server) Run(ctx context.Context) error {
	server := sdk.NewServer(&sdk.Implementation{Name: Name, Title: "hookd", Version: s.opt.Version}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	server.AddTool(hookTool(), s.hook)
	if s.opt.Would != nil {
		server.AddTool(wouldTool(), s.wouldDeny)
	}
	in := &lines{in: s.opt.In, most: s.opt.maxMessage, tooLong: func(note string) {
		fmt.Fprintf(s.opt.Err, "hookd mcp: %s\n", note)
	}}
	err := server.Run(ctx, &sdk.IOTransport{Reader: in, Writer: s.opt.Out, MaxLineLength: 2 * s.opt.maxMessage})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("serve %s over MCP: %w", s.opt.Agent, err)
}

// take takes one of the places of a pool, and returns the function that gives it back. It is nil
// if ctx ended before one was free.
func take(ctx context.Context, pool chan struct{}) (give func()) {
	select {
	case pool <- struct{}{}:
		return func() { <-pool }
	case <-ctx.Done():
		return nil
	}
}
