package rules

import (
	"cmp"
	"container/list"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/facts"
)

// Bounds of a History.
const (
	mostScopes = 8192 // sessions and agents that are remembered: those that were heard of last
	mostOpen   = 64   // calls of a session whose end has not come
	mostOver   = 64   // calls of a session whose end counts no more: those that ended, or were denied, last
	mostLike   = 256  // calls of a session that are compared with the present one
	mostFiles  = 4096 // of the machine whose edits are remembered: those that were edited last
	mostEdits  = 64   // of each of them that are compared with the present one
	mostShown  = 8    // earlier events that a verdict names

	// clockError is how much later than a present event an earlier one may say it was. Beyond that the clock was
	// set back, and how long ago the earlier one was is not known.
	clockError = time.Minute
)

// History is the state of the rules that look back. It is fed with each event in order and
// has a bounded state a rule and session: of a condition that counts to n, at most 4n+8
// earlier events. An event sees the events before it that were not denied when it
// came: later ones, and later fates of earlier ones, change nothing for it. Safe for
// concurrent use; no call blocks but Use.
type History struct {
	keep  func(*Moment)
	using sync.Mutex // one Use at a time

	mu      sync.Mutex
	st      *state
	waiting map[string]*placed // without a fate, by the id of their event
	order   []string           // of waiting, the oldest first
	tail    []*placed          // placed since Use began to read; nil = it does not read
	reading bool
}

// NewHistory returns a History that knows no rule. keep gets each Moment that counts from
// its fate on, in this order; it must not block, and not keep the Subject. nil = they are
// not needed.
func NewHistory(keep func(*Moment)) *History {
	return &History{keep: keep, st: newState(newTable(nil)), waiting: map[string]*placed{}}
}

// Looks reports whether a rule looks back.
func (h *History) Looks() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.st.table.pasts) > 0
}

// Use makes these the rules of each event that begins from now on. Counts of rules that
// were there before stay; for the others read calls its argument with each Moment that was
// kept, in any order. An error means that they only know the moments that read gave.
func (h *History) Use(sets []*Set, read func(each func(*Moment)) error) (err error) {
	h.using.Lock()
	defer h.using.Unlock()
	next := newTable(sets)
	h.mu.Lock()
	if next.within(h.st.table) || read == nil {
		h.follow(next, nil)
		h.mu.Unlock()
		return nil
	}
	h.reading, h.tail = true, nil
	for _, id := range h.order {
		h.tail = append(h.tail, h.waiting[id])
	}
	h.mu.Unlock()
	filled := newState(next)
	var past []*placed
	err = read(func(m *Moment) { past = append(past, &placed{m: m}) })
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Clone(h.tail)
	for _, p := range past {
		if _, twice := slices.BinarySearchFunc(h.tail, p, byPlace); !twice { // kept while it was read
			all = append(all, p)
		}
	}
	slices.SortFunc(all, byPlace)
	for _, p := range all {
		filled.again(p)
	}
	h.reading, h.tail = false, nil
	h.follow(next, filled)
	return err
}

// follow puts other rules into force.
func (h *History) follow(next *table, filled *state) {
	h.st = h.st.under(next, filled)
	for _, p := range h.waiting {
		p.hits = next.hits(p.m)
		if next.files {
			p.edits = p.m.paths()
		}
	}
}

// Begin gives a moment its place, after all that have one, and returns the events before it.
// Until End it counts for later ones. A moment that is Ended or Elsewhere needs no End.
func (h *History) Begin(m *Moment) *Before {
	h.mu.Lock()
	t := h.st.table
	h.mu.Unlock()
	hits := t.hits(m) // without the lock: it takes longer than the rest
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.st.table != t {
		hits = h.st.table.hits(m)
	}
	st := h.st
	st.last++
	m.Place = st.last
	s := st.session(m)
	var before *Before
	if !m.Unseen {
		before = st.before(m, s)
	}
	switch m.Kind {
	case Elsewhere:
		return before
	case Ended:
		counts := st.ended(m, s)
		if counts {
			h.kept(m)
		}
		if !h.reading {
			m.Subject = nil
		} else if counts {
			h.tail = append(h.tail, &placed{m: m})
		}
		return before
	}
	p := st.place(m, s, hits)
	h.waiting[m.ID] = p
	if h.order = append(h.order, m.ID); len(h.order) > mostScopes { // their senders never came back
		h.settle(h.order[0], false, false)
	}
	if h.reading {
		h.tail = append(h.tail, p)
	}
	return before
}

