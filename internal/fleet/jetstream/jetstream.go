// Package jetstream is the engine beneath a fleet: streams and consumers of a NATS
// server, by its client library. It fits engine.Broker.
//
// It promises: the connection is made again for as long as it takes, with pauses that
// grow to a minute; nothing waits in its memory meanwhile, a call fails at once with
// engine.ErrAway. A message counts as stored when the server has said so. Calls end soon
// after their context.
//
// It knows no hook, event or decision.
package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/machinekey"
)

// Broker is a connection to the servers. It is safe for concurrent use.
type Broker struct {
	nc      *nats.Conn
	js      js.JetStream
	log     *zap.Logger
	tries   int
	secret  []byte        // of messageID; nil = the machine has no key
	changed chan struct{} // see Changed
	told    chan struct{} // see Told
	rekeyed chan struct{} // see Rekeyed
	machine string        // name that this end gives to the servers
	creds   string        // file of the machine's key; "" = none
	end     func()        // of watch

	mu      sync.Mutex // guards what is below
	state   engine.State
	trouble map[string]string // consumers that could not begin, and why
	untold  bool              // the servers do not say what this machine may do
	other   bool              // the servers know the key by another name: the inbox of this one is refused
	since   time.Time         // of the last refusal
	asked   time.Time         // of the first message that none was acknowledged after; zero = none waits
	silent  bool              // the log has said that servers acknowledge nothing
}

var _ engine.Broker = (*Broker)(nil)

// How long the client waits.
const (
	dialTime   = 10 * time.Second
	callTime   = 5 * time.Second // for one answer: what a server that ends had been asked is asked again
	firstPause = time.Second     // before a connection is tried again; doubles
	mostPause  = time.Minute
	pingEvery  = 15 * time.Second // two without an answer end a connection
)

