package jetstream

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// All is read with direct gets: they make nothing on the servers, and their answers go
// to this machine alone. A consumer for each reader would be made by the reader, who could
// have the server deliver to any subject of the streams' account.

// readPage is how many messages are asked for at once, readBytes the bytes after which the
// server stops before that.
const (
	readPage  = 512
	readBytes = 4 << 20
)

// directGet begins the subject of a direct get, which ends with the stream.
const directGet = js.DefaultAPIPrefix + "DIRECT.GET."

// get is a request of JetStream's direct get API.
type get struct {
	Seq      uint64     `json:"seq,omitempty"`
	Since    *time.Time `json:"start_time,omitempty"`
	Subject  string     `json:"next_by_subj,omitempty"`
	LastOf   string     `json:"last_by_subj,omitempty"`
	Batch    int        `json:"batch,omitempty"`
	MaxBytes int        `json:"max_bytes,omitempty"`
}

// Read fits engine.Reader.
func (b *Broker) Read(ctx context.Context, q engine.Query, each func(engine.Stored) bool) error {
	if err := b.read(ctx, q, each); err != nil {
		return fmt.Errorf("read %s: %w", q.Stream, b.why(err))
	}
	return nil
}

func (b *Broker) read(ctx context.Context, q engine.Query, each func(engine.Stored) bool) error {
	if !b.State().Connected {
		return engine.ErrAway
	}
	if q.Limited {
		may, err := b.may(ctx, directGet+q.Stream)
		if err != nil {
			return err
		}
		if !may {
			return engine.ErrForbidden
		}
	}
	next := get{Seq: q.After + 1, Subject: cmp.Or(q.Subject, ">"), Batch: readPage, MaxBytes: readBytes}
	if q.After == 0 && !q.Since.IsZero() {
		next.Seq, next.Since = 0, &q.Since
	}
	for {
		last, left, err := b.page(ctx, q.Stream, next, each)
		if err != nil || last == 0 || left == 0 {
			return err
		}
		next.Seq, next.Since = last+1, nil
	}
}

// Look fits engine.Reader.
func (b *Broker) Look(ctx context.Context, stream string) (engine.Found, error) {
	if !b.State().Connected {
		return engine.Found{}, engine.ErrAway
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	found, err := b.js.Stream(ctx, stream)
	if err != nil {
		return engine.Found{}, fmt.Errorf("look for stream %s: %w", stream, b.why(err))
	}
	b.worked()
	of := found.CachedInfo()
	return engine.Found{Begun: of.Created, Last: of.State.LastSeq, Subjects: of.Config.Subjects}, nil
}

// page asks for messages, and returns the number of the last message that came and how many are
// left; last 0 = there is none, or each wants no more.
func (b *Broker) page(
	ctx context.Context, stream string, ask get, each func(engine.Stored) bool,
) (last, left uint64, err error) {
	text, err := json.Marshal(ask)
	if err != nil {
		return 0, 0, err
	}
	inbox := b.nc.NewInbox()
	sub, err := b.nc.SubscribeSync(inbox)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := b.nc.PublishRequest(directGet+stream, inbox, text); err != nil {
		return 0, 0, err
	}
	for {
		m, err := b.nextOf(ctx, sub)
		if err != nil {
			return 0, 0, err
		}
		got, there, err := direct(m)
		switch {
		case err != nil:
			return 0, 0, err
		case !there:
			left, err = strconv.ParseUint(cmp.Or(lastValue(m, pendingHeader), "0"), 10, 64)
			return last, left, err
		}
		last = got.Seq
		if !each(got) {
			return 0, 0, nil
		}
		if ask.Batch == 0 {
			return last, 0, nil
		}
	}
}

// nextOf waits for one answer.
func (b *Broker) nextOf(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

// direct reads one answer of a direct get; there is false at the end. Of headers with the same
// name the last is the server's: it adds its own behind those of the message, which its
// sender has chosen.
func direct(m *nats.Msg) (got engine.Stored, there bool, err error) {
	subject := lastValue(m, js.SubjectHeader)
	if subject == "" { // no message is stored without one
		switch status := m.Header.Get("Status"); status {
		case "204", "404":
			return got, false, nil
		case "503":
			return got, false, nats.ErrNoResponders
		default:
			return got, false, fmt.Errorf("the server answers %s %s", status, m.Header.Get("Description"))
		}
	}
	got.Subject, got.ID, got.Data = subject, m.Header.Get(js.MsgIDHeader), m.Data
	if got.Seq, err = strconv.ParseUint(lastValue(m, js.SequenceHeader), 10, 64); err != nil {
		return got, false, err
	}
	got.Time, err = time.Parse(time.RFC3339Nano, lastValue(m, js.TimeStampHeaer))
	return got, true, err
}

// pendingHeader says how many messages are behind the answered messages.
const pendingHeader = "Nats-Num-Pending"

func lastValue(m *nats.Msg, name string) string {
	if all := m.Header[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// Object fits engine.Board. A bucket is a stream of the parts of its objects, see
// JetStream's ADR 20.
func (b *Broker) Object(ctx context.Context, bucket, name string, limit int64) ([]byte, error) {
	if !b.State().Connected {
		return nil, engine.ErrAway
	}
	text, err := b.object(ctx, bucket, name, limit)
	return text, b.why(err)
}

func (b *Broker) object(ctx context.Context, bucket, name string, limit int64) (text []byte, err error) {
	var about js.ObjectInfo
	stream, found := "OBJ_"+bucket, false
	of := "$O." + bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
	_, _, err = b.page(ctx, stream, get{LastOf: of}, func(m engine.Stored) bool {
		found = json.Unmarshal(m.Data, &about) == nil && !about.Deleted
		return false
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, engine.ErrNoObject
	case about.Size > uint64(limit):
		return nil, engine.ErrTooLarge
	}
	parts := engine.Query{Stream: stream, Subject: "$O." + bucket + ".C." + about.NUID}
	err = b.read(ctx, parts, func(m engine.Stored) bool {
		text = append(text, m.Data...)
		return uint64(len(text)) < about.Size
	})
	if err == nil && uint64(len(text)) != about.Size {
		err = errors.New("a part of the object is missing")
	}
	return text, err
}

// PutObject fits engine.Press.
func (b *Broker) PutObject(ctx context.Context, bucket, name string, data []byte) error {
	if !b.State().Connected {
		return engine.ErrAway
	}
	store, err := b.js.ObjectStore(ctx, bucket)
	if err == nil {
		_, err = store.PutBytes(ctx, name, data)
	}
	return b.why(err)
}
