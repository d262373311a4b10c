// Package bridge connects an agent's own hook command with hookd: it reads the
// payload that the agent writes to stdin and sends it as an event. It waits for the
// verdict where there can be one, and prints exactly the answer that the agent expects.
//
// Promises. "No opinion" stays no opinion: an allow is printed only when a
// hook said so, and a rewrite is none. Nothing but the answer is on stdout. Every
// answer is written before the agent's own deadline. When hookd does not run, is
// slow or refuses, the answer is no opinion, at once; with FailClosed it is a
// denial, and so it is for a call that is too large or too deep for guards to see.
// Exit code 2 is only ever a verdict.
//
// A call starts no process (`hookd-bridge box` runs the one of its box), keeps nothing
// open and decides nothing itself. The limits of each agent stand in docs/reference/agents.md.
package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// The ways to answer an "ask" where the agent cannot ask a person.
const (
	AskDenies = "deny"
	AskIsNone = "none"
)

// Options of one call. Agent is required.
type Options struct {
	Agent          string   // a dialect, see dialect.Agents
	Args           []string // the event's name, for agents that do not send it
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string // nil = os.Getenv
	Socket         string              // "" = client.DefaultSocket()
	State          string              // folder for what must be known between calls; "" = hookd in the user's cache
	Timeout        time.Duration       // the agent's own deadline; 0 = its default
	FailClosed     bool                // no verdict is a denial, on events that guard something
	Ask            string              // AskDenies (also "") or AskIsNone
	// Exit ends the process: os.Exit, in a program that only does this. Calls that may hang then
	// have no goroutine of their own, which is faster. When such a call does hang, a timer's
	// goroutine answers and calls Exit. nil = Run returns in any case.
	Exit func(code int)

	handed *os.File // the connection that the call was handed over by, see package early; nil = it was not
	begun  []byte   // the bytes of hookd's answer so far
}

// call is one run of the bridge.
type call struct {
	Options
	agent   *neutral.Agent
	start   time.Time
	event   string           // its name, "" = not known yet
	row     *events.Contract // of event
	payload json.RawMessage  // as the agent sent it, in its documented shape
	id      string           // of the first event of a pair

	way  string // the agent whose settings have called: Options.Agent as it was given
	mark mark   // of an event that the agent may send by another way, too

	conn  link             // that the event went by; nil = it went by none
	told  wire.Told        // what the reply tells the agent
	heard bool             // hookd has answered
	said  *verdict.Verdict // what it has answered; nil = an event that none decides

	resumed *client.Conn      // Options.handed
	passed  *wire.HandedReply // hookd's answer to a call that was handed over; nil = there is none
}

// link takes the events of a call: a connection to hookd, or hookd itself.
type link interface {
	Send(ctx context.Context, list ...client.Event) error
	Receive(ctx context.Context) (client.Answer, error)
	Tell(t client.Told) error
	Close() error
}

// Run answers one call of an agent and returns the exit code.
func Run(ctx context.Context, o Options) (exit int) { return run(ctx, o, nil) }

func newCall(o Options) *call {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	return &call{
		Options: o, way: o.Agent, start: time.Now(),
		agent: dialect.Agent(events.Dialect(o.Agent)),
	}
}

// run is Run, for a command line with the given mistake in it.
func run(ctx context.Context, o Options, mistake error) (exit int) {
	c := newCall(o)
	if c.agent == nil || c.agent.Answer == nil {
		fmt.Fprintf(o.Stderr, "hookd-bridge: unknown agent %q: type one of %v\n", o.Agent, dialect.Agents())
		return 1
	}
	defer func() {
		if recover() != nil { // Go's own exit code for it would deny
			exit = 1
		}
	}()
	return c.finish(c.answer(ctx, mistake))
}

// finish gives the agent its answer and returns the exit code.
func (c *call) finish(reply neutral.Reply, failed bool) (exit int) {
	if failed && !c.agent.Breaks && !c.FailClosed && reply.Exit == 0 && c.told.Decision != wire.OutcomeDeny {
		reply.Exit = 1 // an error that the agent shows and that denies nothing; with it no denial is read
	}
	exit = c.write(reply)
	c.tell(exit == reply.Exit)
	if c.heard && exit == reply.Exit {
		c.answered(c.said)
	} else {
		c.mark.withdraw()
	}
	return exit
}

// answer returns the reply that the agent is to read. failed means that the bridge was called
// wrongly or is broken, not that the daemon gave no answer.
func (c *call) answer(ctx context.Context, mistake error) (reply neutral.Reply, failed bool) {
	defer c.recovered(&reply, &failed)
	if err := c.read(ctx); err != nil || mistake != nil {
		return c.fail(errors.Join(mistake, err), c.hasSystemDaemon() || isBeyond(err)), true
	}
	if c.handed != nil {
		if err := c.await(ctx); err != nil {
			return c.fail(err, false), false
		}
		if c.passed != nil {
			return neutral.Reply{Exit: c.passed.Exit}, false
		}
	}
	return c.answerRead(ctx)
}

// unseen are the refusals of an event for its content, which a model makes, as beyond. A hookd of another version may
// refuse a field.
var unseen = []client.Code{client.CodeTooLarge, client.CodeBadJSON}

// recovered makes a panic of the function that defers it an answer.
func (c *call) recovered(reply *neutral.Reply, failed *bool) {
	if p := recover(); p != nil {
		*reply, *failed = c.fail(fmt.Errorf("internal error: %v", p), c.hasSystemDaemon()), true
	}
}