// Connect begins to connect. It fails for bad options alone: servers may be away. A nil log is
// none.
func Connect(o engine.Options, log *zap.Logger) (*Broker, error) {
	if log == nil {
		log = zap.NewNop()
	}
	b := &Broker{
		log: log.Named("fleet"), tries: cmp.Or(o.Tries, maxTries),
		changed: make(chan struct{}, 1), told: make(chan struct{}, 1), rekeyed: make(chan struct{}),
		creds: o.Creds, machine: o.Machine,
		trouble: map[string]string{},
	}
	b.state.Since = time.Now()
	opts := []nats.Option{
		nats.Name("hookd " + o.Machine), nats.CustomInboxPrefix(engine.Inbox(o.Machine)),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.CustomReconnectDelay(restTime), nats.Timeout(dialTime),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		nats.ConnectHandler(b.connected), nats.ReconnectHandler(b.connected),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { b.away(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { b.away(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.refused(err) }),
		nats.IgnoreDiscoveredServers(),
		nats.IgnoreAuthErrorAbort(), // a key that is let in again comes back
	}
	if o.MakeKey {
		if err := machinekey.Make(o.Creds); err != nil {
			return nil, fmt.Errorf("make the key of the fleet: %w", err)
		}
	}
	opts, secret, err := secure(opts, o)
	if err != nil {
		return nil, err
	}
	b.secret = secret
	if b.nc, err = nats.Connect(strings.Join(o.Servers, ","), opts...); err != nil {
		return nil, fmt.Errorf("connect to the fleet's servers: %w", err)
	}
	if b.js, err = js.New(b.nc, js.WithPublishAsyncMaxPending(1024), js.WithDefaultTimeout(callTime)); err != nil {
		b.nc.Close()
		return nil, fmt.Errorf("connect to the fleet's servers: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	b.end = end
	go b.watch(ctx)
	return b, nil
}

// maxKey is the size of the file of a key, in bytes.
const maxKey = 64 << 10

// secure adds who the machine is, and whom it trusts. It returns the text of the key, too.
func secure(opts []nats.Option, o engine.Options) (with []nats.Option, text []byte, err error) {
	if o.Creds != "" {
		if text, err = readfile.Read(o.Creds, maxKey); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; make one with `hookd fleet keygen FILE`", err)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("fleet.creds: %w", err)
		}
		if strings.Contains(string(text), "-----BEGIN") {
			opts = append(opts, nats.UserCredentialBytes(text))
		} else {
			key, err := nats.NkeyOptionFromSeed(o.Creds)
			if err != nil {
				return nil, nil, fmt.Errorf("fleet.creds: %s: %w; make one with `hookd fleet keygen FILE`", o.Creds, err)
			}
			opts = append(opts, key)
		}
	}
	if o.CA == "" {
		return opts, text, nil
	}
	authorities, err := readfile.Read(o.CA, 1<<20)
	if err != nil {
		return nil, nil, fmt.Errorf("fleet.ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, nil, fmt.Errorf("fleet.ca: %s has no certificate", o.CA)
	}
	return append(opts, nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})), text, nil
}

// restTime is the time before the next try to connect, with up to half the time at random:
// machines that lost a server at the same time do not come back at the same time.
func restTime(tries int) time.Duration {
	return pause.Within(pause.Doubled(firstPause, mostPause, tries))
}

// Close ends the connection.
func (b *Broker) Close() {
	b.end()
	b.nc.Close()
}

func (b *Broker) connected(nc *nats.Conn) {
	b.mu.Lock()
	b.state = engine.State{Connected: true, Server: nc.ConnectedAddr(), Since: time.Now(), Limit: int(nc.MaxPayload())}
	b.untold, b.other = false, false
	b.mu.Unlock()
	b.tell()
	b.log.Info("connected to the fleet", zap.String("server", nc.ConnectedAddr()))
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// away notes that no server answers. The log says it once.
func (b *Broker) away(err error) {
	defer b.tell()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Connected {
		b.log.Warn("no server of the fleet answers, what is for it waits on disk", zap.Error(err))
		b.state.Connected, b.state.Since = false, time.Now()
	}
	if err != nil {
		b.state.Err = keyError(err).Error()
	}
}

// keyError is err, or that the key is to blame.
func keyError(err error) error {
	for _, of := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked} {
		if errors.Is(err, of) || strings.EqualFold(err.Error(), of.Error()) {
			return engine.ErrKey
		}
	}
	return err
}

// refused notes an act that a server does not let this machine do, which a call sees only as an
// answer that does not come.
func (b *Broker) refused(err error) {
	if errors.Is(err, nats.ErrSlowConsumer) { // the server gives again what was not acknowledged
		b.log.Info("messages came faster than they were taken, and come again", zap.Error(err))
		return
	}
	err = keyError(err)
	b.worked()
	defer b.tell()
	b.mu.Lock()
	if strings.Contains(err.Error(), `"`+userInfo+`"`) {
		b.untold = true
		err = fmt.Errorf("%w: print the list of users again with `hookd fleet users`", err)
	}
	if b.other = b.other || strings.Contains(err.Error(), `Subscription to "`+engine.Inbox(b.machine)+"."); b.other {
		err = fmt.Errorf("the servers know this key by another name than %s: its entry was made for another machine, "+
			"or another role, see `hookd fleet user`", b.machine)
	}
	first := b.state.Err != err.Error()
	b.state.Err, b.since = err.Error(), time.Now()
	b.mu.Unlock()
	if first {
		b.log.Warn("a server of the fleet refuses", zap.Error(err))
	}
}

// noteConsumer notes why a consumer could not begin; nil = it has. The log says it when it
// changes.
func (b *Broker) noteConsumer(c engine.Spec, err error) {
	name := c.Stream + " " + c.Name
	defer b.tell()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.trouble, name)
		return
	}
	if b.trouble[name] != err.Error() {
		b.log.Warn("events of the fleet cannot be taken now", zap.String("stream", c.Stream),
			zap.String("consumer", c.Name), zap.Error(err))
	}
	b.trouble[name] = err.Error()
}

// asks notes that a message is on its way to a server.
func (b *Broker) asks() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked.IsZero() {
		b.asked = time.Now()
	}
}

// worked notes that the leader of a stream has answered, or a server has refused.
func (b *Broker) worked() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked, b.silent = time.Time{}, false
}

// mostSilence is how long a server may acknowledge nothing while messages wait for it.
const mostSilence = 10 * time.Second

// watch forgets a refusal that is not repeated, and tries another server when one has acknowledged
// nothing for mostSilence, until ctx ends: a server that is cut off from the others, or hangs, keeps its
// connections.
func (b *Broker) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		b.mu.Lock()
		server := b.state.Server
		silent := b.state.Connected && !b.asked.IsZero() && time.Since(b.asked) > mostSilence
		said := b.silent
		// All that is refused is tried again within a minute.
		over := b.state.Connected && b.state.Err != "" && time.Since(b.since) > 2*mostPause
		if over {
			b.state.Err, b.other = "", false
		}
		if silent {
			b.asked, b.silent = time.Time{}, true
		}
		b.mu.Unlock()
		if over {
			b.tell()
		}
		if b.keyIsAnother() {
			b.log.Info("the key of this machine is another one now")
			close(b.rekeyed)
			return
		}
		if !silent {
			continue
		}
		if !said {
			b.log.Warn("a server of the fleet acknowledges nothing: another one is tried",
				zap.String("server", server), zap.Duration("for", mostSilence))
		}
		if err := b.nc.ForceReconnect(); err != nil {
			b.log.Warn("no other server of the fleet can be tried", zap.Error(err))
		}
	}
}

