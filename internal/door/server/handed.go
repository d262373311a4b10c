package server

import (
	"context"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// handed answers a call that a bridge hands over, or leaves it to the bridge.
func (l *lines) handed(ctx context.Context, line []byte) {
	if l.flush() != nil {
		return // the next read fails the same way
	}
	call, ok := wire.ReadHanded(line)
	isBox := len(call.Args) > 0 && call.Args[0] == "box"
	if !ok || l.conn == nil || l.room != nil || !l.peer.Owner || !isBox && l.server.opt.Bridge == nil {
		l.out = append(l.out, wire.LeftLine...)
		return
	}
	if isBox {
		l.plan(call)
		return
	}
	reply, told, ok := l.server.opt.Bridge(ctx, call, func(event []byte) (wire.Answer, *wire.Error) {
		answer, bad := l.emitted(ctx, event)
		if bad != nil {
			l.server.opt.Refused(bad.Code)
		}
		return answer, bad
	})
	if !ok {
		l.out = append(l.out, wire.LeftLine...)
		return
	}
	l.out, l.passed = reply.Append(l.out), &told
	l.came = time.Now()
}

// plan answers a bridge that asks for a box.
func (l *lines) plan(call wire.Handed) {
	to, isUnix := l.conn.raw.(*net.UnixConn)
	if !isUnix || l.peer.UID != os.Getuid() {
		l.out = append(l.out, wire.LeftLine...)
		return
	}
	reply, files, ok := l.server.opt.Boxes.PlanBox(call, l.peer.PID)
	if !ok {
		l.out = append(l.out, wire.LeftLine...)
		return
	}
	to.SetWriteDeadline(time.Now().Add(answerTimeout))
	n, _, err := to.WriteMsgUnix(reply, syscall.UnixRights(files[:]...), nil)
	for _, fd := range files {
		syscall.Close(fd)
	}
	if err == nil {
		l.out = append(l.out, reply[n:]...)
	}
}

// emitted sends an event of such a call, as if the bridge had sent its line.
func (l *lines) emitted(ctx context.Context, line []byte) (wire.Answer, *wire.Error) {
	env, bad := l.parser.Parse(line)
	if bad == nil && env.Wait {
		l.hear(env)
		return l.server.emit(ctx, l.peer, env, nil)
	}
	if bad != nil {
		return wire.Answer{}, bad
	}
	answer, rest, bad := l.server.opt.Emitter.Begin(l.peer, env)
	env.Data = nil // which the parser would hold
	if bad == nil && rest != nil {
		return rest()
	}
	return answer, bad
}

// hear has the sender of an event be heard, where it will say what its agent was told.
func (l *lines) hear(env *events.Envelope) {
	if env.Tells && l.conn != nil && len(l.tells) < maxTells {
		env.Hearing = events.NewHearing()
		l.tells = append(l.tells, env.Hearing)
	}
}
