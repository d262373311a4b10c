package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/wire"
)

// A message that no machine took as often as it was offered is a dead letter. The server
// only says so, in an advisory; a machine that takes work copies the message to where it
// is kept for longer, once, under the number that it had.

// deadLetters is the consumer of the advisories.
func (n Names) deadLetters() engine.Spec {
	return engine.Spec{
		Stream: n.stream(areaDead), Name: deadConsumer, Subject: n.advisories(areaWork),
		Missing: "an operator has to type hookd fleet init",
	}
}

// advisory is the part that matters of a JetStream advisory of its type
// io.nats.jetstream.advisory.v1.max_deliver.
type advisory struct {
	Stream     string `json:"stream"`
	Consumer   string `json:"consumer"`
	Seq        uint64 `json:"stream_seq"`
	Deliveries int    `json:"deliveries"`
}

// givenUp is a message as it is kept.
type givenUp struct {
	passed
	Tries int `json:"tries"`
}

// copyDead copies the message that an advisory is about.
func (f *Fleet) copyDead(ctx context.Context, d engine.Delivery) {
	var a advisory
	if err := json.Unmarshal(d.Data, &a); err != nil || a.Stream != f.names.stream(areaWork) {
		acknowledge(d, f.log)
		return
	}
	lost, err := f.stored(ctx, areaWork, ">", a.Seq)
	if err == nil && lost != nil {
		g := givenUp{Tries: a.Deliveries}
		list, bad := f.names.read(*lost, areaWork)
		if bad != nil || len(list) != 1 { // it was refused by all
			acknowledge(d, f.log)
			return
		}
		g.passed = list[0]
		err = f.opts.Broker.Publish(ctx, []engine.Message{{
			Subject: f.names.subject(areaDead, token(g.Hook)), ID: fmt.Sprintf("%s/%d", a.Stream, a.Seq),
			Data: encode(g),
		}})[0]
		if err == nil { // else it would count as work that its machine has there
			err = f.opts.Broker.Drop(ctx, a.Stream, a.Seq)
		}
	}
	if err != nil {
		if err := d.Later(laterBy(d.Try)); err != nil {
			f.log.Debug("an advisory could not be given back", zap.Error(err))
		}
		return
	}
	f.log.Warn("no machine took an event for a hook: it is a dead letter of the fleet, see `hookd dev dead list --fleet`",
		zap.String("hook", strings.TrimPrefix(a.Consumer, workConsumer)), zap.Int("tries", a.Deliveries))
	acknowledge(d, f.log)
}

// stored returns the message of an area with a number; nil = it is not there.
func (f *Fleet) stored(ctx context.Context, area, subject string, seq uint64) (found *engine.Stored, err error) {
	q := engine.Query{Stream: f.names.stream(area), Subject: f.names.all(area, subject), After: seq - 1, Limited: true}
	err = f.opts.Broker.Read(ctx, q, func(m engine.Stored) bool {
		if m.Seq == seq {
			found = &m
		}
		return false
	})
	return found, err
}

// Dead returns how many dead letters the fleet has.
func (f *Fleet) Dead(ctx context.Context) (int, error) {
	return f.opts.Broker.Count(ctx, f.names.stream(areaDead), f.names.all(areaDead, "*"))
}

// DeadLetters returns the dead letters of a hook, of all for "", the newest first and
// without their data: limit at most, 50 for 0. It needs the role of a worker, as all calls
// that are about one do.
func (f *Fleet) DeadLetters(ctx context.Context, hook string, limit int) (wire.DeadLetters, error) {
	var list []wire.DeadLetter
	limit = min(cmp.Or(limit, usualAnswer), mostAnswer)
	q := engine.Query{Stream: f.names.stream(areaDead), Subject: f.names.all(areaDead, "*"), Limited: true}
	err := f.opts.Broker.Read(ctx, q, func(m engine.Stored) bool {
		g, err := f.names.readDead(m)
		if err != nil || hook != "" && g.Hook != hook {
			return true
		}
		letter := g.letter(m)
		letter.Data = nil
		if list = append(list, letter); len(list) >= 2*limit {
			list = slices.Clone(list[len(list)-limit:])
		}
		return true
	})
	list = list[max(0, len(list)-limit):]
	slices.Reverse(list)
	return wire.DeadLetters{Dead: append([]wire.DeadLetter{}, list...)}, err
}

// DeadLetter returns one of them, with its data. It fails with CodeNotFound where there is
// none with that number.
func (f *Fleet) DeadLetter(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	g, m, bad := f.dead(ctx, id)
	if bad != nil {
		return wire.DeadLetter{}, bad
	}
	return g.letter(m), nil
}

// RetryDead has this machine accept the event of one of them, and forgets the letter. It
// needs the hook here.
func (f *Fleet) RetryDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	g, m, bad := f.dead(ctx, id)
	if bad != nil {
		return wire.DeadLetter{}, bad
	}
	if _, bad := f.opts.Accept(g.brought()); bad != nil {
		if bad.Code == wire.CodeNotFound {
			return wire.DeadLetter{}, &wire.Error{
				Code:    bad.Code,
				Message: fmt.Sprintf("this machine has no hook %s of scope fleet for %s", g.Hook, g.Event.Event),
				Hint:    "type it on a machine that has the hook",
			}
		}
		return wire.DeadLetter{}, bad
	}
	f.log.Info("took a dead letter of the fleet", zap.String("hook", g.Hook), zap.String("machine", g.Machine),
		zap.String("event_id", g.EventID))
	return g.letter(m), f.forget(ctx, m)
}

// DropDead forgets one of them.
func (f *Fleet) DropDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	g, m, bad := f.dead(ctx, id)
	if bad != nil {
		return wire.DeadLetter{}, bad
	}
	return g.letter(m), f.forget(ctx, m)
}

func (f *Fleet) forget(ctx context.Context, m engine.Stored) *wire.Error {
	return Refusal(f.opts.Broker.Drop(ctx, f.names.stream(areaDead), m.Seq))
}

// dead returns a dead letter by its number in the stream.
func (f *Fleet) dead(ctx context.Context, id int64) (g givenUp, m engine.Stored, bad *wire.Error) {
	found, err := f.stored(ctx, areaDead, "*", uint64(max(id, 1)))
	if err != nil {
		return g, m, Refusal(err)
	}
	if found != nil {
		m = *found
		if g, err = f.names.readDead(m); err == nil {
			return g, m, nil
		}
	}
	return g, m, &wire.Error{
		Code: wire.CodeNotFound, Message: fmt.Sprintf("the fleet has no dead letter %d", id), Hint: "see `hookd dev dead list --fleet`",
	}
}

// readDead reads a dead letter, and checks it against its subject.
func (n Names) readDead(m engine.Stored) (g givenUp, err error) {
	_, rest, ok := n.sender(m.Subject, areaDead)
	if err := json.Unmarshal(m.Data, &g); err != nil {
		return g, err
	}
	if !ok || len(rest) != 1 || rest[0] != token(g.Hook) {
		return g, fmt.Errorf("it is for hook %q, and stands under %s", g.Hook, m.Subject)
	}
	return g, g.check()
}

// letter is a dead letter as people see it. Its id is its number in the stream.
func (g givenUp) letter(m engine.Stored) wire.DeadLetter {
	return wire.DeadLetter{
		ID: int64(m.Seq), EventID: g.EventID, Event: g.Event.Event, Hook: g.Hook, Machine: g.Machine, Attempts: g.Tries,
		Reason: "no machine took it", Time: m.Time, Data: g.Event.Data,
	}
}
