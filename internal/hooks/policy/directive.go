package policy

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/wire"
)

// Directive says which hooks the machines of a fleet are to run: which bundle is in force, which
// one is on trial, and which hooks are switched off. There is one for all of them, and a
// newer one replaces it as a whole: a machine that was away needs the newest alone.
type Directive struct {
	Tenant   string    `json:"tenant"`
	Sequence uint64    `json:"sequence"` // a newer one has a greater one
	Time     time.Time `json:"time"`     // when it was signed
	By       string    `json:"by"`       // who signed it, as that person's hookd says

	Enforced *Revision `json:"enforced,omitempty"` // for all machines; nil = none
	Previous *Revision `json:"previous,omitempty"` // enforced before; nil = it is not known
	Next     *Revision `json:"next,omitempty"`     // on trial; nil = none
	Stage    Stage     `json:"stage,omitempty"`    // of Next; "" where there is none
	Percent  int       `json:"percent,omitempty"`  // of the machines, at StageCanary: 1 to 99

	Off []Off `json:"off,omitempty"` // by name of the hook
}

// Stage is how far a bundle has come.
type Stage string

const (
	StageShadow  Stage = "shadow"  // its guards run on each machine beside what is in force, and never count
	StageCanary  Stage = "canary"  // it is in force on some machines
	StageEnforce Stage = "enforce" // it is in force on all of them
)

// Revision names one bundle, byte for byte.
type Revision struct {
	Name     string `json:"name"`
	Sequence uint64 `json:"sequence"`
	Digest   string `json:"digest"` // Head.Digest
}

// Text is the revision as it is typed: NAME@SEQUENCE; "" for nil.
func (r *Revision) Text() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s@%d", r.Name, r.Sequence)
}

// is reports whether both are the same bundle, or none.
func (r *Revision) is(other *Revision) bool {
	return r == other || r != nil && other != nil && *r == *other
}

// Off is a hook that the fleet has switched off.
type Off = wire.SwitchOff

// The limits of a directive.
const (
	MaxDirective = 200 << 10 // bytes, with its signature
	maxOff       = 500
	maxReason    = 500     // bytes
	maxSequence  = 1 << 62 // there is always a greater one
)

// directiveMagic begins the signed bytes of a directive, so that the signature fits nothing
// else.
const directiveMagic = "hookd-directive-1\n"

// SignedDirective is a directive as it was signed.
type SignedDirective struct {
	Text      []byte `json:"text"`
	Signature []byte `json:"signature"`
}

// Empty reports whether there is none.
func (s SignedDirective) Empty() bool { return len(s.Text) == 0 }

func (s SignedDirective) digest() string { return Head(s).Digest() }

// Sign makes the directive that follows d: newer than it, and of now.
func (d Directive) Sign(key ed25519.PrivateKey, now time.Time, by string) (s SignedDirective, err error) {
	d.Time, d.By = now.UTC().Truncate(time.Millisecond), by
	d.Sequence = max(d.Sequence+1, uint64(max(now.UnixMilli(), 0)))
	if err := d.check(); err != nil {
		return s, err
	}
	if s.Text, err = json.Marshal(d); err != nil {
		return s, err
	}
	s.Signature = ed25519.Sign(key, append([]byte(directiveMagic), s.Text...))
	return s, nil
}

// Verify returns the directive if key signed it for the tenant.
func (s SignedDirective) Verify(key ed25519.PublicKey, tenant string) (d Directive, err error) {
	if d, err = s.verify(key); err == nil && d.Tenant != tenant {
		return Directive{}, fmt.Errorf("it is for tenant %q", d.Tenant)
	}
	return d, err
}

func (s SignedDirective) verify(key ed25519.PublicKey) (d Directive, err error) {
	text := append([]byte(directiveMagic), s.Text...)
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, text, s.Signature) {
		return d, ErrKey
	}
	if err := json.Unmarshal(s.Text, &d); err != nil {
		return d, fmt.Errorf("what was signed: %w", err)
	}
	if again, err := json.Marshal(d); err != nil || !bytes.Equal(again, s.Text) {
		return Directive{}, errors.New("it says more than this hookd knows: update hookd")
	}
	return d, d.check()
}

