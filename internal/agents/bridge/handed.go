package bridge

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/wire"
)

// Package early hands a call over to hookd before Go has started in the bridge's process. Serve is hookd's end. await
// is the bridge's, where the answer takes longer than package early waits.

// Serve answers a call that a bridge has handed over with the bytes of the bridge; emit sends an event. told says
// which answer the agent gets. False = the call is left to the bridge, and emit was not called: its command line is
// wrong, the agent calls twice for one event, or the bridge needs a file or a variable.
func Serve(ctx context.Context, h wire.Handed, emit func(line []byte) (wire.Answer, *wire.Error)) (
	reply wire.HandedReply, told wire.Told, ok bool,
) {
	var stdout, stderr bytes.Buffer
	inside := &inside{emit: emit}
	o := Options{Stdout: &stdout, Stderr: &stderr, Getenv: variable(h.Env)}
	if len(h.Args) == 0 || o.parse(h.Args) != nil {
		return reply, told, false
	}
	c := newCall(o)
	c.payload, c.conn = h.Payload, inside
	defer func() {
		if recover() != nil { // an event that was sent must not be sent again
			reply, ok = wire.HandedReply{Exit: 1}, inside.asked
		}
	}()
	if !c.isAlone() || c.read(ctx) != nil || c.isGuest() || c.hasSystemDaemon() {
		return reply, told, false
	}
	exit := c.finish(c.answerRead(ctx))
	return wire.HandedReply{Exit: exit, Stdout: stdout.String(), Stderr: stderr.String()}, inside.told, true
}

// isAlone reports whether a call needs nothing but its payload: no file, and no call before.
func (c *call) isAlone() bool {
	a := c.agent
	if a == nil || a.Answer == nil || a.Pair != nil || a.Variables.Event != "" {
		return false
	}
	if a.Noted == nil {
		return true
	}
	file, _ := a.Noted(a.EventName(c.payload), c.payload)
	return file == ""
}

// isGuest reports whether the call may come a second time, by the settings of another agent.
func (c *call) isGuest() bool {
	_, guest := c.guest()
	return guest != nil
}

// variable reads a list of NAME=VALUE.
func variable(list []string) func(string) string {
	return func(name string) string {
		for _, v := range list {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// inside is hookd as the link of a call that it answers itself.
type inside struct {
	emit  func(line []byte) (wire.Answer, *wire.Error)
	line  []byte // of the event that was sent
	asked bool
	told  wire.Told
}

func (i *inside) Send(_ context.Context, list ...client.Event) (err error) {
	i.line, err = list[0].AppendLine(nil)
	return err
}

func (i *inside) Receive(context.Context) (client.Answer, error) {
	i.asked = true
	answer, bad := i.emit(i.line)
	if bad != nil {
		return client.Answer{}, bad
	}
	return client.Answer{Answer: answer}, nil
}

func (i *inside) Tell(t client.Told) error {
	i.told = wire.Told{Decision: wire.Outcome(t.Decision), Reason: t.Reason, Rewrote: t.Rewrote, Unsure: t.Unsure}
	return nil
}

func (*inside) Close() error { return nil }

// await waits for the answer to the call that was handed over.
func (c *call) await(ctx context.Context) (err error) {
	c.resumed = client.New(client.Options{Socket: c.Socket}).Resume(c.handed, c.begun)
	c.resumed.SetDeadline(c.start.Add(c.patience(c.deadline())))
	c.passed, err = c.resumed.Handed(ctx)
	return err
}

// writePassed is write for hookd's answer.
func (c *call) writePassed() int {
	io.WriteString(c.Stderr, c.passed.Stderr)
	if _, err := io.WriteString(c.Stdout, c.passed.Stdout); err != nil && c.passed.Exit == 0 {
		return 1
	}
	return c.passed.Exit
}
