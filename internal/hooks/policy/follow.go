package policy

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/trust"
)

// FromFleet is the source of a policy that the fleet rolls out.
const FromFleet = "fleet"

// Member is a home's data about itself that it needs to follow a fleet.
type Member struct {
	Tenant, Machine string
	// Fetch gets the bytes of a bundle by its name there, Revision.Text.
	Fetch func(ctx context.Context, name string) ([]byte, error)
	Check Check
}

// SetFleet has a home follow the directives of a fleet that key has signed. The bundle in
// force stays so until the first of them, if the same key has signed that bundle.
func (h Home) SetFleet(key, by string) (Current, error) {
	if _, err := PublicKey(key); err != nil {
		return Current{}, err
	}
	err := h.locked(func() error {
		now, set, err := h.Current()
		if err != nil || !set || now.State.Key != key {
			now.State = State{} // what cannot be read is replaced
		}
		s := now.State
		s.Source, s.Key, s.Name, s.At, s.By = FromFleet, key, "", time.Now().UTC(), by
		s.ETag, s.Error, s.Refused = "", "", ""
		return h.write("policy.json", s)
	})
	if err != nil {
		return Current{}, err
	}
	c, _, err := h.Current()
	return c, err
}

// errLost is why a fleet without a directive is refused.
var errLost = errors.New("the servers have no directive any more: an operator has to type hookd fleet rollout again, " +
	"and each hookd fleet disable")

// Take remembers a directive if it is newer than the one before, whatever the source of the
// policy is: hooks that it switches off are off from then on. Of the directives on the servers, given the
// newest first, it takes the newest valid one. The bundles are the business of Follow. The reason why the
// newest does not count is remembered in State.Refused, and returned; the bundle in force stays so. None at
// all is such a reason where there was one. changed reports that State is another one. Without a policy
// Take fails with ErrUnset.
func (h Home) Take(tenant string, newestFirst ...[]byte) (changed bool, err error) {
	err = h.locked(func() error {
		c, set, err := h.Current()
		switch {
		case err != nil:
			return err
		case !set:
			return ErrUnset
		}
		taken, refused := c.State.Directive, error(nil)
		if len(newestFirst) == 0 && !taken.Empty() {
			refused = errLost
		}
		for i, text := range newestFirst {
			given, err := h.admit(c, text, tenant)
			if err == nil {
				taken = given
				break
			}
			if i == 0 {
				refused = fmt.Errorf("the newest directive of the fleet is refused: %w", err)
			}
		}
		said := ""
		if refused != nil {
			said = refused.Error()
		}
		changed = said != c.State.Refused || taken.digest() != c.State.Directive.digest()
		if !changed {
			return refused
		}
		c.State.Directive, c.State.Refused = taken, said
		return errors.Join(refused, h.write("policy.json", c.State))
	})
	return changed, err
}

// admit reads a directive. An unreadable one, one of another key, and one older than an earlier one are
// errors; after a success no older one is admitted any more. The caller holds the lock.
func (h Home) admit(c Current, text []byte, tenant string) (given SignedDirective, err error) {
	if err := json.Unmarshal(text, &given); err != nil {
		return given, fmt.Errorf("it cannot be read: %w", err)
	}
	if !given.Empty() && given.digest() == c.State.Directive.digest() {
		return given, nil
	}
	key, err := PublicKey(c.State.Key)
	if err != nil {
		return given, err
	}
	d, err := given.Verify(key, tenant)
	if err != nil {
		return given, err
	}
	floors, err := h.floors()
	if err != nil {
		return given, err
	}
	at := directiveFloor(key, tenant)
	if err := floors[at].admits(d.Sequence, given.digest()); err != nil {
		return given, err
	}
	floors[at] = floor{d.Sequence, given.digest()}
	return given, h.write("floors.json", floors)
}

func directiveFloor(key ed25519.PublicKey, tenant string) string {
	return trust.Sum(key) + "/directive/" + tenant
}