// check is an error for a directive with impossible values.
func (d Directive) check() error {
	for _, r := range []*Revision{d.Enforced, d.Previous, d.Next} {
		if r != nil && (pack.CheckName(r.Name) != nil || r.Sequence == 0 || len(r.Digest) != sha256.Size*2) {
			return fmt.Errorf("it names the bundle %q, which cannot be one", r.Text())
		}
	}
	canary := d.Stage == StageCanary && d.Percent > 0 && d.Percent < 100
	shadow := d.Stage == StageShadow && d.Percent == 0
	none := d.Stage == "" && d.Percent == 0
	switch {
	case d.Sequence == 0 || d.Sequence > maxSequence:
		return fmt.Errorf("it has the sequence %d", d.Sequence)
	case d.Next != nil && !canary && !shadow || d.Next == nil && !none:
		return fmt.Errorf("it has the stage %q with %d%%", d.Stage, d.Percent)
	case len(d.Off) > maxOff:
		return fmt.Errorf("it switches more than %d hooks off", maxOff)
	}
	for _, o := range d.Off {
		if o.Hook == "" || o.Reason == "" || len(o.Reason) > maxReason {
			return fmt.Errorf("hook %q is switched off without a reason, or with one of more than %d bytes", o.Hook, maxReason)
		}
	}
	return nil
}

// ErrEnforced is the error of a bundle that is enforced already.
var ErrEnforced = errors.New("is in force on all machines already")

// Roll brings a bundle to a stage. percent is for StageCanary alone. It fails with ErrEnforced where that changes
// nothing.
func (d Directive) Roll(r Revision, stage Stage, percent int) (Directive, error) {
	switch {
	case stage != StageEnforce && r.is(d.Enforced):
		return d, fmt.Errorf("%s %w", r.Text(), ErrEnforced)
	case stage != StageEnforce:
		d.Next, d.Stage, d.Percent = &r, stage, percent
		return d, nil
	case r.is(d.Enforced) && d.Next == nil:
		return d, fmt.Errorf("%s %w", r.Text(), ErrEnforced)
	case !r.is(d.Enforced):
		d.Previous, d.Enforced = d.Enforced, &r
	}
	d.Next, d.Stage, d.Percent = nil, "", 0
	return d, nil
}

// Revert ends a trial; where there is none it brings back the bundle enforced before.
func (d Directive) Revert() (Directive, error) {
	switch {
	case d.Next != nil:
		d.Next, d.Stage, d.Percent = nil, "", 0
	case d.Previous != nil:
		d.Enforced, d.Previous = d.Previous, nil
	default:
		return d, errors.New("there is nothing to go back to")
	}
	return d, nil
}

// SwitchOff switches a hook off, in place of the earlier entry about the hook.
func (d Directive) SwitchOff(o Off) Directive {
	d, _ = d.SwitchOn(o.Hook)
	d.Off = append(d.Off, o)
	slices.SortFunc(d.Off, func(a, b Off) int { return cmp.Compare(a.Hook, b.Hook) })
	return d
}

// SwitchOn ends that a hook is switched off; false = it was not.
func (d Directive) SwitchOn(hook string) (Directive, bool) {
	rest := slices.DeleteFunc(slices.Clone(d.Off), func(o Off) bool { return o.Hook == hook })
	was := len(rest) < len(d.Off)
	d.Off = rest
	return d, was
}

// IsOff returns the entry that switches a hook of a bundle off; nil = none does. sequence 0 is
// that of a hook of no bundle.
func (d Directive) IsOff(hook string, sequence uint64) *Off {
	for _, o := range d.Off {
		if o.Hook == hook && (o.Revision == 0 || o.Revision == sequence) {
			return &o
		}
	}
	return nil
}

// For returns the bundles that a machine is to have in force and in the shadow; nil = none. stage
// is the stage of the bundle in force there.
func (d Directive) For(machine string) (force, shadow *Revision, stage Stage) {
	switch {
	case d.Stage == StageShadow:
		return d.Enforced, d.Next, StageEnforce
	case d.Stage == StageCanary && d.Next.Picks(machine, d.Percent):
		return d.Next, nil, StageCanary
	}
	return d.Enforced, nil, StageEnforce
}

// Picks reports whether a machine is among percent of all. A greater percentage picks the
// same machines and more; another bundle picks others.
func (r *Revision) Picks(machine string, percent int) bool {
	sum := sha256.Sum256([]byte(r.Digest + "/" + machine))
	return binary.BigEndian.Uint64(sum[:])%100 < uint64(max(percent, 0))
}
