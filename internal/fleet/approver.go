package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/wire"
)

// Asked takes the answers of approvers.
type Asked interface {
	// Ask returns an ask that is held on this machine.
	Ask(id string) (wire.Ask, bool)
	// Answer gives the answer of an approver, by name. The first answer counts.
	Answer(ctx context.Context, approver string, s wire.FleetStatement) *wire.Error
	// Approvers returns whose answers count: names to public keys.
	Approvers() map[string]ed25519.PublicKey
}

// SignAnswer makes the answer of an approver to an ask of a machine.
func SignAnswer(s wire.FleetStatement, key ed25519.PrivateKey) wire.FleetAnswer {
	text := encode(s)
	return wire.FleetAnswer{Text: text, Signature: ed25519.Sign(key, append([]byte(wire.FleetSigned), text...))}
}

// PassAnswer sends the answer of an approver to the machine that asks. Whether it counts
// is that machine's to say.
func (f *Fleet) PassAnswer(ctx context.Context, a wire.FleetAnswer) error {
	var s wire.FleetStatement
	if err := json.Unmarshal(a.Text, &s); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if s.Tenant != f.names.Tenant || s.Machine == "" || s.Ask == "" {
		return errors.New("the answer names no ask of a machine of this fleet")
	}
	sum := sha256.Sum256(a.Signature)
	err := f.opts.Broker.Publish(ctx, []engine.Message{{
		Subject: f.names.subject(areaAnswer), ID: hex.EncodeToString(sum[:]), Data: encode(a),
	}})[0]
	if err == nil {
		_ = f.opts.Broker.Announce(f.names.subject(areaNews, areaAnswer, token(s.Machine))) // it looks anyway
	}
	return err
}

// answersEvery is how often a machine looks for answers while it holds asks, whatever it hears.
const answersEvery = 5 * time.Second

// followAnswers takes the answers to asks of this machine, until ctx ends. Asks end with the
// daemon that holds them, so older answers are for none: the position is in memory.
func (f *Fleet) followAnswers(ctx context.Context) {
	var ears sync.WaitGroup
	ears.Go(func() { f.in.listen(ctx, f.names.all(areaNews, areaAnswer, f.names.Machine), f.replied) })
	defer ears.Wait()
	select {
	case <-f.begun:
	case <-ctx.Done():
		return
	}
	from := engine.Query{Stream: f.names.stream(areaAnswer), Subject: f.names.all(areaAnswer)} // of keepAnswers at most
	for ctx.Err() == nil {
		if f.online() {
			err := f.opts.Broker.Read(ctx, from, func(m engine.Stored) bool {
				f.takeAnswer(ctx, m)
				from.After = m.Seq
				return ctx.Err() == nil
			})
			f.in.noteReading(areaAnswer, err)
		}
		often := readEvery
		if f.held.Load() > 0 {
			often = answersEvery
		}
		wait(ctx, often, f.replied)
	}
}

// takeAnswer gives an answer to its ask if it counts. An answer to another machine, or to an ask
// that has ended, is none of its business.
func (f *Fleet) takeAnswer(ctx context.Context, m engine.Stored) {
	s, approver, err := f.verify(m.Data, time.Now())
	if s.Machine != "" && s.Machine != f.names.Machine {
		return
	}
	if err == nil {
		if bad := f.opts.Asked.Answer(ctx, approver, s); bad == nil {
			f.log.Info("an approver has answered from another machine", zap.String("ask", s.Ask),
				zap.String("approver", approver), zap.String("answer", string(s.Answer)))
			return
		} else if bad.Code == wire.CodeAnswered || bad.Code == wire.CodeNotFound {
			return // another answer was first
		} else {
			err = bad
		}
	}
	f.refuse(m, fmt.Errorf("the answer does not count: %w", err))
}

// verify checks all that an answer must be, and returns what it says, also of one that does not
// count. Times are those of this machine, which has set the deadline.
func (f *Fleet) verify(data []byte, now time.Time) (s wire.FleetStatement, approver string, err error) {
	var a wire.FleetAnswer
	if err := json.Unmarshal(data, &a); err != nil {
		return s, "", fmt.Errorf("it cannot be read: %w", err)
	}
	if err := json.Unmarshal(a.Text, &s); err != nil {
		return s, "", fmt.Errorf("it cannot be read: %w", err)
	}
	for name, key := range f.opts.Asked.Approvers() {
		if ed25519.Verify(key, append([]byte(wire.FleetSigned), a.Text...), a.Signature) {
			approver = name
		}
	}
	if approver == "" {
		return s, "", errors.New("no key of fleet.approvers has signed it")
	}
	held, ok := f.opts.Asked.Ask(s.Ask)
	switch {
	case s.Tenant != f.names.Tenant || s.Machine != f.names.Machine:
		return s, "", fmt.Errorf("it is for machine %q of tenant %q", s.Machine, s.Tenant)
	case !ok:
		return s, "", errors.New("it is for an ask that is not held")
	case s.Answer == wire.OutcomeAllow && (held.Card == nil || s.About != held.Card.Digest || s.About == ""):
		return s, "", errors.New("it answers another question than the held one")
	case !s.Until.Equal(held.Until) || !now.Before(held.Until):
		return s, "", errors.New("it came after the deadline, or names another deadline")
	case s.Answer != wire.OutcomeAllow && s.Answer != wire.OutcomeDeny:
		return s, "", fmt.Errorf("the answer is %q", s.Answer)
	}
	return s, approver, nil
}
