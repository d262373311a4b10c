package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Check looks at the hooks of a bundle whose files are in dir, which is not in force yet and
// stays there when it is. An error refuses the bundle.
type Check func(dir string, b Bundle) error

// UpdateResult is the outcome of asking a source.
type UpdateResult struct {
	Changed bool // another bundle is in force
	Current Current
}

// ErrUnset is the error of Update where no policy is set.
var ErrUnset = errors.New("no policy is set")

// Set puts the bundle of a source in force, and remembers the source, the key and the name of
// the bundle: its source cannot put another bundle of that key in its place. name is that
// name; "" = the name of the bundle that the key has in force, else of the source's present
// bundle. When it fails nothing has changed. The key is the text of a public key.
func (h Home) Set(ctx context.Context, source, key, by, name string, check Check) (UpdateResult, error) {
	source, err := CheckSource(source)
	if err != nil {
		return UpdateResult{}, err
	}
	now := time.Now().UTC()
	if c, set, err := h.Current(); name == "" && err == nil && set && c.State.Key == key {
		name = c.name()
	}
	s := State{Source: source, Key: key, Name: name, At: now, By: by}
	b, got, err := h.get(ctx, s, false)
	if err != nil {
		return UpdateResult{}, fmt.Errorf("policy from %s: %w", source, err)
	}
	return h.take(b, got, s, check)
}

// Update asks the source again. A failure is noted in State.Error and returned; the bundle in
// force stays so. It does not ask the fleet: see Follow.
func (h Home) Update(ctx context.Context, check Check) (UpdateResult, error) {
	c, set, err := h.Current()
	if err == nil && !set {
		err = ErrUnset
	}
	if err != nil {
		return UpdateResult{}, err
	}
	if c.State.Source == FromFleet {
		return UpdateResult{Current: c}, nil // Follow takes newer ones
	}
	asked := c.State
	asked.Name = c.name()
	b, got, err := h.get(ctx, asked, true)
	if err == nil && !got.unchanged && b.Head.Digest() != c.State.Head.Digest() {
		var r UpdateResult
		if r, err = h.take(b, got, c.State, check); err == nil {
			return r, nil
		}
	}
	if ctx.Err() != nil {
		return UpdateResult{Current: c}, ctx.Err() // the caller ends: that says nothing of the source
	}
	if err != nil {
		m := c.Manifest
		err = fmt.Errorf("policy from %s: %w; %s %d stays in force", c.State.Source, err, m.Name, m.Sequence)
	}
	return h.note(got.etag, err)
}

// get fetches the present bundle of the source, and checks it. again is that it was asked before.
func (h Home) get(ctx context.Context, s State, again bool) (b Bundle, got fetched, err error) {
	key, err := PublicKey(s.Key)
	if err != nil {
		return b, got, err
	}
	etag := ""
	if again {
		etag = s.ETag
	}
	if got, err = fetch(ctx, s, etag, key, cmp.Or(h.wait, fetchTime)); err != nil || got.unchanged {
		return b, got, err
	}
	if b, err = Read(got.text, key); err != nil {
		return b, got, err
	}
	switch m := b.Manifest; {
	case s.Name != "" && m.Name != s.Name:
		err = fmt.Errorf("it has the bundle %s, not %s: where that is meant, set it again with `--name %[1]s`", m.Name, s.Name)
	case m.Expired(time.Now()):
		err = fmt.Errorf("it expired at %s", m.Expires.Format(time.RFC3339))
	}
	return b, got, err
}

// take puts the fetched bundle in force.
func (h Home) take(b Bundle, got fetched, s State, check Check) (r UpdateResult, err error) {
	key, err := PublicKey(s.Key)
	if err != nil {
		return r, err
	}
	now := time.Now().UTC()
	s.Name, s.ETag, s.Fetched, s.Checked, s.Error = b.Manifest.Name, got.etag, now, now, ""
	err = h.locked(func() error {
		r.Current, err = h.put(b, got.text, key, s, check)
		return err
	})
	r.Changed = err == nil
	return r, err
}

// note remembers that the source was asked, and with which result.
func (h Home) note(etag string, failed error) (r UpdateResult, err error) {
	err = h.locked(func() error {
		c, set, err := h.Current()
		if err != nil || !set {
			return err // it was unset meanwhile
		}
		c.State.Checked, c.State.Error = time.Now().UTC(), ""
		if failed != nil {
			c.State.Error = failed.Error()
		} else {
			c.State.ETag = etag
		}
		r.Current = c
		return h.write("policy.json", c.State)
	})
	return r, errors.Join(failed, err)
}