// End says that the event of that id was denied, or goes on; unsure that a person is asked
// whose answer is not known. An id that has no place is ignored.
func (h *History) End(id string, denied, unsure bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle(id, denied, unsure)
}

func (h *History) settle(id string, denied, unsure bool) {
	p := h.waiting[id]
	if p == nil {
		return
	}
	delete(h.waiting, id)
	if i := slices.Index(h.order, id); i >= 0 {
		h.order = slices.Delete(h.order, i, i+1)
	}
	p.open, p.denied, p.m.Unsure = false, denied, unsure
	h.st.settled(p)
	if !denied {
		h.kept(p.m)
	} else if p.m.Kind == Asked && p.m.Call != "" {
		refused := *p.m
		refused.Kind, refused.Subject = Refused, nil
		h.kept(&refused)
	}
	if !h.reading {
		p.m.Subject = nil
	}
}

func (h *History) kept(m *Moment) {
	if h.keep != nil {
		h.keep(m)
	}
}

func byPlace(a, b *placed) int { return cmp.Compare(a.m.Place, b.m.Place) }

// placed is a moment with a place.
type placed struct {
	m      *Moment
	hits   []hit
	what   string   // for people
	edits  []uint64 // keys of files
	facts  *facts.Facts
	open   bool // it has no fate yet
	denied bool
	ended  bool
}

// hit is a track that a moment is part of.
type hit struct {
	track int // index in table.tracks
	level facts.Fit
	at    int // of the last command that fits; -1 = none
}

// track describes the events that are counted for one condition.
type track struct {
	what  *Matcher // nil = a boundary
	but   *Matcher // what it leaves out; nil = nothing
	since Boundary
	ok    *bool
	by    Scope
	most  int // so many are needed
	gate  gate
}

// table has the conditions for which the rules in force look back. It is immutable.
type table struct {
	tracks []track
	index  map[string]int // of tracks, by Past.counts
	pasts  []wanted
	seen   map[string]int // index in pasts, by Past.key
	at     map[*Past]int  // the same, for those in force
	like   bool           // calls are compared
	files  bool           // edits are
}

// wanted is a condition in short, for comparison with each event: all conditions fill few cache lines.
type wanted struct {
	since   int // index in Boundaries, and of the track; -1 = none
	track   int // index in tracks; -1 = it needs none
	count   int
	within  time.Duration
	lasted  time.Duration
	like    int // index in likes; -1 = none
	by      Scope
	fetched bool
	path    bool // edits of the same files count
	other   bool // of other sessions alone
}

func wantedBy(p *Past) wanted {
	return wanted{
		since: slices.Index(Boundaries, p.Since), track: -1, count: p.Count, within: p.Within, lasted: p.Lasted,
		like: slices.Index(likes, p.Same), by: p.By, fetched: p.Fetched, other: p.Other,
		path: p.Other || p.Same == SamePath,
	}
}

func newTable(sets []*Set) *table {
	t := &table{index: map[string]int{}, seen: map[string]int{}, at: map[*Past]int{}}
	for _, b := range Boundaries { // the first tracks
		t.index["since "+string(b)] = len(t.tracks)
		t.tracks = append(t.tracks, track{since: b, by: BySession, most: 2})
	}
	for _, s := range sets {
		for _, r := range s.Rules {
			for _, n := range r.Past {
				t.add(n.Past)
				t.at[n.Past] = t.seen[n.Past.key]
			}
		}
	}
	return t
}

func (t *table) add(p *Past) {
	if _, known := t.seen[p.key]; known {
		return
	}
	t.seen[p.key] = len(t.pasts)
	t.pasts = append(t.pasts, wantedBy(p))
	switch {
	case p.Lasted > 0:
		return
	case p.Other || p.Fetched || p.Same == SamePath:
		t.files = true
		return
	case p.Same != "":
		t.like = true
		return
	}
	i, known := t.index[p.counts]
	if !known {
		i = len(t.tracks)
		t.index[p.counts] = i
		t.tracks = append(t.tracks, track{what: &p.What, but: p.Except, ok: p.OK, by: p.By, gate: p.What.gate})
	}
	t.pasts[len(t.pasts)-1].track = i
	t.tracks[i].most = max(t.tracks[i].most, p.Count+1) // the call that a result is of does not count for it
}

