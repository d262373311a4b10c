package contain

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/wire"
)

const (
	maxTickets = 2000
	ticketTime = time.Hour // a person may be asked in between
	// askAgain is how long a line that failed in its box is asked about.
	askAgain = 10 * time.Minute
)

// ticket ties one box to one line.
type ticket struct {
	id, line, whole, cwd string
	profile              box.Profile
	session, call, event string
	dialect              events.Dialect
	made, began          time.Time // began zero = no box has claimed it
	end                  *box.Ended
}

// tickets are the latest, the oldest first.
type tickets struct{ list []*ticket }

func newTickets() tickets { return tickets{} }

func (t *tickets) add(one *ticket) {
	if len(t.list) >= maxTickets {
		t.list = slices.Delete(t.list, 0, maxTickets/10)
	}
	t.list = append(t.list, one)
}

// find returns the latest that fits; nil = none does.
func (t *tickets) find(fits func(*ticket) bool) *ticket {
	for _, one := range slices.Backward(t.list) {
		if fits(one) {
			return one
		}
	}
	return nil
}

func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// Begin claims the ticket of a box that is about to be made for a line and a folder. ok is false
// where there is none: the box is no approval then, and has the profile that its name alone gives.
func (k *Keeper) Begin(id, line, cwd, profile string) (_ box.Profile, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tickets.find(func(t *ticket) bool { return t.id == id })
	if t == nil || !t.began.IsZero() || time.Since(t.made) > ticketTime || t.line != line ||
		t.profile.Name != profile || !sameFolder(t.cwd, cwd) {
		return box.Profile{}, false
	}
	t.began = time.Now()
	return t.profile, true
}

// End notes how a box ended, and returns the sentence that the model is to be told; "" = nothing.
func (k *Keeper) End(id string, end box.Ended) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tickets.find(func(t *ticket) bool { return t.id == id })
	if t == nil || t.began.IsZero() || t.end != nil {
		return ""
	}
	t.end = &end
	if end.Exit == 0 {
		return ""
	}
	now := time.Now()
	for key, at := range k.failed {
		if now.Sub(at) > askAgain {
			delete(k.failed, key)
		}
	}
	if len(k.failed) < maxTickets {
		k.failed[failedKey(t.session, t.whole)] = now
	}
	told := k.tickets.find(func(o *ticket) bool {
		return o != t && o.session == t.session && o.profile.Name == t.profile.Name &&
			o.end != nil && o.end.Exit != 0 && now.Sub(o.made) < askAgain
	})
	if told != nil {
		return "" // once is enough: the model has read it
	}
	return sentence(t.profile)
}

func failedKey(session, line string) string { return session + "\x00" + line }

// failedBefore reports whether the same line has failed in a box of the session: a person may let
// it run outside of one.
func (k *Keeper) failedBefore(e *events.Event, v *verdict.Verdict) bool {
	if v.UpdatedInput != nil || e.SessionID == "" {
		return false
	}
	_, line := lineOf(dialect.Call(e))
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.failed[failedKey(e.SessionID, line)]
	return ok && time.Since(at) < askAgain
}

// Ran fits dispatch.Boxes. An agent that has run a call without its box is not given another until
// hookd starts again.
func (k *Keeper) Ran(e *events.Event, failed bool) (end *wire.BoxEnd, bare bool) {
	_, line := lineOf(dialect.Call(e))
	if line == "" {
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tickets.find(func(t *ticket) bool {
		return t.whole == line && t.session == e.SessionID && t.dialect == e.Dialect && time.Since(t.made) < ticketTime
	})
	switch {
	case t == nil:
		return nil, false
	case t.end != nil:
		return &wire.BoxEnd{Level: string(t.end.Level), Exit: t.end.Exit, Kept: t.end.Kept}, false
	case failed || !t.began.IsZero():
		return nil, false
	}
	k.distrust[e.Dialect] = t.event
	k.log.Error("an agent ran a call without the box that hookd gave it: its calls are asked about from now on",
		zap.String("agent", string(e.Dialect)), zap.String("event_id", t.event), zap.String("session", t.session))
	return nil, true
}

// sentence tells the model which things a box kept out, and how to act on that.
func sentence(p box.Profile) string {
	var limits string
	switch p.Base {
	case box.Read:
		limits = "nothing but /tmp can be written and there is no network"
	case box.Project:
		limits = "only the project, caches and /tmp can be written and there is no network"
	default:
		limits = "only the project, caches and /tmp can be written and only listed hosts can be reached"
	}
	return `hookd ran this in the box "` + p.Name + `": ` + limits + `. If the step needs more, run that one step ` +
		`alone and say why; a person will be asked.`
}
