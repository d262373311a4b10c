// Package jetstream is the engine beneath a fleet: streams and consumers of a NATS
// server, by its client library. It fits fleet.Broker.
//
// It promises: the connection is made again for as long as it takes, with pauses that
// grow to a minute; nothing waits in its memory meanwhile, a call fails at once with
// fleet.ErrAway. A message counts as stored when the server has said so. Calls end soon
// after their context.
//
// It knows no hook, event or decision.
package jetstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/readfile"
)

// Options of a Broker. Servers and Machine are required.
type Options struct {
	Servers []string
	Creds   string // file of an nkey seed, or a .creds file; "" = none
	CA      string // file of certificates; "" = those of the system
	Machine string // names the connection and its inbox
	Tries   int    // after which a message is a dead letter; 0 = 50
	Log     *zap.Logger
}

// Broker is a connection to the servers. It is safe for concurrent use.
type Broker struct {
	nc      *nats.Conn
	js      js.JetStream
	log     *zap.Logger
	tries   int
	changed chan struct{}

	mu      sync.Mutex // guards what is below
	state   fleet.State
	trouble map[string]string // consumers that could not begin, and why
	left    map[string]bool   // shared consumers by stream.name; true = the servers do not give it to this machine
}

var _ fleet.Broker = (*Broker)(nil)

// How long the client waits.
const (
	dialTime   = 10 * time.Second
	callTime   = 5 * time.Second // for one answer: what a server that ends had been asked is asked again
	firstPause = time.Second     // before a connection is tried again; doubles
	mostPause  = time.Minute
	pingEvery  = 15 * time.Second // two without an answer end a connection
)

// Connect begins to connect. It fails for bad options alone: servers may be away.
func Connect(o Options) (*Broker, error) {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	b := &Broker{
		log: o.Log.Named("fleet"), tries: cmp.Or(o.Tries, maxTries), changed: make(chan struct{}, 1),
		trouble: map[string]string{}, left: map[string]bool{},
	}
	b.state.Since = time.Now()
	opts := []nats.Option{
		nats.Name("hookd " + o.Machine), nats.CustomInboxPrefix(Inbox(o.Machine)),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.CustomReconnectDelay(pause), nats.Timeout(dialTime),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		nats.ConnectHandler(b.connected), nats.ReconnectHandler(b.connected),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { b.away(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { b.away(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.refused(err) }),
		nats.IgnoreDiscoveredServers(),
	}
	opts, err := secure(opts, o)
	if err != nil {
		return nil, err
	}
	if b.nc, err = nats.Connect(strings.Join(o.Servers, ","), opts...); err != nil {
		return nil, fmt.Errorf("connect to the fleet's servers: %w", err)
	}
	if b.js, err = js.New(b.nc, js.WithPublishAsyncMaxPending(1024), js.WithDefaultTimeout(callTime)); err != nil {
		b.nc.Close()
		return nil, fmt.Errorf("connect to the fleet's servers: %w", err)
	}
	return b, nil
}

// Inbox is the prefix of the subjects on which a machine gets its answers: its own, so
// that no other machine can read them.
func Inbox(machine string) string { return "_INBOX." + machine }

// secure adds who the machine is, and whom it trusts.
func secure(opts []nats.Option, o Options) ([]nats.Option, error) {
	if o.Creds != "" {
		text, err := readfile.Read(o.Creds, 64<<10)
		if err != nil {
			return nil, fmt.Errorf("fleet.creds: %w", err)
		}
		if strings.Contains(string(text), "-----BEGIN") {
			opts = append(opts, nats.UserCredentialBytes(text))
		} else {
			key, err := nats.NkeyOptionFromSeed(o.Creds)
			if err != nil {
				return nil, fmt.Errorf("fleet.creds: %s: %w; make one with `hookd fleet keygen FILE`", o.Creds, err)
			}
			opts = append(opts, key)
		}
	}
	if o.CA == "" {
		return opts, nil
	}
	text, err := readfile.Read(o.CA, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("fleet.ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("fleet.ca: %s has no certificate", o.CA)
	}
	return append(opts, nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})), nil
}

// pause is the time before the next try to connect, with up to a half of it at random:
// machines that lost a server at the same time do not come back at the same time.
func pause(tries int) time.Duration {
	d := min(firstPause<<min(tries, 10), mostPause)
	return d/2 + rand.N(d/2+1)
}

// Close ends the connection.
func (b *Broker) Close() { b.nc.Close() }

func (b *Broker) connected(nc *nats.Conn) {
	b.mu.Lock()
	b.state = fleet.State{Connected: true, Server: nc.ConnectedAddr(), Since: time.Now(), Limit: int(nc.MaxPayload())}
	b.mu.Unlock()
	b.log.Info("connected to the fleet", zap.String("server", nc.ConnectedAddr()))
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// away notes that no server answers. The log says it once.
func (b *Broker) away(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Connected {
		b.log.Warn("no server of the fleet answers, what is for it waits on disk", zap.Error(err))
		b.state.Connected, b.state.Since = false, time.Now()
	}
	if err != nil {
		b.state.Err = err.Error()
	}
}

// askedConsumer finds the consumer in what a server says of a question that it refuses.
var askedConsumer = regexp.MustCompile(`(?i)^nats: permissions violation.*"\$JS\.API\.CONSUMER\.INFO\.([^"]+)"`)

// refused notes what a server does not let this machine do, which a call sees only as an
// answer that does not come. That it may not have a shared consumer is no trouble: others do.
func (b *Broker) refused(err error) {
	b.mu.Lock()
	if m := askedConsumer.FindStringSubmatch(err.Error()); m != nil {
		if left, shared := b.left[m[1]]; shared {
			b.left[m[1]] = true
			b.mu.Unlock()
			if !left {
				b.log.Info("a consumer of the fleet is left to other machines: the servers do not let this one take work",
					zap.String("consumer", m[1]))
			}
			return
		}
	}
	first := b.state.Err != err.Error()
	b.state.Err = err.Error()
	b.mu.Unlock()
	if first {
		b.log.Warn("a server of the fleet refuses", zap.Error(err))
	}
}

// noteConsumer notes why a consumer could not begin; nil = it has. The log says it when it
// changes.
func (b *Broker) noteConsumer(c fleet.Spec, err error) {
	name := c.Stream + " " + c.Name
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.trouble, name)
		if c.Shared {
			b.left[c.Stream+"."+c.Name] = false
		}
		return
	}
	if b.trouble[name] != err.Error() {
		b.log.Warn("events of the fleet cannot be taken now", zap.String("stream", c.Stream),
			zap.String("consumer", c.Name), zap.Error(err))
	}
	b.trouble[name] = err.Error()
}

