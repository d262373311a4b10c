package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/fleet/engine"
)

// How the server treats messages.
const (
	sameID   = 10 * time.Minute // a message with the ID of another is stored once within it
	copies   = 3                // of each stream, where the servers are a cluster
	ackWait  = 10 * time.Second // a message is given to another machine when this one is silent
	maxTries = 50               // after which a message is a dead letter
	window   = 256              // messages that a machine has at once: at 200 ms to the servers 1,000 a second
	// messages that all machines of a consumer have at once: a machine that ends keeps its window for ackWait
	windows = 16 * window
)

// Prepare fits engine.Publisher. Of a stream that is there it sets the subjects, and limits that
// it has not: its sizes are for the people who run the servers to change.
func (b *Broker) Prepare(ctx context.Context, streams []engine.Stream) error {
	var failed error
	for _, s := range streams {
		err := b.prepare(ctx, s)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			// Servers that have just elected a leader may do what they are asked and answer nothing.
			err = b.prepare(ctx, s)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("stream %s: %w", s.Name, b.why(err)))
		}
		if errors.Is(failed, engine.ErrAway) || errors.Is(failed, context.DeadlineExceeded) || ctx.Err() != nil {
			break
		}
	}
	return failed
}

func (b *Broker) prepare(ctx context.Context, s engine.Stream) error {
	found, err := b.js.Stream(ctx, s.Name)
	if err == nil {
		cfg, want := found.CachedInfo().Config, b.config(s)
		same := s.Queue || slices.Equal(cfg.Subjects, want.Subjects) // of a queue see BoundQueue
		if !same {
			cfg.Subjects = want.Subjects
		}
		if of, least := cfg.MaxMsgsPerSubject, want.MaxMsgsPerSubject; least > 0 && of < least {
			cfg.MaxMsgsPerSubject, same = want.MaxMsgsPerSubject, false
		}
		if cfg.MaxMsgSize <= 0 && want.MaxMsgSize > 0 {
			cfg.MaxMsgSize, same = want.MaxMsgSize, false
		}
		if same {
			return nil
		}
		if may, err := b.may(ctx, js.DefaultAPIPrefix+"STREAM.UPDATE."+s.Name); !may {
			return err
		}
		_, err = b.js.UpdateStream(ctx, cfg)
		return err
	}
	if !errors.Is(err, js.ErrStreamNotFound) {
		return err
	}
	may, err := b.may(ctx, js.DefaultAPIPrefix+"STREAM.CREATE."+s.Name)
	if err != nil {
		return err
	}
	if !may {
		return errors.New("it is not there: an operator restores it from a backup, or types hookd fleet init")
	}
	_, err = b.js.CreateStream(ctx, b.config(s))
	if errors.Is(err, js.ErrStreamNameAlreadyInUse) { // another machine was first
		return nil
	}
	return err
}

// userInfo is the subject on which a server says its user's permissions.
const userInfo = "$SYS.REQ.USER.INFO"

// may reports whether the servers let this machine publish to a subject: it asks for nothing that
// they refuse. Where they do not say, it has to try. It is an error that they cannot be reached.
func (b *Broker) may(ctx context.Context, subject string) (bool, error) {
	untold := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.untold
	}
	if untold() {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	m, err := b.nc.RequestWithContext(ctx, userInfo, nil)
	switch {
	case errors.Is(err, nats.ErrNoResponders) || err != nil && untold():
		return true, nil
	case err != nil:
		return false, err
	}
	var user struct {
		Data struct {
			Permissions struct {
				Publish struct{ Allow []string }
			}
		}
	}
	allowed := &user.Data.Permissions.Publish.Allow
	return json.Unmarshal(m.Data, &user) != nil || len(*allowed) == 0 ||
		slices.ContainsFunc(*allowed, func(pattern string) bool { return covers(pattern, subject) }), nil
}

// covers reports whether a pattern has a subject.
func covers(pattern, subject string) bool {
	want, parts := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, w := range want {
		if w == ">" {
			return len(parts) > i
		}
		if i >= len(parts) || w != "*" && w != parts[i] {
			return false
		}
	}
	return len(want) == len(parts)
}

func (b *Broker) config(s engine.Stream) js.StreamConfig {
	cfg := js.StreamConfig{
		Name: s.Name, Subjects: s.Subjects, Retention: js.LimitsPolicy, Storage: js.FileStorage,
		MaxAge: s.MaxAge, MaxBytes: s.MaxBytes, MaxMsgSize: -1, MaxMsgsPerSubject: -1,
		Duplicates: sameID, Discard: js.DiscardOld, AllowDirect: true, Replicas: 1, AllowRollup: s.Objects,
	}
	if s.MaxAge > 0 {
		cfg.Duplicates = min(sameID, s.MaxAge)
	}
	if s.MaxMessage > 0 {
		cfg.MaxMsgSize = int32(s.MaxMessage)
	}
	if s.Queue {
		cfg.Retention = js.WorkQueuePolicy
	} else if s.PerSubject > 0 {
		cfg.MaxMsgsPerSubject = int64(s.PerSubject)
	}
	if s.Refuse {
		cfg.Discard = js.DiscardNew
	}
	if b.nc.ConnectedClusterName() != "" {
		cfg.Replicas = copies
	}
	return cfg
}

