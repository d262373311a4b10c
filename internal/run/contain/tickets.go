package contain

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
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
	path string
	file *os.File // nil = there is none
	size int
	log  *zap.Logger
}

// loadTickets reads the tickets that still count from a file in folder, and writes the file again.
func loadTickets(folder string, log *zap.Logger) tickets {
	t := tickets{log: log}
	if folder == "" {
		return t
	}
	t.path = filepath.Join(folder, "boxes.jsonl")
	text, err := readfile.Read(t.path, 2*maxFile)
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
	t.rewrite()
	return t
}

func (t *ticket) counts() bool {
	age := time.Since(t.Made)
	return age < ticketTime || t.Lasts && age < lastsTime
}

// rewrite puts the tickets into a new file.
func (t *tickets) rewrite() {
	if t.file != nil {
		t.file.Close()
	}
	f, err := os.OpenFile(t.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		err = os.Rename(t.path+".new", t.path)
	}
	if t.file, t.size = f, 0; err != nil {
		t.file = nil
		t.log.Warn("tickets of boxes cannot be kept: after a restart of hookd a call gets a box without one", zap.Error(err))
	}
	for _, one := range t.list {
		t.save(one)
	}
}

// save writes a ticket. The system has it then: it outlasts this process.
func (t *tickets) save(one *ticket) {
	if t.file == nil {
		return
	}
	line, err := json.Marshal(one)
	if err != nil { // nothing in it can fail
		panic(err)
	}
	n, err := t.file.Write(append(line, '\n'))
	if t.size += n; err != nil {
		t.log.Warn("a ticket of a box cannot be kept", zap.Error(err))
	}
}

func (t *tickets) add(one *ticket) {
	if len(t.list) >= maxTickets || t.size > maxFile {
		t.list = slices.DeleteFunc(t.list, func(one *ticket) bool { return !one.counts() })
		if n := len(t.list); n >= maxTickets {
			t.list = slices.Delete(t.list, 0, n-maxTickets+maxTickets/10)
		}
		if t.path != "" {
			t.rewrite()
		}
	}
	t.list = append(t.list, one)
	t.save(one)
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
func (k *Boxer) Begin(id, line, cwd, profile string) (_ box.Profile, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tickets.find(func(t *ticket) bool { return t.ID == id })
	if t == nil || !t.Began.IsZero() || time.Since(t.Made) > ticketTime || t.Line != line ||
		t.Profile.Name != profile || !sameFolder(t.Cwd, cwd) {
		return box.Profile{}, false
	}
	t.Began = time.Now()
	k.tickets.save(t)
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
	k.mu.Lock()
	defer k.mu.Unlock()
	if t == nil || t.Began.IsZero() || t.End != nil {
		return ""
	}
	t.End, t.Outside = &end, outside
	k.tickets.save(t)
	if end.Exit == 0 {
		return ""
	}
	ways := t.kept()
	told := k.tickets.find(func(o *ticket) bool {
		return o != t && o.Session == t.Session && o.Profile.Name == t.Profile.Name &&
			o.End != nil && o.End.Exit != 0 && time.Since(o.Made) < askAgain && slices.Equal(o.kept(), ways)
	})
	if told != nil {
		return "" // once is enough: the model has read it
	}
	return t.sentence()
}

// Ran fits dispatch.Boxes. An agent that has run a call without its box is not given another until
// hookd starts again.
func (k *Boxer) Ran(e *events.Event, failed bool) (end *wire.BoxEnd, bare bool) {
	_, line := lineOf(dialect.Call(e))
	if line == "" {
		return nil, false
	}
	k.mu.Lock()
	t := k.tickets.find(func(t *ticket) bool {
		return t.Whole == line && t.Session == e.SessionID && t.Dialect == e.Dialect && time.Since(t.Made) < ticketTime
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
