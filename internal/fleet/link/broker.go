package link

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/fleet/engine"
)

// Broker is the engine that hookd-fleet has. It is safe for concurrent use.
type Broker struct {
	opts    engine.Options
	changed chan struct{}
	once    sync.Once // closes ended

	mu       sync.Mutex // guards what is below
	calls    *http.Client
	state    engine.State
	attached chan struct{} // closed when calls is set
	ended    chan struct{} // closed by the first end
	refusal  error         // why hookd-fleet did not connect, see takeRefusal
}

var (
	_ engine.Broker = (*Broker)(nil)
	_ engine.Press  = (*Broker)(nil)
)

// New makes a Broker that is away until Attach.
func New(o engine.Options) *Broker {
	return &Broker{
		opts: o, changed: make(chan struct{}, 1), attached: make(chan struct{}), ended: make(chan struct{}),
		state: engine.State{Since: time.Now()},
	}
}

// Attach has the Broker use a connection of hookd-fleet, which it owns. It returns when the
// connection has ended, or ctx has.
func (b *Broker) Attach(ctx context.Context, c net.Conn) error {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	var dialed sync.Once
	transport := &http.Transport{
		Protocols: protocols(), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams}, DisableCompression: true,
		DialContext: func(context.Context, string, string) (given net.Conn, err error) {
			err = engine.ErrAway
			dialed.Do(func() { given, err = c, nil })
			return given, err
		},
	}
	defer transport.CloseIdleConnections()
	calls := &http.Client{Transport: transport}
	var a answer
	if err := call(ctx, calls, pathConnect, b.opts, &a); err != nil {
		return b.end(err)
	}
	if err := a.Err.err(); err != nil {
		b.mu.Lock()
		b.refusal = err
		b.mu.Unlock()
		return b.end(err)
	}
	b.mu.Lock()
	b.calls = calls
	close(b.attached)
	b.mu.Unlock()
	return b.end(lines(ctx, calls, pathState, nil, func(a answer) bool {
		if a.State != nil {
			b.tell(*a.State)
		}
		return true
	}))
}

func (b *Broker) tell(s engine.State) {
	b.mu.Lock()
	again := s.Connected && (!b.state.Connected || !s.Since.Equal(b.state.Since))
	b.state = s
	b.mu.Unlock()
	if again {
		select {
		case b.changed <- struct{}{}:
		default:
		}
	}
}

// Ended is closed when a hookd-fleet has ended once.
func (b *Broker) Ended() <-chan struct{} { return b.ended }

// end notes that hookd-fleet is away.
func (b *Broker) end(err error) error {
	if err == nil {
		err = errors.New("hookd-fleet has ended")
	}
	b.mu.Lock()
	if b.calls != nil {
		b.calls, b.attached = nil, make(chan struct{})
	}
	b.mu.Unlock()
	b.Fail(err)
	b.once.Do(func() { close(b.ended) })
	return err
}

// takeRefusal returns once why hookd-fleet did not begin to connect, such as a key that is missing; nil = it did.
func (b *Broker) takeRefusal() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.refusal
	b.refusal = nil
	return err
}

// Fail notes why hookd-fleet is not there.
func (b *Broker) Fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls != nil {
		return
	}
	if b.state.Connected {
		b.state.Connected, b.state.Since = false, time.Now()
	}
	b.state.Err = err.Error()
}

// current returns the client for calls; nil = hookd-fleet is away until attached is closed.
func (b *Broker) current() (calls *http.Client, attached <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, b.attached
}

// post sends a call, and returns its answer.
func post(ctx context.Context, calls *http.Client, path string, v any) (*http.Response, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://hookd-fleet"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.GetBody = nil // it is never sent twice
	got, err := calls.Do(r)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: hookd-fleet does not answer: %w", engine.ErrAway, err)
	}
	if err != nil {
		return nil, ctx.Err()
	}
	if got.StatusCode != http.StatusOK {
		got.Body.Close()
		return nil, fmt.Errorf("%w: hookd-fleet says %s", engine.ErrAway, got.Status)
	}
	return got, nil
}

// call makes a call that has one answer.
func call(ctx context.Context, calls *http.Client, path string, v any, a *answer) error {
	got, err := post(ctx, calls, path, v)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if err := json.NewDecoder(got.Body).Decode(a); err != nil {
		return fmt.Errorf("%w: hookd-fleet did not answer: %w", engine.ErrAway, err)
	}
	_, _ = io.Copy(io.Discard, got.Body)
	return nil
}

// lines makes a call that answers in lines, until each returns false, or a line has an error.
func lines(ctx context.Context, calls *http.Client, path string, v any, each func(answer) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	got, err := post(ctx, calls, path, v)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	in := json.NewDecoder(got.Body)
	for {
		var a answer
		if err := in.Decode(&a); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%w: hookd-fleet has ended: %w", engine.ErrAway, err)
		}
		if a.Err != nil {
			return a.Err.err()
		}
		if !each(a) {
			return nil
		}
	}
}

// ask makes a call that has one answer, and returns its error.
func (b *Broker) ask(ctx context.Context, path string, v any) (a answer, err error) {
	calls, _ := b.current()
	if calls == nil {
		return a, engine.ErrAway
	}
	if err := call(ctx, calls, path, v, &a); err != nil {
		return a, err
	}
	return a, a.Err.err()
}

// State fits engine.Publisher.
func (b *Broker) State() engine.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// Changed fits engine.Reader.
func (b *Broker) Changed() <-chan struct{} { return b.changed }

