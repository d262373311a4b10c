package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

const (
	// MaxPayload is how many bytes the bridge reads of an agent. A call with more is denied where guards can deny.
	MaxPayload = 64 << 20
	// maxReadTime is how long an agent may take to write its payload.
	maxReadTime = 10 * time.Second
	// firstRead is the size of the first read: few payloads are larger.
	firstRead = 4 << 10
)

// read finds the event's name and its payload.
func (c *call) read(ctx context.Context) error {
	for _, arg := range c.Args {
		switch {
		case strings.HasPrefix(arg, "{"):
			c.payload = json.RawMessage(arg) // as an old Cursor command line gives it
		case c.event == "":
			c.event = arg
		default:
			return fmt.Errorf("unknown argument %q: type hookd-bridge %s [EVENT]", arg, c.Agent)
		}
	}
	if err := c.readPayload(ctx); err != nil {
		return err
	}
	c.foreign()
	// A name that no row has may be a new word for the event that the argument names.
	argumentUnknown := events.LookupIn(events.Dialect(c.Agent), c.event) == nil
	if name := c.agent.EventName(c.payload); name != "" && (argumentUnknown || events.Lookup(name) != nil) {
		c.event = name
	}
	if c.event == "" {
		return fmt.Errorf("%s does not say which event this is: type hookd-bridge %s EVENT", c.Agent, c.Agent)
	}
	if err := events.CheckName(c.event); err != nil {
		c.event = ""
		return err
	}
	if err := events.CheckReserved(c.event); err != nil {
		c.event = ""
		return err
	}
	c.row = events.For(events.Dialect(c.Agent), c.event)
	if c.agent.Normal != nil {
		c.payload = c.agent.Normal(c.event, c.payload)
	}
	c.addCwd()
	c.addExitCode()
	return nil
}

// addCwd adds the current directory to a payload without one, where the agent's hooks have
// it in their environment.
func (c *call) addCwd() {
	if c.agent.CwdVariable == "" || rawjson.Get(c.payload, "cwd") != nil {
		return
	}
	if dir := c.Getenv(c.agent.CwdVariable); dir != "" {
		c.payload = rawjson.With(c.payload, rawjson.Member{Key: "cwd", Value: rawjson.Quote(dir)})
	}
}

func (c *call) readPayload(ctx context.Context) error {
	given := c.agent.Variables
	switch {
	case c.payload != nil:
	case given.Event != "" && c.Getenv(given.Event) != "":
		c.event, c.payload = c.Getenv(given.Event), json.RawMessage(c.Getenv(given.Data))
	default:
		payload, err := c.readStdin(ctx)
		if err != nil {
			return c.unread(err)
		}
		c.payload = payload
	}
	if len(bytes.TrimSpace(c.payload)) == 0 {
		c.payload = json.RawMessage("{}")
	}
	var line bytes.Buffer
	switch err := json.Compact(&line, c.payload); {
	case isTooDeep(err):
		return c.unread(tooDeep)
	case err != nil, line.Bytes()[0] != '{':
		return fmt.Errorf("the payload of %s is not a JSON object", c.Agent)
	}
	c.payload = line.Bytes()
	return nil
}

func (c *call) unread(err error) error {
	return fmt.Errorf("read the payload of %s: %w", c.Agent, err)
}

// readTime is how long the agent may take to write its payload.
func (c *call) readTime() time.Duration {
	if c.Timeout > 0 {
		return min(maxReadTime, c.Timeout*bridgeShare/100)
	}
	return maxReadTime
}

// stdin is what an agent writes its payload to.
type stdin struct {
	io.Reader
	began atomic.Bool // it gave a byte
}

func (s *stdin) Read(p []byte) (n int, err error) {
	n, err = s.Reader.Read(p)
	if n > 0 {
		s.began.Store(true)
	}
	return n, err
}

// incomplete is the error of a payload that took longer than limit. One that has begun is beyond: an agent that is
// called without a payload writes nothing, and a large call on a busy machine takes as long.
func (s *stdin) incomplete(limit time.Duration) error {
	why := fmt.Sprintf("it was not complete after %s", limit)
	if s.began.Load() {
		return beyond(why)
	}
	return errors.New(why)
}

// readStdin is readObject for readTime at most.
func (c *call) readStdin(ctx context.Context) (payload json.RawMessage, err error) {
	if whole, is := c.Stdin.(interface{ Len() int }); is && whole.Len() > MaxPayload {
		return nil, tooLarge
	}
	limit, in := c.readTime(), &stdin{Reader: c.Stdin}
	if c.Exit == nil {
		return readOrLeave(ctx, in, limit)
	}
	late := func() neutral.Reply {
		err := in.incomplete(limit)
		return c.fail(c.unread(err), c.hasSystemDaemon() || isBeyond(err))
	}
	c.limitTime(limit, late, true, func() { payload, err = readObject(in) })
	return payload, err
}