// State fits fleet.Publisher.
func (b *Broker) State() fleet.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	for _, name := range slices.Sorted(maps.Keys(b.trouble)) {
		if s.Err == "" {
			s.Err = "consumer " + name + ": " + b.trouble[name]
		}
	}
	return s
}

// Changed fits fleet.Reader.
func (b *Broker) Changed() <-chan struct{} { return b.changed }

// why returns the error of a call in the words of this package.
func (b *Broker) why(err error) error {
	if err == nil || errors.Is(err, fleet.ErrAway) {
		return err
	}
	b.mu.Lock()
	state := b.state
	b.mu.Unlock()
	switch {
	case !state.Connected || errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrReconnectBufExceeded):
		return fmt.Errorf("%w: %w", fleet.ErrAway, err)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", fleet.ErrTooLarge, err)
	case state.Err != "" && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)):
		return fmt.Errorf("%w; the server says: %s", err, state.Err)
	}
	return err
}

// Publish fits fleet.Publisher. All messages are on their way before the first answer is
// waited for.
func (b *Broker) Publish(ctx context.Context, list []fleet.Message) []error {
	errs := make([]error, len(list))
	if !b.State().Connected {
		for i := range errs {
			errs[i] = fleet.ErrAway
		}
		return errs
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	waits := make([]js.PubAckFuture, len(list))
	for i, m := range list {
		var opts []js.PublishOpt
		if m.ID != "" {
			opts = append(opts, js.WithMsgID(m.ID))
		}
		msg := &nats.Msg{Subject: m.Subject, Data: m.Data}
		waits[i], errs[i] = b.js.PublishMsgAsync(msg, append(opts, js.WithRetryAttempts(0))...)
	}
	for i, w := range waits {
		if errs[i] == nil {
			select {
			case <-w.Ok():
			case errs[i] = <-w.Err():
			case <-ctx.Done():
				errs[i] = ctx.Err()
			}
		}
		errs[i] = tooLarge(b.why(errs[i]))
	}
	return errs
}

// tooLarge marks the refusal of a message that is larger than its stream takes.
func tooLarge(err error) error {
	var api *js.APIError
	if errors.As(err, &api) && api.ErrorCode == errMessageSize {
		return fmt.Errorf("%w: %w", fleet.ErrTooLarge, err)
	}
	return err
}

// errMessageSize is the server's JSStreamMessageExceedsMaximumErr.
const errMessageSize = 10054

// Read fits fleet.Reader.
func (b *Broker) Read(ctx context.Context, q fleet.Query, each func(fleet.Stored) bool) error {
	if err := b.read(ctx, q, each); err != nil {
		return fmt.Errorf("read %s: %w", q.Stream, b.why(err))
	}
	return nil
}

// readPage is how many messages are asked for at once.
const readPage = 512

func (b *Broker) read(ctx context.Context, q fleet.Query, each func(fleet.Stored) bool) error {
	if !b.State().Connected {
		return fleet.ErrAway
	}
	cfg := js.ConsumerConfig{
		AckPolicy: js.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
		DeliverPolicy: js.DeliverAllPolicy,
	}
	if q.Subject != "" {
		cfg.FilterSubject = q.Subject
	}
	switch {
	case q.Last:
		cfg.DeliverPolicy = js.DeliverLastPerSubjectPolicy
	case q.After > 0:
		cfg.DeliverPolicy, cfg.OptStartSeq = js.DeliverByStartSequencePolicy, q.After+1
	case !q.Since.IsZero():
		cfg.DeliverPolicy, cfg.OptStartTime = js.DeliverByStartTimePolicy, &q.Since
	}
	consumer, err := b.js.CreateConsumer(ctx, q.Stream, cfg)
	if err != nil {
		return err
	}
	defer b.forget(q.Stream, consumer.CachedInfo().Name)
	for left := consumer.CachedInfo().NumPending; left > 0; {
		batch, err := consumer.Fetch(int(min(left, readPage)), js.FetchMaxWait(callTime))
		if err != nil {
			return err
		}
		n := 0
		for m := range batch.Messages() {
			meta, err := m.Metadata()
			if err != nil {
				return err
			}
			n, left = n+1, meta.NumPending
			if !each(stored(m, meta)) {
				return nil
			}
		}
		if err := batch.Error(); err != nil {
			return err
		}
		if n == 0 {
			return ctx.Err()
		}
	}
	return nil
}

// forget ends a consumer that was made for one reading; the server forgets it within a
// minute where that is not allowed.
func (b *Broker) forget(stream, name string) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), callTime)
		defer cancel()
		_ = b.js.DeleteConsumer(ctx, stream, name)
	}()
}