// Publish fits engine.Publisher.
func (b *Broker) Publish(ctx context.Context, list []engine.Message) []error {
	errs := make([]error, len(list))
	a, err := b.ask(ctx, pathPublish, list)
	if err == nil && len(a.Errs) != len(list) {
		err = engine.ErrAway
	}
	for i := range errs {
		if errs[i] = err; err == nil {
			errs[i] = a.Errs[i].err()
		}
	}
	return errs
}

// Prepare fits engine.Publisher.
func (b *Broker) Prepare(ctx context.Context, streams []engine.Stream) error {
	_, err := b.ask(ctx, pathPrepare, streams)
	return err
}

// Read fits engine.Reader.
func (b *Broker) Read(ctx context.Context, q engine.Query, each func(engine.Stored) bool) error {
	calls, _ := b.current()
	if calls == nil {
		return engine.ErrAway
	}
	ended := false
	err := lines(ctx, calls, pathRead, q, func(a answer) bool {
		ended = a.Got == nil || !each(*a.Got)
		return !ended
	})
	if err == nil && !ended {
		return fmt.Errorf("%w: hookd-fleet has ended", engine.ErrAway)
	}
	return err
}

// Consume fits engine.Consumer.
func (b *Broker) Consume(ctx context.Context, c engine.Spec, handle func(context.Context, engine.Delivery)) error {
	return b.goOn(ctx, pathConsume, c, func(ctx context.Context, calls *http.Client, a answer) {
		if a.Got == nil {
			return
		}
		d := engine.Delivery{
			Stored: *a.Got, Try: a.Try,
			Took:  func() error { return finish(calls, done{a.N, took, 0}) },
			Later: func(after time.Duration) error { return finish(calls, done{a.N, later, after}) },
		}
		go func() {
			handle(ctx, d)
			_ = finish(calls, done{a.N, returned, 0})
		}()
	})
}

// Listen fits engine.Board.
func (b *Broker) Listen(ctx context.Context, subject string, heard func()) error {
	return b.goOn(ctx, pathListen, subject, func(_ context.Context, _ *http.Client, a answer) {
		if a.N != 0 {
			heard()
		}
	})
}

// doneTime is how long hookd-fleet may take to tell the servers of a delivery.
const doneTime = 10 * time.Second

func finish(calls *http.Client, d done) error {
	ctx, cancel := context.WithTimeout(context.Background(), doneTime)
	defer cancel()
	var a answer
	if err := call(ctx, calls, pathDone, d, &a); err != nil {
		return err
	}
	return a.Err.err()
}

// goOn makes a call that answers in lines, and makes it again when hookd-fleet is back, until ctx ends.
func (b *Broker) goOn(
	ctx context.Context, path string, v any, each func(context.Context, *http.Client, answer),
) error {
	for ctx.Err() == nil {
		calls, attached := b.current()
		if calls == nil {
			select {
			case <-attached:
			case <-ctx.Done():
			}
			continue
		}
		_ = lines(ctx, calls, path, v, func(a answer) bool {
			each(ctx, calls, a)
			return true
		})
		pause.For(againTime, ctx.Done())
	}
	return ctx.Err()
}

// againTime is the pause before a call that has ended is made again.
const againTime = 200 * time.Millisecond

// Count fits engine.Counter.
func (b *Broker) Count(ctx context.Context, stream, subject string) (int, error) {
	a, err := b.ask(ctx, pathCount, place{Stream: stream, Subject: subject})
	return a.Count, err
}

// Drop fits engine.Counter.
func (b *Broker) Drop(ctx context.Context, stream string, seq uint64) error {
	_, err := b.ask(ctx, pathDrop, place{Stream: stream, Seq: seq})
	return err
}

// Object fits engine.Board.
func (b *Broker) Object(ctx context.Context, bucket, name string, limit int64) ([]byte, error) {
	a, err := b.ask(ctx, pathObject, place{Stream: bucket, Subject: name, Limit: limit})
	return a.Data, err
}

// Replace fits engine.Press.
func (b *Broker) Replace(ctx context.Context, m engine.Message, seq uint64) error {
	_, err := b.ask(ctx, pathReplace, place{Message: m, Seq: seq})
	return err
}

// PutObject fits engine.Press.
func (b *Broker) PutObject(ctx context.Context, bucket, name string, data []byte) error {
	_, err := b.ask(ctx, pathPut, place{Stream: bucket, Subject: name, Data: data})
	return err
}

// MakeConsumers fits engine.Press.
func (b *Broker) MakeConsumers(ctx context.Context, consumers []engine.Spec) error {
	_, err := b.ask(ctx, pathMake, consumers)
	return err
}

// DeleteConsumers fits engine.Press.
func (b *Broker) DeleteConsumers(ctx context.Context, consumers []engine.Spec) error {
	_, err := b.ask(ctx, pathDelete, consumers)
	return err
}

// Purge fits engine.Press.
func (b *Broker) Purge(ctx context.Context, stream, subject string) error {
	_, err := b.ask(ctx, pathPurge, place{Stream: stream, Subject: subject})
	return err
}

// Look fits engine.Reader.
func (b *Broker) Look(ctx context.Context, stream string) (engine.Found, error) {
	a, err := b.ask(ctx, pathLook, place{Stream: stream})
	if err != nil || a.Found == nil {
		return engine.Found{}, cmp.Or(err, engine.ErrAway)
	}
	return *a.Found, nil
}

// BoundQueue fits engine.Press.
func (b *Broker) BoundQueue(ctx context.Context, s engine.Stream) error {
	_, err := b.ask(ctx, pathBound, s)
	return err
}

// Announce fits engine.Board. It ends without a context.
func (b *Broker) Announce(subject string) error {
	_, err := b.ask(context.Background(), pathAnnounce, place{Subject: subject})
	return err
}
