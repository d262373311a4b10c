package daemon

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/peer"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// connected is hookd's knowledge of the process at the other end of a connection.
type connected struct {
	dispatch.Origin
	handle peer.Handle
	at     proc.Identity // where the system has no handle
	look   sync.Once     // at its agent
	agent  []string      // command line of that; nil = it is not a bridge's connection
	pid    int           // of that
}

// persons tells persons and agents apart.
type persons struct {
	agents proc.Agents // for which bridges have asked
	config *atomic.Pointer[config.Config]
	origin func(pid int) dispatch.Origin
	store  *store.Store // set before the first connection
	log    *zap.Logger
}

// connect looks at a process right after its connection was accepted. It fits
// server.Options.Origin.
func (p *persons) connect(from server.Peer) any {
	c := &connected{Origin: p.origin(from.PID), handle: from.Handle}
	if !peer.HasHandles() {
		c.at = proc.IdentityOf(from.PID)
	}
	c.Handle = c
	return c
}

// connectedBy returns the notes on a connection; nil = nothing.
func connectedBy(from server.Peer) *connected {
	c, _ := from.Origin.(*connected)
	return c
}

// HasEnded reports whether the process that connected has ended. Its number may be another
// one's then.
func (c *connected) HasEnded() bool {
	if ended, known := c.handle.Ended(); known {
		return ended
	}
	return !c.at.Alive()
}

// noteAgent notes the agent of a bridge that sends an event: once for a connection, as a
// bridge makes one for each call. It notes in env if the agent was started to run without a person.
func (p *persons) noteAgent(from server.Peer, env *events.Envelope) {
	c, agent := connectedBy(from), dialect.Agent(env.Dialect)
	if c == nil || from.PID == self || agent == nil {
		return
	}
	c.look.Do(func() {
		if c.pid, c.agent = p.agents.Note(from.PID); c.agent == nil && agent.Answer == nil {
			c.pid = from.PID // a plugin speaks for it, in its own process
		}
	})
	env.Unattended = env.Unattended || agent.RunsUnattended(c.agent)
}

// noteTrial decides whether an event is tried, and no call of an agent: the sender says so, or it is a
// probe, and a person has typed the command of hookd that it comes from. Nothing else may say so of an
// event: a tried event is in no count. At the system daemon, where any user may be the sender, nothing is.
func (p *persons) noteTrial(from server.Peer, env *events.Envelope) {
	if !env.Tried && env.SessionID != events.ProbeSession {
		return
	}
	said, why := env.Tried, ""
	switch env.Tried = false; {
	case p.config.Load().System:
		why = "it was sent to the system daemon"
	case !proc.IsOurCommand(from.PID):
		why = "it does not come from this hookd's own command"
	case ofRun(from):
		why = "it comes from a hook"
	default:
		why = p.notAPerson(from)
	}
	if env.Tried = why == ""; said && !env.Tried {
		env.Warnings = append(env.Warnings, "it counts as a call of an agent: "+why)
	}
}

// notAPerson says why a request is not one of a person: the process has ended, or belongs to an
// agent. "" = it may be a person's, or a hook's: see ofRun.
func (p *persons) notAPerson(from server.Peer) (why string) {
	of, is := p.agents.Above(from.PID)
	c := connectedBy(from)
	switch {
	case c != nil && c.HasEnded(): // else the look was at this process
		return "it comes from a process that has ended"
	case is:
		return fmt.Sprintf("it comes from the processes of an agent (%s)", escape.Line(of.String(), 100))
	}
	return ""
}

// ofRun reports whether a process is one of a run, or an orphan of one.
func ofRun(from server.Peer) bool {
	c := connectedBy(from)
	return c != nil && c.OfRun() || from.PID != self && proc.BelowUs(from.PID)
}

// weakening is a record of a refused request.
type weakening struct {
	What string        `json:"what"` // a command or a route
	Why  string        `json:"why"`
	From wire.Answerer `json:"from"`
}

// mayWeaken refuses a request that could weaken a guard, unless a person may have made it. It
// fits server.Options.Weakens.
func (p *persons) mayWeaken(from server.Peer, what string) *wire.Error {
	by := personAt(from) // before the look: after it the process may have ended
	why := p.notAPerson(from)
	if why == "" {
		return nil
	}
	what = escape.Line(what, 300)
	p.store.Audit(time.Now().UTC(), audit.Refused, weakening{What: what, Why: why, From: by})
	p.log.Warn("an agent may not weaken guards", zap.String("what", what), zap.String("why", why),
		zap.String("user", by.User), zap.Int("pid", by.PID), zap.String("program", by.Program),
		zap.String("door", by.Door))
	return &wire.Error{
		Code: wire.CodeForbidden, Message: "refused: " + what + " could weaken a guard, and " + why,
		Hint: "a person types it in a terminal of their own, or here once the agent has ended",
	}
}

// mayUndo refuses an undo unless a person may have asked for it: it can overwrite newer work.
func (p *persons) mayUndo(from server.Peer) *wire.Error {
	by := personAt(from)
	why := p.notAPerson(from)
	if why == "" && ofRun(from) {
		why = "it comes from a hook"
	}
	if why == "" {
		return nil
	}
	p.store.Audit(time.Now().UTC(), audit.Refused, weakening{What: "undo", Why: why, From: by})
	return &wire.Error{
		Code: wire.CodeForbidden, Message: "refused: only a person takes back what a call did, and " + why,
		Hint: "a person types it in a terminal of their own, or here once the agent has ended; --dry-run is free",
	}
}