// keyIsAnother reports whether the file of the key has another one than that which no server takes now.
func (b *Broker) keyIsAnother() bool {
	if b.creds == "" || b.State().Connected {
		return false
	}
	text, err := readfile.Read(b.creds, maxKey)
	return err == nil && !bytes.Equal(text, b.secret)
}

// Rekeyed is closed when this machine has another key and no server answers: the connection cannot be made
// with that key: it has to be made again.
func (b *Broker) Rekeyed() <-chan struct{} { return b.rekeyed }

// State fits engine.Publisher.
func (b *Broker) State() engine.State {
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

// Told fits link.Engine.
func (b *Broker) Told() <-chan struct{} { return b.told }

func (b *Broker) tell() {
	select {
	case b.told <- struct{}{}:
	default:
	}
}

// Changed fits engine.Reader.
func (b *Broker) Changed() <-chan struct{} { return b.changed }

// why returns the error of a call in the words of this package.
func (b *Broker) why(err error) error {
	if err == nil || errors.Is(err, engine.ErrAway) {
		return err
	}
	b.mu.Lock()
	state := b.state
	b.mu.Unlock()
	switch {
	case !state.Connected || errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrReconnectBufExceeded):
		return fmt.Errorf("%w: %w", engine.ErrAway, err)
	case errors.Is(err, js.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: %w", engine.ErrNoStream, err)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", engine.ErrTooLarge, err)
	case state.Err != "" && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)):
		return fmt.Errorf("%w; the server says: %s", err, state.Err)
	}
	return err
}

// Publish fits engine.Publisher. All messages are on their way before the first answer is
// waited for.
func (b *Broker) Publish(ctx context.Context, list []engine.Message) []error {
	errs := make([]error, len(list))
	if !b.State().Connected {
		for i := range errs {
			errs[i] = engine.ErrAway
		}
		return errs
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	waits := make([]js.PubAckFuture, len(list))
	for i, m := range list {
		var opts []js.PublishOpt
		if m.ID != "" {
			opts = append(opts, js.WithMsgID(b.messageID(m.ID)))
		}
		msg := &nats.Msg{Subject: m.Subject, Data: m.Data}
		waits[i], errs[i] = b.js.PublishMsgAsync(msg, append(opts, js.WithRetryAttempts(0))...)
		if errs[i] == nil {
			b.asks()
		}
	}
	for i, w := range waits {
		if errs[i] == nil {
			select {
			case <-w.Ok():
				b.worked()
			case errs[i] = <-w.Err():
			case <-ctx.Done():
				errs[i] = ctx.Err()
			}
		}
		refused := refusedByLeader(errs[i])
		errs[i] = tooLarge(b.why(errs[i]))
		if refused {
			b.worked()
			errs[i] = fmt.Errorf("%w: %w", engine.ErrRefused, errs[i])
		}
	}
	return errs
}

// messageID returns the ID under which the servers know a message. It cannot be told without the key:
// a stream stores an ID once, of any sender, so a member that guesses one hides the message.
func (b *Broker) messageID(id string) string {
	sum := hmac.New(sha256.New, b.secret)
	sum.Write([]byte(id))
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// tooLarge marks the refusal of a message that is larger than its stream takes.
func tooLarge(err error) error {
	var api *js.APIError
	if errors.As(err, &api) && api.ErrorCode == errMessageSize {
		return fmt.Errorf("%w: %w", engine.ErrTooLarge, err)
	}
	return err
}

// refusedByLeader reports whether the leader of a stream has refused a message: a server that knows
// no leader has done nothing.
func refusedByLeader(err error) bool {
	var api *js.APIError
	return errors.As(err, &api) && api.ErrorCode != errNoLeader
}

// errNoLeader is the server's JSClusterNotAvailErr.
const errNoLeader = 10008

// errMessageSize is the server's JSStreamMessageExceedsMaximumErr.
const errMessageSize = 10054

func stored(m js.Msg, meta *js.MsgMetadata) engine.Stored {
	return engine.Stored{
		Message: engine.Message{Subject: m.Subject(), ID: m.Headers().Get(js.MsgIDHeader), Data: m.Data()},
		Seq:     meta.Sequence.Stream, Time: meta.Timestamp,
	}
}

// Count fits engine.Counter.
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

// Drop fits engine.Counter.
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