// within reports whether all that t counts is counted in old, too.
func (t *table) within(old *table) bool {
	for key, i := range t.index {
		j, known := old.index[key]
		if !known || old.tracks[j].most < t.tracks[i].most {
			return false
		}
	}
	return (len(old.pasts) > 0 || len(t.pasts) == 0) && (old.like || !t.like) && (old.files || !t.files)
}

// hits are the tracks that a moment is part of.
func (t *table) hits(m *Moment) (list []hit) {
	if m.Kind == Elsewhere || m.Kind == Ended || m.Subject == nil {
		return nil
	}
	var room [32]hit
	list = room[:0]
	has := m.Subject.has()
	for i := range t.tracks {
		if t.tracks[i].gate.misses(has) {
			continue
		}
		if h := t.tracks[i].fits(m); h.level > facts.No {
			h.track = i
			list = append(list, h)
		}
	}
	return slices.Clone(list)
}

func (t *track) fits(m *Moment) hit {
	if t.what == nil {
		switch {
		case t.since == SinceEdit:
			level, at := m.edit()
			return hit{level: level, at: at}
		case t.since == SincePrompt && m.Kind == Typed, t.since == SinceStart && m.Kind == Began:
			return hit{level: facts.Sure}
		}
		return hit{}
	}
	if typed := m.Kind == Typed; typed != (len(t.what.Prompts) > 0) || m.Kind == Began {
		return hit{}
	}
	f := t.what.fits(m.Subject)
	if f.level == facts.No || t.but != nil && t.but.fits(m.Subject).level == facts.Sure {
		return hit{}
	}
	return hit{level: f.level, at: max(f.at, t.what.last(m.Subject, f.level))}
}

// last is the index of the last command that a matcher of commands fits so surely.
func (m *Matcher) last(s *Subject, level facts.Fit) int {
	if s.Facts == nil || m.looksAtEffects() || m.Doubts != nil {
		return -1
	}
	for i := range slices.Backward(s.Facts.Commands) {
		if m.fitsCommand(&s.Facts.Commands[i]) == level {
			return i
		}
	}
	return -1
}

// brief is as much of a text as is kept to be shown.
func brief(text string) string {
	const most = 60
	if text = shortened(text); len(text) <= most {
		return text
	}
	return escape.Head(text, most-3) + "..."
}

// entry is a moment on a track.
type entry struct {
	place uint64
	time  int64 // nanoseconds since 1970
	at    int32 // of its command
	level facts.Fit
	open  bool
	id    string
	what  string
}

// after reports whether an entry comes after another.
func (e *entry) after(o *entry) bool {
	return o == nil || e.place > o.place || e.place == o.place && e.at > o.at
}

// trail is the entries of a track, in the order of places.
type trail []entry

func (t *trail) put(e entry, most int) {
	list := *t
	i := len(list)
	for i > 0 && list[i-1].place > e.place {
		i--
	}
	if i > 0 && list[i-1].place == e.place {
		list[i-1].level = max(list[i-1].level, e.level)
		return
	}
	if *t = slices.Insert(list, i, e); len(*t) > 4*most+8 {
		t.trim(most)
	}
}

// trim keeps the newest, as many as are needed of each level, and those without a fate.
func (t *trail) trim(most int) {
	all, sure := 0, 0
	kept := make(trail, 0, len(*t))
	for _, e := range slices.Backward(*t) {
		if e.open || all < most || e.level == facts.Sure && sure < most {
			kept = append(kept, e)
			if !e.open {
				all++
				if e.level == facts.Sure {
					sure++
				}
			}
		}
	}
	slices.Reverse(kept)
	*t = kept
}

// end gives the entry of a place its fate.
func (t *trail) end(place uint64, denied, unsure bool) {
	for i := len(*t) - 1; i >= 0; i-- {
		if e := &(*t)[i]; e.place == place {
			if e.open = false; unsure {
				e.level = min(e.level, facts.Perhaps)
			}
			if denied {
				*t = slices.Delete(*t, i, i+1)
			}
			return
		}
	}
}

