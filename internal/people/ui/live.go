package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/events"
)

const (
	batchTime  = 60 * time.Millisecond // records are gathered for so long: a page draws no faster
	batchBytes = 256 << 10
	pingTime   = 15 * time.Second // without a record
)

// message is one message of the stream: about new records, or about the connection to hookd.
type message struct {
	Records   []json.RawMessage `json:"records,omitempty"`
	Ask       json.RawMessage   `json:"ask,omitempty"`
	Connected *bool             `json:"connected,omitempty"`
	Epoch     string            `json:"epoch,omitempty"`
	Seq       uint64            `json:"seq,omitempty"`
	Why       string            `json:"why,omitempty"` // it is not connected
}

// stream sends each record as it comes, after the record that the page had last. It goes on
// when the daemon was away, and says so.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	if s.live.Add(1) > mostLive {
		s.live.Add(-1)
		refuse(w, http.StatusTooManyRequests, "queue_full", "too many pages are open")
		return
	}
	defer s.live.Add(-1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-s.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	out := &sender{w: w, rc: http.NewResponseController(w)}
	out.rc.SetReadDeadline(time.Time{})
	messages := make(chan message)
	go s.follow(ctx, r, messages)
	go s.followAsks(ctx, messages)
	out.run(ctx, messages)
	s.used.Store(time.Now().UnixNano())
}

// give sends a message to the writer of the stream, unless ctx ends first.
func give(ctx context.Context, to chan<- message, m message) error {
	select {
	case to <- m:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const askAgain = time.Second // after which the asks are followed again

// followAsks gives the asks that wait for an answer until ctx ends. With Options.Act a page
// that is open is an approver: hookd holds asks for it.
func (s *Server) followAsks(ctx context.Context, to chan<- message) {
	for ctx.Err() == nil {
		for record, err := range s.opt.Client.FollowAsks(ctx, s.opt.Act) {
			if err != nil {
				break // follow reports why
			}
			if give(ctx, to, message{Ask: record.Raw}) != nil {
				return
			}
		}
		pause.For(askAgain, ctx.Done())
	}
}

// follow gives messages until ctx ends.
func (s *Server) follow(ctx context.Context, r *http.Request, to chan<- message) {
	give := func(m message) error { return give(ctx, to, m) }
	yes, no := true, false
	opt := client.SubscribeOptions{
		Lost: func(err error) error { return give(message{Connected: &no, Why: err.Error()}) },
		Opened: func(epoch string, seq uint64) {
			give(message{Connected: &yes, Epoch: epoch, Seq: seq}) // where ctx has ended, the next call returns that
		},
	}
	query := r.URL.Query()
	if since, err := strconv.ParseUint(query.Get("since"), 10, 64); err == nil {
		opt.Since, opt.Epoch = &since, query.Get("epoch")
	}
	for record, err := range s.opt.Client.Subscribe(ctx, opt) {
		switch {
		case err != nil:
			give(message{Connected: &no, Why: err.Error()})
			return
		case record.Event != nil:
			record.Raw = withoutData(record)
		}
		if give(message{Records: []json.RawMessage{record.Raw}}) != nil {
			return
		}
	}
}

// acceptedRecord is a record of an event as the page reads it: as GET /v1/accepted
// lists it, without its data, which may weigh much.
type acceptedRecord struct {
	Type string `json:"type"`
	client.AcceptedEvent
}

func withoutData(record client.Record) json.RawMessage {
	e := record.Event
	row := events.For(events.Dialect(e.Dialect), e.Event)
	raw, err := json.Marshal(acceptedRecord{client.RecordEvent, client.AcceptedEvent{
		EventHead: e.EventHead, Seq: record.Seq, Kind: row.Kind, Bytes: max(e.Bytes, len(e.Data)), Whole: !e.Truncated,
	}})
	if err != nil {
		panic(err) // of our own types: a fault
	}
	return raw
}

// sender writes messages as server-sent events, records gathered.
type sender struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func (s *sender) run(ctx context.Context, from <-chan message) {
	if s.write(": hookd\n\n") != nil {
		return
	}
	var records []json.RawMessage
	size := 0
	timer := time.NewTimer(pingTime)
	defer timer.Stop()
	flush := func() error {
		timer.Reset(pingTime)
		if len(records) == 0 {
			return s.write(": still here\n\n")
		}
		err := s.send(message{Records: records})
		records, size = records[:0], 0
		return err
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			err = flush()
		case m := <-from:
			if m.Records == nil {
				if len(records) > 0 {
					err = flush()
				}
				if err == nil {
					err = s.send(m)
				}
				break
			}
			if len(records) == 0 {
				timer.Reset(batchTime)
			}
			records, size = append(records, m.Records...), size+len(m.Records[0])
			if size > batchBytes {
				err = flush()
			}
		}
		if err != nil {
			return // the page is gone, or takes nothing
		}
	}
}

func (s *sender) send(m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.write("data: " + string(body) + "\n\n")
}

func (s *sender) write(text string) error {
	s.rc.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.rc.Flush()
}