// Follow puts in force the bundles that the newest directive wants on this machine. A failure is noted
// in State.Error and returned; the bundle in force stays so. Where the policy has another
// source it does nothing.
func (h Home) Follow(ctx context.Context, m Member) (UpdateResult, error) {
	c, set, err := h.Current()
	if err == nil && !set {
		err = ErrUnset
	}
	if err != nil || c.State.Source != FromFleet || c.State.Directive.Empty() {
		return UpdateResult{Current: c}, err
	}
	force, shadow, _ := c.Directive.For(m.Machine)
	if c.Head().is(force) && c.ShadowHead().is(shadow) {
		if c.State.Error == "" {
			return UpdateResult{Current: c}, nil
		}
		return h.note("", nil)
	}
	wanted := []*Revision{force, shadow}
	bundles := make([]*fetchedBundle, len(wanted))
	for i, r := range wanted {
		if bundles[i], err = h.bundle(ctx, c, r, m); err != nil {
			break
		}
	}
	if err == nil {
		err = h.locked(func() error { return h.putDirected(c, bundles, m.Check) })
	}
	if ctx.Err() != nil {
		return UpdateResult{Current: c}, ctx.Err() // the caller ends: that says nothing of the fleet
	}
	if err != nil {
		stays := c.Head().Text()
		if stays == "" {
			stays = "no bundle"
		}
		return h.note("", fmt.Errorf("policy from the fleet: %w; %s stays in force", err, stays))
	}
	r := UpdateResult{Changed: true}
	r.Current, _, err = h.Current()
	return r, err
}

// fetchedBundle is a bundle with its bytes; nil = none.
type fetchedBundle struct {
	Bundle
	text []byte
}

// bundle returns a revision from the disk, else from the fleet, checked.
func (h Home) bundle(ctx context.Context, c Current, r *Revision, m Member) (*fetchedBundle, error) {
	if r == nil {
		return nil, nil
	}
	key, err := PublicKey(c.State.Key)
	if err != nil {
		return nil, err
	}
	check := func(text []byte) (*fetchedBundle, error) {
		b, err := Read(text, key)
		if err == nil && b.Head.Digest() != r.Digest {
			err = errors.New("it is not the bundle that the directive names")
		}
		return &fetchedBundle{b, text}, err
	}
	kept := filepath.Join(h.dir, fmt.Sprintf("%d-%.12s", r.Sequence, r.Digest)+Ending)
	if text, err := readfile.Read(kept, MaxBytes); err == nil {
		if b, err := check(text); err == nil {
			return b, nil
		}
	}
	text, err := m.Fetch(ctx, r.Text())
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", r.Text(), err)
	}
	b, err := check(text)
	if err == nil && b.Manifest.Expired(time.Now()) {
		err = fmt.Errorf("it expired at %s", b.Manifest.Expires.Format(time.RFC3339))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Text(), err)
	}
	return b, nil
}

// raiseFloor has no other source than the fleet go back behind a bundle that was in force.
func (h Home) raiseFloor(now Current, b *fetchedBundle) error {
	key, err := PublicKey(now.State.Key)
	if b == nil || err != nil {
		return err
	}
	floors, err := h.floors()
	if err != nil || floors[trust.Sum(key)].Sequence >= b.Manifest.Sequence {
		return err
	}
	floors[trust.Sum(key)] = floor{b.Manifest.Sequence, b.Head.Digest()}
	return h.write("floors.json", floors)
}

// putDirected puts the bundles of a directive in force and in the shadow. The caller holds
// the lock. was is the policy that was current before they were fetched: where another directive or
// policy has come since, that is to be followed.
func (h Home) putDirected(was Current, bundles []*fetchedBundle, check Check) error {
	now, set, err := h.Current()
	if err != nil || !set {
		return errors.Join(err, ErrUnset)
	}
	if now.State.Source != FromFleet || now.State.Directive.digest() != was.State.Directive.digest() {
		return errors.New("there is a newer directive")
	}
	var heads [2]Head
	for i, b := range bundles {
		if b == nil {
			continue
		}
		dir := h.folder(b.Head, b.Manifest)
		if (Placed{b.Manifest, dir}).Differs(b.Manifest.Files) != "" { // else it runs there
			if _, err := h.place(b.Bundle, b.text, check); err != nil {
				return err
			}
		}
		heads[i] = b.Head
	}
	if err := h.raiseFloor(now, bundles[0]); err != nil {
		return err
	}
	at := time.Now().UTC()
	s := now.State
	s.Head, s.Shadow, s.Fetched, s.Checked, s.Error = heads[0], heads[1], at, at, ""
	return h.write("policy.json", s)
}