// newest returns the newest entry that is as sure as level, and not that of a place; nil =
// none.
func (t trail) newest(but uint64, level facts.Fit) *entry {
	for i := len(t) - 1; i >= 0; i-- {
		if t[i].place != but && t[i].level >= level {
			return &t[i]
		}
	}
	return nil
}

// scope is a session, an agent or the machine.
type scope struct {
	key    string
	trails []trail   // by the index of their track
	first  time.Time // of what counts, from the newest start on; earlier by as much as the clock was set back since
	newest time.Time
	began  uint64    // place of that start; 0 = none
	open   []*placed // calls whose end has not come, the oldest first
	over   []uint64  // keys of calls whose end counts no more, the oldest first
	like   []like    // the oldest first
	in     *list.Element
}

// like is a call that later ones are compared with.
type like struct {
	place  uint64
	time   int64
	keys   Keys
	failed bool
	open   bool
	unsure bool
	id     string
}

// level is how surely a call has happened; unsure = a person was asked, and nothing tells the answer.
func level(unsure bool) facts.Fit {
	if unsure {
		return facts.Perhaps
	}
	return facts.Sure
}

// edited is a call that has changed a file.
type edited struct {
	place   uint64
	time    int64
	session string
	id      string
	fetched bool // its content comes from elsewhere
	unsure  bool
}

// file has the edits of one file.
type file struct {
	key   uint64
	edits []edited // the oldest first
	in    *list.Element
}

// state is the knowledge of a History; History.mu guards it.
type state struct {
	table  *table
	last   uint64 // place
	scopes map[string]*scope
	used   list.List // of *scope, the one used last first
	files  map[uint64]*file
	edited list.List // of *file, the one edited last first
	fits   []fitting // room for those of one Before
	ids    []string  // room for theirs
}

func newState(t *table) *state {
	return &state{table: t, scopes: map[string]*scope{}, files: map[uint64]*file{}}
}

// edit notes that a moment changes a file.
func (st *state) edit(key uint64, m *Moment) {
	f := st.files[key]
	if f == nil {
		f = &file{key: key}
		st.files[key] = f
		if f.in = st.edited.PushFront(f); len(st.files) > mostFiles {
			delete(st.files, st.edited.Remove(st.edited.Back()).(*file).key)
		}
	}
	st.edited.MoveToFront(f.in)
	f.edits = append(f.edits, edited{m.Place, m.Time.UnixNano(), m.Session, m.ID, m.Fetched, false})
	if len(f.edits) > 2*mostEdits {
		f.edits = slices.Clone(f.edits[len(f.edits)-mostEdits:])
	}
}

// scope returns the scope under a key, and makes it the one used last.
func (st *state) scope(key string) *scope {
	s := st.scopes[key]
	if s == nil {
		s = &scope{key: key, trails: make([]trail, len(st.table.tracks))}
		st.scopes[key] = s
		if s.in = st.used.PushFront(s); len(st.scopes) > mostScopes {
			oldest := st.used.Remove(st.used.Back()).(*scope)
			delete(st.scopes, oldest.key)
		}
		return s
	}
	st.used.MoveToFront(s.in)
	return s
}

// session returns the session of a moment that is newer than all before.
func (st *state) session(m *Moment) *scope {
	s := st.scope("session " + m.Session)
	if back := s.newest.Sub(m.Time); back > clockError && !s.first.IsZero() { // the session is no younger for that
		s.first = s.first.Add(-back)
	}
	s.newest = m.Time
	return s
}

// of returns whose events a track or a condition counts.
func (st *state) of(by Scope, m *Moment, session *scope) *scope {
	switch by {
	case ByAgent:
		return st.scope("agent " + m.Agent)
	case ByMachine:
		return st.scope("machine")
	}
	return session
}