// answerRead is answer for an event that has been read.
func (c *call) answerRead(ctx context.Context) (reply neutral.Reply, failed bool) {
	defer c.recovered(&reply, &failed)
	if c.agent.Skips != nil && c.agent.Skips(c.event, c.payload) || c.isSecondCall(ctx) {
		return c.reply(nil), false
	}
	v, err := c.exchange(ctx)
	if err != nil {
		refused, is := errors.AsType[*client.Error](err)
		return c.fail(err, is && slices.Contains(unseen, refused.Code)), false
	}
	c.heard, c.said = true, v
	return c.reply(v), false
}

// reply writes a verdict in the agent's words; nil is no opinion.
func (c *call) reply(v *verdict.Verdict) neutral.Reply {
	if v == nil {
		v = &verdict.Verdict{Allowed: true, Continue: true}
	}
	asked := neutral.Asked{
		Event: c.event, Payload: c.payload, Verdict: c.degrade(v),
		Headless: c.agent.Headless != nil && c.agent.Headless(c.Getenv),
	}
	reply := c.agent.Answer(asked)
	c.told = neutral.Heard(asked, reply)
	return reply
}

// tell reports the agent's answer to hookd, after the agent has it; written is false where the
// answer could not be written.
func (c *call) tell(written bool) {
	switch {
	case c.passed != nil:
		if written {
			_ = c.resumed.Written() // hookd records that it does not know
		}
		c.resumed.Close()
		return
	case c.conn == nil:
		return
	}
	t := client.Told{Decision: client.Outcome(c.told.Decision), Reason: c.told.Reason, Rewrote: c.told.Rewrote}
	if !written {
		t = client.Told{Unsure: "its bridge could not write the answer"}
	}
	_ = c.conn.Tell(t) // hookd records that it does not know
	c.conn.Close()
}

// degrade turns an "ask" that the agent cannot pass on into an answer that it can give.
func (c *call) degrade(v *verdict.Verdict) *verdict.Verdict {
	a := neutral.Asked{Event: c.event, Payload: c.payload, Verdict: v}
	if !a.Asks() || a.Is(c.agent.Asks) {
		return v
	}
	less := *v
	less.PermissionDecision = ""
	if c.Ask == AskIsNone || c.agent.Defers != nil && c.agent.Defers(c.event, c.payload) {
		return &less
	}
	less.Allowed = false
	less.Message = a.Reason() + " (hooks want a person to decide, and " + c.Agent + " cannot ask one: denied)"
	return &less
}

// hasSystemDaemon reports whether the machine has a system daemon: an event that did not reach it
// is denied.
func (c *call) hasSystemDaemon() bool {
	present, _ := system.Here().Look()
	return present
}

// fail answers when there is no verdict, and says why. closed denies, as FailClosed does.
func (c *call) fail(err error, closed bool) neutral.Reply {
	c.notice(err)
	if c.row == nil { // the payload was not read
		c.row = events.LookupIn(events.Dialect(c.Agent), c.event)
	}
	if !closed && !c.FailClosed || c.row != nil && !c.row.FailClosed {
		return c.reply(nil)
	}
	if c.row == nil {
		c.event = failClosedEvent(events.Dialect(c.Agent))
	}
	return c.reply(unchecked(err))
}

// unchecked denies an event that hookd has not checked.
func unchecked(why error) *verdict.Verdict {
	return &verdict.Verdict{Continue: true, Message: "hookd could not check this: " + why.Error()}
}

// notice writes an error to stderr, unless the agent reads stderr as an
// answer. A person at a terminal always sees it.
func (c *call) notice(err error) {
	if (!c.agent.Quiet || isTerminal(c.Stderr)) && c.worthSaying(err) {
		fmt.Fprintf(c.Stderr, "hookd-bridge: %v%s\n", err, c.advice(err))
	}
}

// worthSaying reports whether err is to be written: a daemon that does not run once
// a session, everything else each time.
func (c *call) worthSaying(err error) bool {
	if !errors.Is(err, client.ErrNotRunning) || errors.Is(err, client.ErrForeign) {
		return true
	}
	return newState(c.State).first("told\x00" + c.Agent + "\x00" + c.session())
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (c *call) advice(err error) string {
	switch {
	case errors.Is(err, client.ErrForeign):
		return ", so no hook runs: set LIBREFANG_HOME to a folder that only you can write to, then type `hookd serve`"
	case !errors.Is(err, client.ErrNotRunning):
		return ""
	}
	return ", so no hook runs: start it with `hookd serve`"
}

// failClosedEvent returns the first event of d that fails closed; "" if none does.
func failClosedEvent(d events.Dialect) string {
	for _, row := range events.All() {
		if row.Dialect == d && row.FailClosed {
			return row.Name
		}
	}
	return ""
}

// write writes the reply. If the agent cannot read it, the exit code is that of an
// error, never 2.
func (c *call) write(r neutral.Reply) int {
	if c.passed != nil {
		return c.writePassed()
	}
	if r.Stderr != "" && !c.agent.Quiet {
		io.WriteString(c.Stderr, r.Stderr+"\n")
	}
	if r.Stdout == "" {
		return r.Exit
	}
	if _, err := io.WriteString(c.Stdout, r.Stdout+"\n"); err != nil && r.Exit == 0 {
		return 1
	}
	return r.Exit
}
