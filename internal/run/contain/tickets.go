package contain

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/wire"
)

const (
	maxTickets = 2000
	ticketTime = time.Hour // a person may be asked in between
	// askAgain is how long a line that failed in its box is asked about.
	askAgain = 10 * time.Minute
	// lastsTime is how long a way is open that a person opened for a session: no event reports some ends.
	lastsTime = 7 * 24 * time.Hour
	maxFile   = 8 << 20
)

// ticket ties one box to one line.
type ticket struct {
	ID, Line, Whole, Cwd string
	Profile              box.Profile
	Opens                []string `json:",omitempty"` // ways out that a person was asked about
	Lasts                bool     `json:",omitempty"` // they are open for the session
	Session, Call, Event string
	Dialect              events.Dialect
	Made, Began          time.Time // Began zero = no box has claimed it
	End                  *wire.BoxEnd
	Outside              []string `json:",omitempty"` // paths that the box kept, as far as is known
}

// tickets are the latest, the oldest first. A file has them too, where one is named: a daemon that
// starts again knows the boxes that it has not made yet. A line of the file replaces an earlier one
// of the same id.
type tickets struct {
	list []*ticket
	size int // bytes of the file
	out  *ticketFile
}

// loadTickets reads the tickets that still count from a file in folder, and writes the file again.
func loadTickets(folder string, log *zap.Logger) tickets {
	t := tickets{out: newTicketFile(folder, log)}
	if folder == "" {
		return t
	}
	text, err := readfile.Read(t.out.path, 2*maxFile)
	if err != nil && !os.IsNotExist(err) {
		log.Warn("the tickets of boxes cannot be read: a call that has not run yet gets a box without one", zap.Error(err))
	}
	at := map[string]int{}
	for line := range bytes.Lines(text) {
		one := &ticket{}
		if json.Unmarshal(line, one) != nil || one.ID == "" {
			continue // the daemon was killed as it wrote
		}
		if i, known := at[one.ID]; known {
			t.list[i] = one
			continue
		}
		at[one.ID] = len(t.list)
		t.list = append(t.list, one)
	}
	t.list = slices.DeleteFunc(t.list, func(one *ticket) bool { return !one.counts() })
	t.out.await(t.rewrite())
	return t
}

// age returns the time since a ticket was made. One that was made later than now is older than any may be: the clock
// was set back since, and the ticket would count for as much longer.
func (t *ticket) age() time.Duration {
	if age := time.Since(t.Made); age > -time.Minute {
		return age
	}
	return math.MaxInt64
}

func (t *ticket) counts() bool {
	age := t.age()
	return age < ticketTime || t.Lasts && age < lastsTime
}

// rewrite puts the tickets into a new file.
func (t *tickets) rewrite() (written <-chan struct{}) {
	var text []byte
	for _, one := range t.list {
		text = append(text, one.line()...)
	}
	t.size = len(text)
	return t.out.put(text, true)
}

// save has a ticket written. The returned channel is closed when the system has it: it outlasts this process then.
func (t *tickets) save(one *ticket) (written <-chan struct{}) {
	line := one.line()
	t.size += len(line)
	return t.out.put(line, false)
}

func (t *ticket) line() []byte {
	line, err := json.Marshal(t)
	if err != nil { // nothing in it can fail
		panic(err)
	}
	return append(line, '\n')
}