// place adds a moment that has no fate yet.
func (st *state) place(m *Moment, s *scope, hits []hit) *placed {
	p := &placed{m: m, hits: hits, open: true}
	if st.table.files {
		p.edits = m.paths()
		m.Fetched = m.Fetched || len(p.edits) > 0 && (m.brings() || st.passesOn(m))
	}
	if m.Subject != nil && m.Subject.Facts != nil {
		p.facts = m.Subject.Facts
		p.what = strings.Clone(brief(p.facts.Text))
	}
	st.last = max(st.last, m.Place)
	if m.Kind == Asked {
		if st.table.like {
			s.like = append(s.like, like{m.Place, m.Time.UnixNano(), m.Keys, false, true, false, m.ID})
		}
		if len(s.like) > 2*mostLike {
			s.like = slices.Clone(s.like[len(s.like)-mostLike:])
		}
		for _, key := range p.edits {
			st.edit(key, m)
		}
		if s.open = append(s.open, p); len(s.open) > mostOpen {
			s.ends(s.open[0].m)
			s.open = slices.Clone(s.open[1:])
		}
	}
	for _, h := range hits {
		if t := &st.table.tracks[h.track]; t.ok == nil {
			st.put(p, s, h, h.level, true)
		}
	}
	return p
}

// put adds a moment to a track.
func (st *state) put(p *placed, s *scope, h hit, level facts.Fit, open bool) {
	t := &st.table.tracks[h.track]
	e := entry{p.m.Place, p.m.Time.UnixNano(), int32(h.at), level, open, p.m.ID, p.what}
	st.of(t.by, p.m, s).trails[h.track].put(e, t.most)
}

// settled gives a moment its fate: p.denied and p.m.Unsure.
func (st *state) settled(p *placed) {
	s := st.scope("session " + p.m.Session)
	for _, h := range p.hits {
		if t := &st.table.tracks[h.track]; t.ok == nil || p.denied {
			st.of(t.by, p.m, s).trails[h.track].end(p.m.Place, p.denied, p.m.Unsure && !p.ended)
		}
	}
	of := func(place uint64) bool { return place == p.m.Place }
	i := slices.IndexFunc(s.like, func(l like) bool { return of(l.place) })
	if !p.denied {
		if s.start(p.m); i >= 0 {
			s.like[i].open = false
		}
		if p.m.Unsure && !p.ended {
			st.doubt(p, s, true)
		}
		return
	}
	if i >= 0 {
		s.like = slices.Delete(s.like, i, i+1)
	}
	for _, key := range p.edits {
		if f := st.files[key]; f != nil {
			f.edits = slices.DeleteFunc(f.edits, func(e edited) bool { return of(e.place) })
		}
	}
	s.open = slices.DeleteFunc(s.open, func(o *placed) bool { return of(o.m.Place) })
	s.ends(p.m)
}

// doubt notes whether it is unsure that a call has happened.
func (st *state) doubt(p *placed, s *scope, unsure bool) {
	for i := range s.like {
		if l := &s.like[i]; l.place == p.m.Place {
			l.unsure = unsure
		}
	}
	for _, key := range p.edits {
		if f := st.files[key]; f != nil {
			for i := range f.edits {
				if e := &f.edits[i]; e.place == p.m.Place {
					e.unsure = unsure
				}
			}
		}
	}
}

// ends notes that the end of a call counts no more.
func (s *scope) ends(m *Moment) {
	if m.Call == "" {
		return
	}
	if s.over = append(s.over, keyOf(m.Call)); len(s.over) > mostOver {
		s.over = slices.Clone(s.over[len(s.over)-mostOver/2:])
	}
}

// start notes when the session began, as far as that is known.
func (s *scope) start(m *Moment) {
	switch {
	case m.Kind == Began && m.Place > s.began:
		s.first, s.began = m.Time, m.Place
	case s.began == 0 && (s.first.IsZero() || m.Time.Before(s.first)):
		s.first = m.Time
	}
}

// running is the index in open of the call that has ended so; -1 = there is none.
func (s *scope) running(m *Moment) int {
	return slices.IndexFunc(s.open, func(p *placed) bool {
		if m.Of != 0 {
			return p.m.Place == m.Of
		}
		return p.m.Call == m.Call && (m.Call != "" || p.m.Keys == m.Keys) // without an id the same call
	})
}