func stored(m js.Msg, meta *js.MsgMetadata) fleet.Stored {
	return fleet.Stored{
		Message: fleet.Message{Subject: m.Subject(), ID: m.Headers().Get(js.MsgIDHeader), Data: m.Data()},
		Seq:     meta.Sequence.Stream, Time: meta.Timestamp,
	}
}

// Count fits fleet.Keeper.
func (b *Broker) Count(ctx context.Context, stream, subject string) (n int, err error) {
	found, err := b.js.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("count in %s: %w", stream, b.why(err))
	}
	info, err := found.Info(ctx, js.WithSubjectFilter(subject))
	if err != nil {
		return 0, fmt.Errorf("count in %s: %w", stream, b.why(err))
	}
	for _, of := range info.State.Subjects {
		n += int(of)
	}
	return n, nil
}

// Drop fits fleet.Keeper.
func (b *Broker) Drop(ctx context.Context, stream string, seq uint64) error {
	found, err := b.js.Stream(ctx, stream)
	if err == nil {
		err = found.DeleteMsg(ctx, seq)
	}
	if errors.Is(err, js.ErrMsgNotFound) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("delete message %d of %s: %w", seq, stream, b.why(err))
	}
	return nil
}

// Waiting fits fleet.Reader.
func (b *Broker) Waiting(ctx context.Context, stream, consumer string) (int, error) {
	found, err := b.js.Consumer(ctx, stream, consumer)
	if errors.Is(err, js.ErrConsumerNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, b.why(err)
	}
	info := found.CachedInfo()
	return int(info.NumPending) + info.NumAckPending, nil
}