// readObject reads one JSON value, or nothing. It does not wait for the end of
// in: an agent may leave it open.
func readObject(in io.Reader) (value json.RawMessage, err error) {
	first := make([]byte, firstRead)
	n, err := in.Read(first)
	text := first[:n:n]
	if err == nil && n > 0 && text[0] == '{' && json.Valid(text) {
		return text, nil // most payloads
	}
	limited := &io.LimitedReader{R: io.MultiReader(bytes.NewReader(text), in), N: MaxPayload}
	err = json.NewDecoder(withoutMark(limited)).Decode(&value)
	switch {
	case errors.Is(err, io.EOF):
		err = nil
	case err != nil && limited.N <= 0:
		err = tooLarge
	case isTooDeep(err):
		err = tooDeep
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = beyond("it was not complete in time")
	}
	return value, err
}

// beyond is the error of a payload with more than is read. A model can make a call so that no guard sees it:
// such a call is denied.
type beyond string

func (b beyond) Error() string { return string(b) }

const tooDeep = beyond("it is nested too deeply")

var tooLarge = beyond(fmt.Sprintf("it is larger than %d bytes", MaxPayload))

func isBeyond(err error) bool {
	_, is := errors.AsType[beyond](err)
	return is
}

// isTooDeep reports whether encoding/json gave up for that: it has no error of its own for it.
func isTooDeep(err error) bool {
	return err != nil && strings.Contains(err.Error(), "exceeded max depth")
}

// readOrLeave is readObject until limit is over or ctx has ended. A reader that hangs
// costs a goroutine until it returns.
func readOrLeave(ctx context.Context, in *stdin, limit time.Duration) (json.RawMessage, error) {
	type read struct {
		value json.RawMessage
		err   error
	}
	done := make(chan read, 1)
	go func() {
		value, err := readObject(in)
		done <- read{value, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-timer.C:
		return nil, in.incomplete(limit)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// byteOrderMark begins each payload of Cursor's command line (seen by others with
// 2026.09.02). A reader of JSON may leave it out (RFC 8259, 8.1).
const byteOrderMark = "\ufeff"

// withoutMark returns in without a byte order mark at its start. It waits for no more
// bytes than it needs to see that there is none.
func withoutMark(in io.Reader) io.Reader {
	r := bufio.NewReader(in)
	if head, _ := r.Peek(1); string(head) != byteOrderMark[:1] {
		return r
	}
	if head, _ := r.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		r.Discard(len(byteOrderMark))
	}
	return r
}

// newEvent returns the event to send.
func (c *call) newEvent() *events.Event {
	e := &events.Event{Contract: c.row}
	e.Envelope.Event, e.Dialect, e.Data = c.event, events.Dialect(c.Agent), c.payload
	f := dialect.Facts(e)
	e.SessionID, e.Cwd = f.String(neutral.Session), f.String(neutral.Cwd)
	e.AgentID, e.AgentName = f.String(neutral.AgentID), f.String(neutral.AgentName)
	e.Wait = c.row.Decidable
	if !c.agent.Foreign {
		return e
	}
	if other := events.Lookup(c.event); other != nil && other.Dialect != c.row.Dialect && other.Kind == c.row.Kind {
		e.Data = dialect.Fill(e, other)
	}
	return e
}

// Missed returns the event that a bridge did not send, from an agent's payload; of a payload that cannot be read
// the event alone.
func Missed(agent, event string, payload []byte) events.Envelope {
	bare := events.Envelope{Event: event, Dialect: events.Dialect(agent), Data: json.RawMessage("{}")}
	c := &call{agent: dialect.Agent(bare.Dialect)}
	c.Agent, c.Args, c.Stdin = agent, []string{event}, bytes.NewReader(payload)
	c.Getenv = func(string) string { return "" }
	if c.agent == nil || c.read(context.Background()) != nil || c.row == nil || c.row.Kind != events.KindToolBefore {
		return bare
	}
	return c.newEvent().Envelope
}

// session is the session that the call belongs to; "" = unknown.
func (c *call) session() string {
	if c.row == nil {
		return ""
	}
	envelope := events.Envelope{Data: c.payload, Dialect: events.Dialect(c.Agent)}
	return dialect.Facts(&events.Event{Envelope: envelope, Contract: c.row}).String(neutral.Session)
}