// ended notes how a call ended, and reports whether that counts. A call that no event announced counts
// from its end on: its agent announces none, or hookd did not run then. The end of a call that was denied
// does not count, nor does a second one.
func (st *state) ended(m *Moment, s *scope) bool {
	st.last = max(st.last, m.Place)
	i := s.running(m)
	var p *placed
	switch {
	case i >= 0:
		p = s.open[i]
		s.open = slices.Delete(s.open, i, i+1)
	case m.Of == 0 && m.Call != "" && slices.Contains(s.over, keyOf(m.Call)):
		return false
	default:
		asked := *m
		asked.Kind = Asked
		p = st.place(&asked, s, st.table.hits(&asked))
		s.open = s.open[:len(s.open)-1]
		m.Fetched = asked.Fetched
		p.open = false
		st.settled(p)
	}
	p.ended, m.Of = true, p.m.Place
	if s.ends(m); p.m.Unsure { // it ran, so a person said yes
		st.doubt(p, s, false)
	}
	type proven struct {
		at int
		ok bool
	}
	known := map[proven]facts.Fit{} // a line is parsed for each
	for _, h := range p.hits {
		switch t := &st.table.tracks[h.track]; {
		case t.ok != nil:
			of := proven{h.at, *t.ok}
			if _, is := known[of]; !is {
				known[of] = proof(p.facts, h.at, m.Outcome, *t.ok)
			}
			if level := min(h.level, known[of]); level > facts.No {
				st.put(p, s, h, level, false)
			}
		case p.m.Unsure:
			st.put(p, s, h, h.level, false)
		}
	}
	if m.Outcome != Failed {
		return true
	}
	if i := slices.IndexFunc(s.like, func(l like) bool { return l.place == p.m.Place }); i >= 0 {
		s.like[i].failed = true
	}
	return true
}

// again adds a moment that was kept, or came while others were read.
func (st *state) again(p *placed) {
	m := *p.m
	s := st.session(&m)
	st.last = max(st.last, m.Place)
	switch {
	case m.Kind == Refused:
		s.ends(&m)
		return
	case m.Kind == Ended:
		if m.Alone() || s.running(&m) >= 0 { // else its call was not kept
			st.ended(&m, s)
		}
		return
	}
	fresh := st.place(&m, s, st.table.hits(&m))
	if p.open {
		return
	}
	fresh.open, fresh.denied = false, p.denied
	st.settled(fresh)
	m.Subject = nil
}

// under is the state for other rules: the counts so far stay, and the rest is that of
// filled, which has the same rules; nil = nothing is known of the rest.
func (st *state) under(t *table, filled *state) *state {
	next := newState(t)
	next.last = st.last
	if filled != nil {
		next = filled
		next.last = max(st.last, filled.last)
	}
	if len(st.table.pasts) == 0 { // nothing was fed to it
		return next
	}
	if st.table.files {
		next.files, next.edited = map[uint64]*file{}, list.List{}
		for e := st.edited.Back(); e != nil; e = e.Prev() {
			f := e.Value.(*file)
			next.files[f.key] = &file{key: f.key, edits: f.edits}
			next.files[f.key].in = next.edited.PushFront(next.files[f.key])
		}
	}
	for e := st.used.Back(); e != nil; e = e.Prev() {
		s := e.Value.(*scope)
		of := next.scope(s.key)
		s.open = slices.Clone(s.open)
		for i, p := range s.open {
			s.open[i] = p.under(st.table, t, of.open)
		}
		of.first, of.newest, of.began, of.open, of.over = s.first, s.newest, s.began, s.open, s.over
		if st.table.like {
			of.like = s.like
		}
		for key, i := range t.index {
			if j, known := st.table.index[key]; known && st.table.tracks[j].most >= t.tracks[i].most {
				of.trails[i] = s.trails[j]
			}
		}
	}
	return next
}

// under is an open call for other rules; filled has the calls that were read for those rules.
func (p *placed) under(old, t *table, filled []*placed) *placed {
	for _, f := range filled {
		if f.m.Place == p.m.Place {
			p.hits, p.edits = f.hits, f.edits
			return p
		}
	}
	p.hits = old.moved(p.hits, t)
	return p
}

// moved are hits by the indexes of another table.
func (t *table) moved(hits []hit, to *table) (list []hit) {
	for key, i := range to.index {
		if j, known := t.index[key]; known {
			for _, h := range hits {
				if h.track == j {
					h.track = i
					list = append(list, h)
				}
			}
		}
	}
	return list
}

