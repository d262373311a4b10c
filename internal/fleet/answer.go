package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
	return f.opts.Broker.Publish(ctx, []engine.Message{{
		Subject: f.names.subject(areaAnswer, token(s.Machine), token(s.Ask)),
		ID:      hex.EncodeToString(sum[:]), Data: encode(a),
	}})[0]
}

// answers is the consumer of the answers to this machine's asks.
func (n Names) answers() engine.Spec {
	return engine.Spec{
		Stream: n.stream(areaAnswer), Name: answerConsumer + n.Machine, Serial: true,
		Subject: n.all(areaAnswer, n.Machine, "*"),
	}
}

// everyEvent is the consumer of the events for hooks of scope every.
func (n Names) everyEvent() engine.Spec {
	return engine.Spec{
		Stream: n.stream(areaEvery), Name: everyConsumer + n.Machine, Subject: n.all(areaEvery), Serial: true,
	}
}

// takeAnswer gives an answer to its ask if it counts.
func (f *Fleet) takeAnswer(ctx context.Context, d engine.Delivery) {
	defer f.took(d)
	s, approver, err := f.verify(d.Data, time.Now())
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
	f.count.refused.Add(1)
	f.log.Warn("an answer of the fleet does not count", zap.String("subject", d.Subject), zap.Error(err))
}

// verify checks all that an answer must be. Times are those of this machine, which has set
// the deadline.
func (f *Fleet) verify(data []byte, now time.Time) (s wire.FleetStatement, approver string, err error) {
	var a wire.FleetAnswer
	if err := json.Unmarshal(data, &a); err != nil {
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
	if err := json.Unmarshal(a.Text, &s); err != nil {
		return s, "", fmt.Errorf("what was signed cannot be read: %w", err)
	}
	held, ok := f.opts.Asked.Ask(s.Ask)
	switch {
	case s.Tenant != f.names.Tenant || s.Machine != f.names.Machine:
		return s, "", fmt.Errorf("it is for machine %q of tenant %q", s.Machine, s.Tenant)
	case !ok:
		return s, "", errors.New("it is for an ask that is not held")
	case s.Answer == wire.OutcomeAllow && (held.Card == nil || s.About != held.Card.Digest || s.About == ""):
		return s, "", errors.New("it is for another question than the one that is held")
	case !s.Until.Equal(held.Until) || !now.Before(held.Until):
		return s, "", errors.New("it came after the deadline, or names another one")
	case s.Answer != wire.OutcomeAllow && s.Answer != wire.OutcomeDeny:
		return s, "", fmt.Errorf("the answer is %q", s.Answer)
	}
	return s, approver, nil
}
