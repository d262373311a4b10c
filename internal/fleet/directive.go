package fleet

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// A directive is the signed statement that names the bundle for the machines and the hooks that
// are switched off, see package policy. The servers keep the newest few; no machine may
// publish there, and nothing counts but the signature.

// Directives takes directives.
type Directives interface {
	// TakeDirective remembers the newest valid one of directives as they were signed, the newest first, and
	// puts it in force. An error says that the newest does not count, or that the servers have none where
	// there was one. It is called again with the same ones.
	TakeDirective(ctx context.Context, newestFirst [][]byte) error
}

// forAll stands in subjects where the name of a machine would be. No machine can have it,
// so that the permissions of none cover it.
const forAll = "ALL"

// directive is the subject of directives, news the subject on which machines hear that there is
// another directive. No stream has news, and no machine may subscribe to the first: a member that
// can make consumers could have the server deliver to a subject that has a subscriber, and
// the delivery would be stored.
func (n Names) directive(last string) string {
	n.Machine = forAll
	return n.subject(areaDirective, last)
}

func (n Names) news() string {
	n.Machine = forAll
	return n.subject(areaNews)
}

// newest is the only name in areaDirective.
const newest = "newest"

// bundles is the bucket of the tenant's bundles.
func (n Names) bundles() string { return n.stream(areaBundles) }

// LatestDirective returns the newest directive as it was signed, and its number; false =
// there is none.
func LatestDirective(ctx context.Context, b engine.Reader, n Names) (m engine.Stored, there bool, err error) {
	kept, err := directives(ctx, b, n)
	if len(kept) == 0 {
		return m, false, err
	}
	return kept[0], true, err
}

// directives returns the directives that the servers keep, the newest first.
func directives(ctx context.Context, b engine.Reader, n Names) (kept []engine.Stored, err error) {
	q := engine.Query{Stream: n.stream(areaDirective), Subject: n.directive(newest)}
	err = b.Read(ctx, q, func(s engine.Stored) bool {
		kept = append(kept, s)
		return true
	})
	slices.Reverse(kept)
	return kept, err
}

// ReadPress is the connection of an operator, which publishes and reads.
type ReadPress interface {
	engine.Press
	engine.Reader
}

// ReplaceDirective publishes a directive in place of the one with the number seq, 0 = none,
// and has the machines look. It fails where the servers do not show the directive soon after: servers that
// are killed again and again have acknowledged one, and lost it.
func ReplaceDirective(ctx context.Context, p ReadPress, n Names, signed []byte, seq uint64) error {
	if err := p.Replace(ctx, engine.Message{Subject: n.directive(newest), Data: signed}, seq); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, shownTime)
	defer cancel()
	for {
		m, there, err := LatestDirective(ctx, p, n)
		if err == nil && there && bytes.Equal(m.Data, signed) {
			return p.Announce(n.news())
		}
		if !wait(ctx, directiveMost, nil) {
			return errors.Join(errors.New("the servers took the directive and do not show it: type the command again"), err)
		}
	}
}

// shownTime is how long a server may take to show a directive that the leader has taken.
const shownTime = 10 * time.Second

// GetBundle returns the bytes of a bundle, which nothing vouches for.
func GetBundle(ctx context.Context, b engine.Board, n Names, name string, limit int64) ([]byte, error) {
	return b.Object(ctx, n.bundles(), name, limit)
}

// PutBundle stores a bundle under a name that has none.
func PutBundle(ctx context.Context, p engine.Press, n Names, name string, text []byte) error {
	return p.PutObject(ctx, n.bundles(), name, text)
}

// bundleTime is how long a bundle may take on its way to a machine.
const bundleTime = 10 * time.Minute

// Bundle returns the bytes of a bundle of the fleet, which nothing vouches for.
func (f *Fleet) Bundle(ctx context.Context, name string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, bundleTime)
	defer cancel()
	return GetBundle(ctx, f.opts.Broker, f.names, name, limit)
}

// How often the newest directive is looked for where nothing is heard, after a failure, and
// at most, whatever is heard.
const (
	directiveEvery = time.Minute
	directiveAgain = 5 * time.Second
	directiveMost  = 200 * time.Millisecond
)

// LookForDirective has the newest directive looked for. It does not block.
func (f *Fleet) LookForDirective() { wake(f.directed) }

// followDirectives takes the newest directive, until ctx ends: when the servers answer
// again, when another is announced, and each directiveEvery. The announcement counts for nothing
// else: any member can find a way to be heard there.
func (f *Fleet) followDirectives(ctx context.Context) {
	if f.opts.Directives == nil {
		return
	}
	for {
		next := time.Duration(0) // without an end: prepare wakes when the servers answer
		if f.online() {
			err := f.takeDirective(ctx)
			if ctx.Err() == nil {
				f.noteDirective(err)
			}
			next = directiveEvery
			if err != nil {
				next = directiveAgain
			}
		}
		if !wait(ctx, next, f.directed) || !wait(ctx, directiveMost, nil) {
			return
		}
	}
}

// noteDirective notes why the newest directive is not in force; nil = it is. The log says it when
// it changes.
func (f *Fleet) noteDirective(err error) {
	why := ""
	if err != nil && !errors.Is(err, engine.ErrAway) {
		why = err.Error()
	}
	f.mu.Lock()
	was := f.refused
	f.refused = why
	f.mu.Unlock()
	if why != "" && why != was {
		f.log.Warn("a directive of the fleet is not in force", zap.Error(err))
	}
}

func (f *Fleet) takeDirective(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, directiveEvery)
	defer cancel()
	kept, err := directives(ctx, f.opts.Broker, f.names)
	if err != nil {
		return err
	}
	var signed [][]byte
	for _, m := range kept {
		signed = append(signed, m.Data)
	}
	return f.opts.Directives.TakeDirective(ctx, signed)
}