// BoundQueue fits engine.Press. Its subjects are the filters of its consumers: another operator may
// make one now, so it looks again until both are the same.
func (b *Broker) BoundQueue(ctx context.Context, s engine.Stream) error {
	for {
		same, err := b.boundQueue(ctx, s)
		if err != nil {
			return fmt.Errorf("bound stream %s: %w", s.Name, b.why(err))
		}
		if same {
			return nil
		}
	}
}

func (b *Broker) boundQueue(ctx context.Context, s engine.Stream) (same bool, err error) {
	found, err := b.js.Stream(ctx, s.Name)
	if err != nil {
		return false, err
	}
	var own []string // a subject for each consumer
	list := found.ListConsumers(ctx)
	for c := range list.Info() {
		own = append(own, c.Config.FilterSubject)
	}
	if err := list.Err(); err != nil {
		return false, err
	}
	cfg := found.CachedInfo().Config
	subjects := own
	if len(own) == 0 {
		subjects = []string{s.Name} // a stream has to have one; no machine may publish to this one
	}
	slices.Sort(subjects)
	each := int64(max(1, s.PerSubject/max(1, len(own))))
	slices.Sort(cfg.Subjects)
	if slices.Equal(cfg.Subjects, subjects) && cfg.MaxMsgsPerSubject == each && cfg.DiscardNewPerSubject {
		return true, nil
	}
	cfg.Subjects, cfg.MaxMsgsPerSubject, cfg.DiscardNewPerSubject = subjects, each, true
	_, err = b.js.UpdateStream(ctx, cfg)
	return false, err
}

// Consume fits engine.Consumer. It makes the consumer, and makes it again should it be gone, until
// ctx ends. One that the servers leave to other machines is asked for each minute: this machine
// may become a worker.
func (b *Broker) Consume(ctx context.Context, c engine.Spec, handle func(context.Context, engine.Delivery)) error {
	var rest time.Duration
	left := false
	for tries := 0; ctx.Err() == nil; tries++ {
		if !pause.For(rest, ctx.Done()) {
			return ctx.Err()
		}
		rest = restTime(min(tries, 4))
		if !b.State().Connected {
			continue
		}
		may, err := b.may(ctx, js.DefaultAPIPrefix+"CONSUMER.INFO."+c.Stream+"."+c.Name)
		if err != nil {
			continue
		}
		if !may {
			if !left {
				b.log.Info("a consumer of the fleet is left to other machines: the servers do not let this one take work",
					zap.String("stream", c.Stream), zap.String("consumer", c.Name))
			}
			left, rest = true, mostPause
			continue
		}
		left = false
		took, err := b.consume(ctx, c, handle)
		if took > 0 {
			tries = 0
		}
		if err != nil && ctx.Err() == nil {
			b.noteConsumer(c, b.why(err))
		}
	}
	return ctx.Err()
}

func (b *Broker) consumerConfig(c engine.Spec) js.ConsumerConfig {
	return js.ConsumerConfig{
		Durable: c.Name, FilterSubject: c.Subject, AckPolicy: js.AckExplicitPolicy, AckWait: ackWait,
		MaxDeliver: b.tries, MaxAckPending: windows, DeliverPolicy: js.DeliverAllPolicy,
	}
}

// consumer returns a consumer. It makes a missing one: that succeeds with a key that may do
// everything, such as the key of a server that runs beside hookd.
func (b *Broker) consumer(ctx context.Context, c engine.Spec) (js.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	found, err := b.js.Consumer(ctx, c.Stream, c.Name)
	if errors.Is(err, js.ErrConsumerNotFound) {
		may, unknown := b.may(ctx, js.DefaultAPIPrefix+"CONSUMER.CREATE."+c.Stream+"."+c.Name)
		if !may {
			return nil, cmp.Or(unknown, fmt.Errorf("it is not there: %s", c.Missing))
		}
		if found, err = b.js.CreateConsumer(ctx, c.Stream, b.consumerConfig(c)); err != nil {
			err = fmt.Errorf("it is not there: %s: %w", c.Missing, err)
		}
	}
	return found, err
}

// consume returns how many messages it handled, when the consumer ends or ctx does.
func (b *Broker) consume(
	ctx context.Context,
	c engine.Spec,
	handle func(context.Context, engine.Delivery),
) (took int, err error) {
	consumer, err := b.consumer(ctx, c)
	if err != nil {
		return 0, err
	}
	messages, err := consumer.Messages(js.PullMaxMessages(window), js.PullHeartbeat(5*time.Second))
	if err != nil {
		return 0, err
	}
	b.noteConsumer(c, nil)
	defer context.AfterFunc(ctx, messages.Stop)()
	places := make(chan struct{}, window)
	defer func() { // all calls have returned
		for range window {
			places <- struct{}{}
		}
	}()
	for {
		m, err := messages.Next()
		if errors.Is(err, js.ErrNoHeartbeat) && b.State().Connected {
			continue
		}
		if err != nil {
			return took, err
		}
		meta, err := m.Metadata()
		if err != nil {
			return took, err
		}
		took++
		places <- struct{}{}
		go func() {
			defer func() { <-places }()
			handle(ctx, engine.Delivery{
				Stored: stored(m, meta), Try: int(meta.NumDelivered),
				Took:  func() error { return b.took(m) },
				Later: func(d time.Duration) error { return m.NakWithDelay(d) },
			})
		}()
	}
}

// took waits until the server has the acknowledgement: without it the server delivers the message
// again, and its hooks run again.
func (b *Broker) took(m js.Msg) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	return b.why(m.DoubleAck(ctx))
}
