package stream

import (
	"encoding/json"
	"slices"

	"github.com/hookd/hookd/wire"
)

// maxStarts is how many starts are kept for subscribers that have not read them.
const maxStarts = 1024

// start reports that a run has begun. It has no number and is not kept: only
// subscribers that ask for starts and read in time get them, each before the record of the
// end of its run.
type start struct {
	name string
	line []byte
	next uint64 // the record with this number came after it
}

// starts are the last ones, and how many subscribers want them. Hub.mu guards all but wanted.
type starts struct {
	list  []start // oldest first
	first uint64  // number of list[0] among all starts
}

// WantsStarts reports whether a subscriber asks for starts.
func (h *Hub) WantsStarts() bool { return h.starters.Load() > 0 }

// Start shows a start to the subscribers that ask for it. name is as in Publish;
// line is one line.
func (h *Hub) Start(name string, line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	st := &h.starts
	if len(st.list) == maxStarts {
		st.list = slices.Delete(st.list, 0, maxStarts/4)
		st.first += maxStarts / 4
	}
	st.list = append(st.list, start{name, line, h.next})
	h.call()
}

// StartRecord encodes the start of a run as
//
//	{"type":"start","run_id":…,"hook":…,"event_id":…,…}
func StartRecord(u *wire.UnderWay) []byte {
	line, err := json.Marshal(struct {
		Type string `json:"type"`
		*wire.UnderWay
	}{"start", u})
	if err != nil {
		return nil // texts and numbers: it cannot fail
	}
	return append(line, '\n')
}

// readStarts puts the starts into the batch that come before the next record.
func (s *Subscription) readStarts() {
	st := &s.hub.starts
	if !s.starts {
		return
	}
	for s.nextStart = max(s.nextStart, st.first); s.nextStart < st.first+uint64(len(st.list)); s.nextStart++ {
		begun := st.list[s.nextStart-st.first]
		if begun.next > s.cursor {
			return
		}
		s.batch = append(s.batch, record{name: begun.name, line: begun.line})
	}
}
