package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/hookd/hookd/internal/base/pause"
)

const (
	firstPause = 100 * time.Millisecond // before a lost stream is dialled again
	mostPause  = 5 * time.Second
)

// SubscribeOptions select the records to follow; the zero value is everything from now
// on, for ever.
type SubscribeOptions struct {
	Match  []string // globs of event names; none = all
	Since  *uint64  // records after this Record.Seq; nil = from now
	Epoch  string   // of Since: Record.Epoch of the same record
	Starts bool     // with a RecordStart when a run begins

	// Lost is called each time before the stream is dialled again, with the reason
	// why it ended or could not begin. An error that it returns ends the
	// subscription. Nil dials again for ever.
	Lost func(err error) error

	// Opened is called each time the stream begins, the first time and after Lost,
	// with the epoch and the newest number of the sequence. Nil = nothing is.
	Opened func(epoch string, seq uint64)
}

// Types of a Record.
const (
	RecordEvent   = "event"   // an event was accepted
	RecordRun     = "run"     // a run has ended
	RecordVerdict = "verdict" // an event was decided
	RecordStart   = "start"   // a run has begun; with SubscribeOptions.Starts
	RecordGap     = "gap"     // records are missing
)

// A Record is one entry of the stream. Keep Epoch and Seq of the last one to
// go on after it later.
type Record struct {
	Type  string // RecordEvent, RecordRun, RecordGap, or one that is not known yet
	Epoch string // which sequence Seq is of: it changes when the numbers begin again
	Seq   uint64 // of a gap: the last number that is missing

	Event    *EventRecord    // with RecordEvent
	Run      *Run            // with RecordRun; what it printed is in Client.Run
	Decision *Decision       // with RecordVerdict
	Start    *RunUnderWay    // with RecordStart, which has no Seq
	From     uint64          // with RecordGap: the first number that is missing; 0 = unknown
	Raw      json.RawMessage // all of it
}

// An EventRecord is an accepted event in the stream.
type EventRecord struct {
	EventHead
	Lane  string          `json:"lane"`
	Depth int             `json:"depth"` // 0 from an agent, 1 from a hook that ran for such an event, …
	Data  json.RawMessage `json:"data"`

	// Of an old event the history may have only the beginning of its data:
	// then Data is {}, Bytes its size and Preview how it begins.
	Truncated bool   `json:"truncated"`
	Bytes     int    `json:"bytes"`
	Preview   string `json:"preview"`
}

// Subscribe follows the stream of events and runs, in the order of Seq. When the connection is
// lost or the daemon restarts, it connects again and continues after the last record; a gap stands
// for records that the daemon no longer has. A slow loop delays no other subscriber, but gets
// gaps.
//
//	for record, err := range c.Subscribe(ctx, client.SubscribeOptions{Match: []string{"agent:*"}}) {
//
// It ends with one error: ctx's when that has ended, a *Error when hookd
// refused (a bad glob), or the error of Lost. A loop may be left at any time.
// Options.Timeout does not count here. Nothing is dialled before the loop begins.
func (c *Client) Subscribe(ctx context.Context, opt SubscribeOptions) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f := follower{client: c, opt: opt, yield: yield, pause: firstPause}
		if err := f.run(ctx); err != nil && err != errLeft {
			yield(Record{}, err)
		}
	}
}

// errLeft says that the loop was left.
var errLeft = errors.New("the loop was left")

// follower is the state of one Subscribe: opt's Since and Epoch move on with
// the records.
type follower struct {
	client *Client
	opt    SubscribeOptions
	yield  func(Record, error) bool
	epoch  string // of the connection; opt.Epoch follows with the first record
	pause  time.Duration
}

func (f *follower) run(ctx context.Context) error {
	for {
		opt := TailOptions{Match: f.opt.Match, Since: f.opt.Since, Epoch: f.opt.Epoch, Starts: f.opt.Starts}
		err := f.client.Tail(ctx, opt, f.deliver)
		var refused *Error
		switch {
		case err == errLeft, errors.As(err, &refused):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			err = errors.New("hookd has stopped")
		}
		if f.opt.Lost != nil {
			if err := f.opt.Lost(err); err != nil {
				return err
			}
		}
		if err := f.backOff(ctx); err != nil {
			return err
		}
	}
}

// backOff waits longer each time, by a random part, so that clients that lost
// the same daemon do not all dial at once.
func (f *follower) backOff(ctx context.Context) error {
	d := pause.About(f.pause)
	f.pause = min(2*f.pause, mostPause)
	if !pause.For(d, ctx.Done()) {
		return ctx.Err()
	}
	return nil
}

// deliver hands one record to the loop and moves opt.Since behind it.
func (f *follower) deliver(raw json.RawMessage) error {
	var head struct {
		Type, Epoch string
		Seq         uint64
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	f.pause = firstPause
	if head.Type == recordEpoch {
		f.epoch = head.Epoch
		if f.opt.Opened != nil {
			f.opt.Opened(head.Epoch, head.Seq)
		}
		if f.opt.Since == nil {
			f.opt.Since, f.opt.Epoch = &head.Seq, head.Epoch
		}
		return nil
	}
	record, err := ParseRecord(raw)
	if err != nil {
		return err
	}
	record.Epoch = f.epoch
	if record.Seq > 0 {
		f.opt.Since, f.opt.Epoch = &record.Seq, f.epoch
	}
	if !f.yield(record, nil) {
		return errLeft
	}
	return nil
}

// recordEpoch is the type of the first record of each stream.
const recordEpoch = "epoch"

// ParseRecord reads a record as Tail delivers it. Of the first one, "epoch", and of
// a type that is not known, Type, Epoch, Seq and Raw alone are set.
func ParseRecord(raw json.RawMessage) (Record, error) {
	var head struct {
		Type, Epoch   string
		Seq, From, To uint64
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return Record{}, fmt.Errorf("read record: %w", err)
	}
	r := Record{Type: head.Type, Epoch: head.Epoch, Seq: head.Seq, From: head.From, Raw: raw}
	var err error
	switch head.Type {
	case RecordEvent:
		err = json.Unmarshal(raw, &r.Event)
	case RecordRun:
		err = json.Unmarshal(raw, &r.Run)
	case RecordVerdict:
		err = json.Unmarshal(raw, &r.Decision)
	case RecordStart:
		err = json.Unmarshal(raw, &r.Start)
	case RecordGap:
		r.Seq = head.To
	}
	if err != nil {
		return Record{}, fmt.Errorf("read %s record: %w", head.Type, err)
	}
	return r, nil
}
