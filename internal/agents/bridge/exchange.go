package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// bridgeShare is how much of the agent's deadline the bridge has, in percent. The hooks
// get less: hookd's own answer that a hook was too slow still comes in time.
const bridgeShare = 95

// acceptTime is how long hookd may take to accept an event that no hook decides.
const acceptTime = 5 * time.Second

// dialTime is how long the file system of hookd's socket may take to answer.
const dialTime = 5 * time.Second

// patience is how long the bridge waits for hookd, of the agent's deadline.
func (c *call) patience(host time.Duration) time.Duration {
	own := host * bridgeShare / 100
	if !c.row.Decidable {
		return min(own, acceptTime)
	}
	return own
}

// deadline is how long the agent waits for this call.
func (c *call) deadline() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return c.agent.Timeout(c.event)
}

// exchange sends the event and returns the verdict; nil where there is none to
// wait for.
func (c *call) exchange(ctx context.Context) (*verdict.Verdict, error) {
	host := c.deadline()
	if c.conn == nil {
		conn, within, cancel, err := c.dial(ctx, c.start.Add(c.patience(host)))
		defer cancel()
		if err != nil {
			return nil, err
		}
		c.conn, ctx = conn, within
	}
	l := &line{conn: c.conn, hooks: c.start.Add(host * neutral.HooksShare / 100)}
	e := c.newEvent()
	c.pair(e)
	changed, err := c.transform(ctx, l, e)
	if err != nil {
		return nil, err
	}
	e.Tells = e.Wait
	e.Unattended = c.agent.Unattended != nil && c.agent.Unattended(c.Getenv)
	v, err := l.emit(ctx, e.Envelope)
	if err == nil && l.own != nil {
		v = c.withoutOwn(v, l.own)
	}
	if changed != nil {
		return c.redacted(v, changed, err), nil
	}
	if err != nil || v == nil {
		return nil, err
	}
	c.paired(v)
	return v, nil
}

// dial connects to hookd. Calls of the connection with the new ctx end at by.
func (c *call) dial(ctx context.Context, by time.Time) (*client.Conn, context.Context, context.CancelFunc, error) {
	if c.Exit == nil || c.hasSystemDaemon() { // with two daemons, one that hangs does not hold up the other
		ctx, cancel := context.WithDeadline(ctx, by)
		conn, err := client.New(client.Options{Socket: c.Socket}).Dial(ctx)
		return conn, ctx, cancel, err
	}
	var conn *client.Conn
	var err error
	hangs := func() neutral.Reply {
		return c.fail(fmt.Errorf("%w: the file system of its socket does not answer", client.ErrTimeout), false)
	}
	c.limitTime(min(time.Until(by), dialTime), hangs, false, func() {
		conn, err = client.New(client.Options{Socket: c.Socket, Blocking: true}).Dial(ctx)
	})
	if err == nil {
		conn.SetDeadline(by)
	}
	return conn, ctx, func() {}, err
}

// withoutOwn is the verdict v of the system daemon where the user's own daemon gave none,
// which denies if the bridge is to fail closed.
func (c *call) withoutOwn(v *verdict.Verdict, why error) *verdict.Verdict {
	if !c.FailClosed && errors.Is(why, client.ErrNotRunning) && !errors.Is(why, client.ErrForeign) {
		return v // the machine is guarded: the user need have no daemon
	}
	c.notice(why)
	if !c.FailClosed || !c.row.FailClosed || v == nil {
		return v
	}
	return verdict.Over(v, unchecked(why))
}

// redacted adds a changed result to the verdict of the event that followed, even if
// that event has no verdict. The text that hooks took out stays out.
func (c *call) redacted(v *verdict.Verdict, changed json.RawMessage, err error) *verdict.Verdict {
	if err != nil {
		c.notice(err)
	}
	if v == nil {
		v = &verdict.Verdict{Allowed: true, Continue: true}
	}
	if v.UpdatedToolResponse == nil {
		v.UpdatedToolResponse = changed
	}
	return v
}

// line is the connection that the events of one call share.
type line struct {
	conn  link
	hooks time.Time // when the hooks must be done
	own   error     // why the user's own daemon has not answered the last event; nil = it has
}

func (l *line) emit(ctx context.Context, env events.Envelope) (*verdict.Verdict, error) {
	if env.Wait {
		env.TimeoutMS = min(max(time.Until(l.hooks).Milliseconds(), 1), events.MaxTimeout.Milliseconds())
	}
	if err := l.conn.Send(ctx, env.Sent()); err != nil {
		return nil, err
	}
	answer, err := l.conn.Receive(ctx)
	l.own = answer.Own()
	if err == nil && env.Wait && answer.Verdict == nil {
		err = errors.New("hookd answered without a verdict") // which is not the same as no opinion
	}
	return answer.Verdict, err
}

// transform lets hooks rewrite a tool's result before any other program sees it,
// where the agent can be given another: e gets the new one, which is returned;
// nil = it stays.
func (c *call) transform(ctx context.Context, l *line, e *events.Event) (json.RawMessage, error) {
	if c.agent.Replaces == nil || !c.agent.Replaces(c.event, c.payload) {
		return nil, nil
	}
	result := rawjson.Get(e.Data, c.agent.ResultField)
	if result == nil {
		return nil, nil
	}
	env := dialect.Transform(e, result)
	env.Wait = true
	v, err := l.emit(ctx, env)
	if err != nil || v == nil || v.UpdatedToolResponse == nil {
		return nil, err
	}
	changed := neutral.WithResultText(result, neutral.ResultText(v.UpdatedToolResponse))
	e.Data = rawjson.With(e.Data, rawjson.Member{Key: c.agent.ResultField, Value: changed})
	return changed, nil
}

// pair gives both events of one call the same id, so that hookd takes them for
// one and its hooks run once.
func (c *call) pair(e *events.Event) {
	if c.agent.Pair == nil {
		return
	}
	name, second := c.agent.Pair(c.event, c.payload)
	switch {
	case name == "":
	case second:
		e.ID = newState(c.State).take(c.pairKey(name))
	default:
		e.ID = events.NewID(c.start)
		newState(c.State).put(c.pairKey(name), e.ID)
		c.id = e.ID
	}
}

// paired makes the second event of a call whose input hooks have rewritten
// known as well: the agent sends it with the new input.
func (c *call) paired(v *verdict.Verdict) {
	if c.id == "" || v.UpdatedInput == nil || !v.Allowed {
		return
	}
	rewritten := rawjson.With(c.payload, rawjson.Member{Key: c.row.Target, Value: v.UpdatedInput})
	if name, _ := c.agent.Pair(c.event, rewritten); name != "" {
		newState(c.State).put(c.pairKey(name), c.id)
	}
}

func (c *call) pairKey(name string) string { return "pair\x00" + c.Agent + "\x00" + name }