// seen is how surely a Past fits, and the earlier events that make it so.
type seen struct {
	level facts.Fit
	ids   []string // the oldest first
	what  string   // of the newest
	since string   // id of the event that it looks back to; "" = there is none
}

// Before is the past of an event. It never changes. A nil Before knows nothing.
type Before struct {
	table *table
	fits  []fitting // those that do, in the order of table.pasts
	since [3]string // ids of the newest of each of the Boundaries; "" = none, or no Past asks
}

// fitting is a Past that fits.
type fitting struct {
	past int // index in table.pasts
	seen seen
}

// of returns how surely p fits. Of a rule that is newer than the event it is not known.
func (b *Before) of(p *Past) seen {
	if b == nil {
		return seen{}
	}
	i, known := b.table.at[p]
	if !known { // a rule that was read again
		i, known = b.table.seen[p.key]
	}
	if !known {
		return seen{level: facts.Perhaps}
	}
	var found seen
	at, fits := slices.BinarySearchFunc(b.fits, i, func(f fitting, i int) int { return cmp.Compare(f.past, i) })
	if fits {
		found = b.fits[at].seen
	}
	if since := b.table.pasts[i].since; since >= 0 {
		found.since = b.since[since]
	}
	return found
}

// before returns the past that a moment sees, which has its place.
func (st *state) before(m *Moment, s *scope) *Before {
	b := &Before{table: st.table}
	v := view{state: st, m: m, session: s}
	if m.Call != "" && m.Kind != Asked { // of a call that has its place already
		for _, p := range s.open {
			if p.m.Call == m.Call {
				v.own = p.m.Place
			}
		}
	}
	if st.table.files {
		v.edits = st.editsOf(m.paths())
		v.fetched = st.fetchedBy(m, facts.KindRun, facts.KindInstall)
	}
	st.fits, st.ids = st.fits[:0], st.ids[:0]
	for i := range st.table.pasts {
		if found := v.look(&st.table.pasts[i]); found.level > facts.No {
			st.fits = append(st.fits, fitting{i, found})
		}
	}
	b.fits = slices.Clone(st.fits)
	ids := slices.Clone(st.ids) // of all, in the order of fits
	for i := range b.fits {
		n := len(b.fits[i].seen.ids)
		b.fits[i].seen.ids, ids = ids[:n:n], ids[n:]
	}
	for i, at := range v.bounds {
		if at.perhaps != nil {
			b.since[i] = at.perhaps.id
		}
	}
	return b
}

// view is the past that one moment looks at, for all conditions.
type view struct {
	*state
	m       *Moment
	session *scope
	own     uint64   // place of a call that does not count
	edits   []edited // of the files that the call edits, the oldest first
	fetched []edited // of those that it runs
	alike   [3][]*like
	bounds  [3]bounds // by the index in Boundaries
}

// bounds are the newest events of a boundary: an event after perhaps is surely after the boundary, an event
// before sure is surely before it.
type bounds struct {
	known         bool
	sure, perhaps *entry // nil = none
}

// bound returns the bounds of a boundary.
func (v *view) bound(i int) *bounds {
	b := &v.bounds[i]
	if !b.known {
		t := v.session.trails[i]
		*b = bounds{true, t.newest(v.own, facts.Sure), t.newest(v.own, facts.Perhaps)}
	}
	return b
}

// like returns the earlier calls that are like the present one, the oldest first.
func (v *view) like(at int) []*like {
	list := &v.alike[at]
	if *list != nil {
		return *list
	}
	*list = []*like{}
	for i := range v.session.like {
		if l := &v.session.like[i]; l.is(likes[at], v.m.Keys) {
			*list = append(*list, l)
		}
	}
	return *list
}

// likes are the respects in which whole calls are alike.
var likes = []Same{SameCall, SameCommand, SameFailure}

