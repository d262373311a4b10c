package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.uber.org/zap"
)

// A message that no machine took as often as it was offered is a dead letter. The server
// only says so, in an advisory; a machine that takes work copies the message to where it
// is kept for longer, once, under the number that it had.

// deadLetters is the consumer of the advisories.
func (f *Fleet) deadLetters() Spec {
	return Spec{Stream: f.names.stream(areaDead), Name: deadConsumer, Subject: f.names.advisories(areaWork)}
}

// advisory is the part that matters of a JetStream advisory of its type
// io.nats.jetstream.advisory.v1.max_deliver.
type advisory struct {
	Stream     string `json:"stream"`
	Consumer   string `json:"consumer"`
	Seq        uint64 `json:"stream_seq"`
	Deliveries int    `json:"deliveries"`
}

func (f *Fleet) copyDead(ctx context.Context, d Delivery) {
	var a advisory
	if err := json.Unmarshal(d.Data, &a); err != nil || a.Stream != f.names.stream(areaWork) {
		f.took(d)
		return
	}
	var lost *Stored
	q := Query{Stream: a.Stream, Subject: f.names.all(areaWork, ">"), After: a.Seq - 1}
	err := f.opts.Broker.Read(ctx, q, func(m Stored) bool {
		if m.Seq == a.Seq {
			lost = &m
		}
		return false
	})
	if err == nil && lost != nil {
		hook := strings.TrimPrefix(a.Consumer, workConsumer)
		err = f.opts.Broker.Publish(ctx, []Message{{
			Subject: f.names.subject(areaDead, token(hook)), ID: fmt.Sprintf("%s/%d", a.Stream, a.Seq), Data: lost.Data,
		}})[0]
	}
	if err != nil {
		if err := d.Later(laterBy(d.Try)); err != nil {
			f.log.Debug("an advisory could not be given back", zap.Error(err))
		}
		return
	}
	f.log.Warn("no machine took an event for a hook: it is a dead letter of the fleet",
		zap.String("hook", strings.TrimPrefix(a.Consumer, workConsumer)), zap.Int("tries", a.Deliveries))
	f.took(d)
}

// Dead returns how many dead letters the fleet has.
func (f *Fleet) Dead(ctx context.Context) (n int, err error) {
	q := Query{Stream: f.names.stream(areaDead), Subject: f.names.all(areaDead, "*")}
	err = f.opts.Broker.Read(ctx, q, func(Stored) bool { n++; return true })
	return n, err
}