// add is save for a new ticket.
func (t *tickets) add(one *ticket) (written <-chan struct{}) {
	if len(t.list) >= maxTickets || t.size > maxFile {
		t.list = slices.DeleteFunc(t.list, func(one *ticket) bool { return !one.counts() })
		if n := len(t.list); n >= maxTickets {
			t.list = slices.Delete(t.list, 0, n-maxTickets+maxTickets/10)
		}
		t.rewrite()
	}
	t.list = append(t.list, one)
	return t.save(one)
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

// Look returns the profile of the ticket that Begin would claim.
func (k *Boxer) Look(id, line, cwd, profile string) (_ box.Profile, ok bool) {
	k.mu.Lock()
	t := k.tickets.find(func(t *ticket) bool { return t.ID == id && t.Line == line && t.Profile.Name == profile })
	open := t != nil && t.Began.IsZero() && t.age() <= ticketTime
	k.mu.Unlock()
	if !open || !sameFolder(t.Cwd, cwd) { // it may hang
		return box.Profile{}, false
	}
	return t.Profile, true
}

// Begin claims the ticket of a box that is about to be made for a line and a folder. ok is false
// where there is none: the box is no approval then, and has the profile that its name alone gives.
func (k *Boxer) Begin(id, line, cwd, profile string) (_ box.Profile, ok bool) {
	if _, ok := k.Look(id, line, cwd, profile); !ok {
		return box.Profile{}, false
	}
	k.mu.Lock()
	t := k.tickets.find(func(t *ticket) bool { return t.ID == id })
	if t == nil || !t.Began.IsZero() {
		k.mu.Unlock()
		return box.Profile{}, false
	}
	t.Began = time.Now()
	written := k.tickets.save(t)
	k.mu.Unlock()
	k.tickets.out.await(written)
	return t.Profile, true
}

// End notes how a box ended, and returns the sentence that the model is to be told; "" = nothing.
func (k *Boxer) End(id string, end wire.BoxEnd) string {
	k.mu.Lock()
	t := k.tickets.find(func(t *ticket) bool { return t.ID == id })
	k.mu.Unlock()
	var outside []string
	if t != nil && end.Exit != 0 {
		outside = k.outsideOf(t, "") // it reads folders
	}
	told, written := k.ended(t, end, outside)
	if written != nil {
		k.tickets.out.await(written)
	}
	return told
}

// ended is End with the ticket, and the paths that the box kept.
func (k *Boxer) ended(t *ticket, end wire.BoxEnd, outside []string) (told string, written <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t == nil || t.Began.IsZero() || t.End != nil {
		return "", nil
	}
	t.End, t.Outside = &end, outside
	written = k.tickets.save(t)
	if end.Exit == 0 {
		return "", written
	}
	ways := t.kept()
	before := k.tickets.find(func(o *ticket) bool {
		return o != t && o.Session == t.Session && o.Profile.Name == t.Profile.Name &&
			o.End != nil && o.End.Exit != 0 && o.age() < askAgain && slices.Equal(o.kept(), ways)
	})
	if before != nil {
		return "", written // once is enough: the model has read it
	}
	return t.sentence(), written
}

// Ran fits dispatch.Boxes. An agent that has run a call without its box is not given another until
// hookd starts again.
func (k *Boxer) Ran(e *events.Event, before string, failed bool) (end *wire.BoxEnd, bare bool) {
	_, line := lineOf(dialect.Call(e))
	if line == "" {
		return nil, false
	}
	k.mu.Lock()
	t := k.tickets.find(func(t *ticket) bool {
		return t.Whole == line && t.Session == e.SessionID && t.Dialect == e.Dialect &&
			t.age() < ticketTime && (before == "" || t.Event == before)
	})
	switch {
	case t == nil || t.End == nil && (failed || !t.Began.IsZero()):
		k.mu.Unlock()
		return nil, false
	case t.End == nil:
		k.distrust[e.Dialect] = t.Event
		k.mu.Unlock()
		k.log.Error("an agent ran a call without the box that hookd gave it: its calls are asked about from now on",
			zap.String("agent", string(e.Dialect)), zap.String("event_id", t.Event), zap.String("session", t.Session))
		return nil, true
	}
	end = &wire.BoxEnd{Level: t.End.Level, Exit: t.End.Exit, Kept: t.End.Kept, Refused: t.End.Refused}
	k.mu.Unlock()
	if end.Exit != 0 {
		outside := k.outsideOf(t, dialect.ResultOf(e).Text)
		k.mu.Lock()
		t.Outside = outside
		k.tickets.save(t)
		k.mu.Unlock()
	}
	return end, false
}