// look returns how surely p fits now.
func (v *view) look(p *wanted) seen {
	st, m, s := v.state, v.m, v.session
	if p.lasted > 0 {
		if !s.first.IsZero() && m.Time.Sub(s.first) >= p.lasted {
			return seen{level: facts.Sure}
		}
		return seen{}
	}
	var lower, sure *entry // an entry after sure fits surely, one after lower perhaps
	if p.since >= 0 {
		b := v.bound(p.since)
		lower, sure = b.sure, b.perhaps
	}
	from, until := int64(0), int64(math.MaxInt64)
	if p.within > 0 {
		from, until = m.Time.Add(-p.within).UnixNano(), m.Time.Add(clockError).UnixNano()
	}
	var c count
	fits := func(e *entry) {
		if e.place == v.own || e.time < from || !e.after(lower) {
			return
		}
		level := e.level
		if !e.after(sure) || e.time > until {
			level = min(level, facts.Perhaps)
		}
		c.add(e, level, p.count)
	}
	switch {
	case p.fetched:
		for _, e := range slices.Backward(v.fetched) {
			fits(&entry{place: e.place, time: e.time, level: level(e.unsure), id: e.id})
		}
	case p.path:
		for i := len(v.edits) - 1; i >= 0 && !c.done(p.count); i-- {
			if e := &v.edits[i]; (e.session != m.Session) == p.other {
				fits(&entry{place: e.place, time: e.time, level: level(e.unsure), id: e.id})
			}
		}
	case p.like >= 0:
		for _, l := range slices.Backward(v.like(p.like)) {
			if fits(&entry{place: l.place, time: l.time, level: level(l.unsure), id: l.id}); c.done(p.count) {
				break
			}
		}
	default:
		t := st.of(p.by, m, s).trails[p.track]
		for i := len(t) - 1; i >= 0 && t[i].after(lower) && !c.done(p.count); i-- {
			fits(&t[i])
		}
	}
	return c.seen(p.count, &st.ids)
}

// editsOf returns the edits of files, the oldest first. The list must not be changed.
func (st *state) editsOf(keys []uint64) (list []edited) {
	if len(keys) == 1 && st.files[keys[0]] != nil {
		return st.files[keys[0]].edits
	}
	for _, key := range keys {
		if f := st.files[key]; f != nil {
			list = append(list, f.edits...)
		}
	}
	slices.SortFunc(list, func(a, b edited) int { return cmp.Compare(a.place, b.place) })
	return list
}

// fetchedBy returns by which edits the session of a moment has fetched files that it uses in such a way, the
// oldest first.
func (st *state) fetchedBy(m *Moment, kinds ...facts.EffectKind) (list []edited) {
	for _, e := range st.editsOf(m.Subject.sources(kinds...)) {
		if e.fetched && e.session == m.Session && e.place != m.Place {
			list = append(list, e)
		}
	}
	return list
}

// passesOn reports whether a call writes what it has from a file that was fetched: a copy, an unpacked archive.
func (st *state) passesOn(m *Moment) bool {
	return len(st.fetchedBy(m, facts.KindRead, facts.KindMove, facts.KindRun)) > 0
}

// is reports whether an earlier call is like one with these keys.
func (l *like) is(same Same, k Keys) bool {
	switch same {
	case SameCall:
		return k.Call != 0 && l.keys.Call == k.Call
	case SameFailure:
		return l.failed && k.Call != 0 && l.keys.Call == k.Call
	case SameCommand:
		return k.Command != 0 && l.keys.Command == k.Command
	}
	return false
}

// count counts entries, the newest first.
type count struct {
	all, sure int
	place     uint64 // of the last one: several files of one call count once
	ids       [mostShown]string
	what      string
}

func (c *count) add(e *entry, level facts.Fit, most int) {
	if c.all > 0 && c.place == e.place {
		return
	}
	c.place = e.place
	if c.all++; level == facts.Sure {
		c.sure++
	}
	if c.what == "" {
		c.what = e.what
	}
	if c.all <= min(most, mostShown) {
		c.ids[c.all-1] = e.id
	}
}

func (c *count) done(most int) bool { return c.sure >= most }

// seen is the result; its ids come behind those in room.
func (c *count) seen(most int, room *[]string) (s seen) {
	switch {
	case c.sure >= most:
		s.level = facts.Sure
	case c.all >= most:
		s.level = facts.Perhaps
	default:
		return s
	}
	at := len(*room)
	*room = append(*room, c.ids[:min(c.all, most, mostShown)]...)
	s.ids, s.what = (*room)[at:], c.what
	slices.Reverse(s.ids)
	return s
}
