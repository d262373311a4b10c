// Package audit has the chain of records that must not be changed afterwards: the form of its
// records, how each is bound to the one before it, and the faults of a chain.
//
// It promises: a record that was changed, removed, reordered or inserted is found and
// named, wherever it stands, unless the whole chain behind it and its head were made again.
// A head that was noted elsewhere finds that, too. Old records may be pruned: the chain
// then has a record that says up to where, with the hash at that place.
//
// It is pure, keeps a bounded list of findings and reads each record once.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kinds of records.
const (
	Begun    = "begun"    // a new chain begins
	Pruned   = "pruned"   // old records were removed
	Denied   = "denied"   // a call was denied
	Answered = "answered" // a person, or a remembered answer, has decided an ask
	Permit   = "permit"   // a person lets the next call pass that is the same as a denied one
	Revoked  = "revoked"  // a person ended a remembered answer
	Hook     = "hook"     // a hook was added, changed, removed or switched
	Settings = "settings" // hookd.yaml has changed, or waits to be allowed
	Gone     = "guard-gone"

	Storage   = "storage"    // accepted events were lost, or a file was set aside
	Refused   = "refused"    // an agent's process would have weakened a guard, or taken a call back
	Undone    = "undone"     // a person took calls back
	TakenBack = "taken-back" // what was set aside was read again
)

// Hash binds a record to all before it.
type Hash [sha256.Size]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Head is the last record of a chain; the zero Head is that of an empty one.
type Head struct {
	N    uint64
	Hash Hash
}

// String is the head as ParseHead reads it.
func (h Head) String() string { return fmt.Sprintf("%d:%s", h.N, h.Hash) }

// ParseHead reads N:HASH.
func ParseHead(text string) (h Head, err error) {
	n, hash, ok := strings.Cut(text, ":")
	h.N, err = strconv.ParseUint(n, 10, 64)
	raw, bad := hex.DecodeString(hash)
	if !ok || err != nil || bad != nil || len(raw) != len(h.Hash) {
		return Head{}, fmt.Errorf("%q is no head of a chain: want N:HASH, as `hookd audit verify` prints it", text)
	}
	copy(h.Hash[:], raw)
	return h, nil
}

// Link is one record as it is kept: its text, and its hash with that of the one before.
type Link struct {
	N    uint64
	Text []byte // JSON of Body
	Hash Hash
}

// Body is the content of a record.
type Body struct {
	N      uint64          `json:"n"`
	At     time.Time       `json:"at"`
	Kind   string          `json:"kind"`
	Detail json.RawMessage `json:"detail"`
}

// Next makes the record behind a head.
func (h Head) Next(at time.Time, kind string, detail any) (Link, error) {
	inner, err := json.Marshal(detail)
	if err != nil {
		return Link{}, err
	}
	text, err := json.Marshal(Body{h.N + 1, at.UTC(), kind, inner})
	if err != nil {
		return Link{}, err
	}
	text = plain(text)
	return Link{h.N + 1, text, bind(h.Hash, text)}, nil
}

func bind(before Hash, text []byte) (h Hash) {
	sum := sha256.New()
	sum.Write(before[:])
	sum.Write(text)
	sum.Sum(h[:0])
	return h
}

// Anchor is the detail of a Pruned record: the number and hash before the first record that is left.
type Anchor struct {
	UpTo uint64 `json:"up_to"`
	Hash string `json:"hash"`
}

// Beginning is the detail of a Begun record.
type Beginning struct {
	Epoch   string `json:"epoch"`             // of the database
	Denials int64  `json:"denials,omitempty"` // on record before the chain: an earlier chain was removed
}

// Emptied says that a chain is not there although it has denials to tell of.
func Emptied(denials int64) string {
	if denials == 1 {
		return "the audit chain was emptied: a denial on record is not in it"
	}
	return fmt.Sprintf("the audit chain was emptied: %d denials on record are not in it", denials)
}

// Empty notes how many denials are on record beside a chain that has no record.
func (c *Checker) Empty(denials int64) {
	if !c.started && denials > 0 {
		c.found(0, "removed", Emptied(denials))
	}
}

// Report has the findings of Check.
type Report struct {
	Records  int       `json:"records"`
	First    uint64    `json:"first"`
	Head     Head      `json:"-"`
	HeadText string    `json:"head"`
	Pruned   uint64    `json:"pruned"` // records up to this one were pruned; 0 = none
	Findings []Finding `json:"findings"`
	More     int       `json:"more,omitempty"` // findings beside those
}

// Finding is one thing that is wrong.
type Finding struct {
	N    uint64 `json:"n"`    // the record
	What string `json:"what"` // changed, removed, reordered, inserted
	Text string `json:"text"`
}

// maxFindings are kept; the others are counted.
const maxFindings = 20

// Checker reads a chain record by record, in the order of their numbers. Start it with
// NewChecker.
type Checker struct {
	report  Report
	noted   Head // from elsewhere; zero = none
	met     bool // the noted head
	last    Head
	blind   bool // what the next record stands on is gone: its hash cannot be checked
	before  Hash // of the record before the first, as the chain's anchors say
	started bool
	anchors map[uint64]string
	buffer  [32]byte
}

// pruned is part of each record that is an anchor.
var pruned = []byte(`"kind":"` + Pruned + `"`)

// NewChecker returns a Checker. noted is a head that was noted before; the zero Head is
// none.
func NewChecker(noted Head) *Checker {
	return &Checker{noted: noted, anchors: map[uint64]string{}, report: Report{Findings: []Finding{}}}
}

// Add takes the next record; prev is the hash that it says to stand on, for an export that
// begins in the middle: nil = it is not said.
func (c *Checker) Add(r Link, prev *Hash) {
	c.report.Records++
	if !c.started {
		c.started, c.report.First = true, r.N
		c.jump(r.N, prev)
		c.before = c.last.Hash
	} else if r.N != c.last.N+1 {
		from := c.last.N + 1
		c.jump(r.N, prev)
		c.found(from, "removed", missing(from, r.N)+c.unchecked(r.N))
	}
	blind := c.blind
	c.blind = false
	own := bytes.HasPrefix(r.Text, fmt.Appendf(c.buffer[:0], `{"n":%d,`, r.N))
	if r.N == 1 {
		c.begin(r.Text)
	}
	if own && bind(c.last.Hash, r.Text) == r.Hash && !bytes.Contains(r.Text, pruned) { // as most records are
		c.last = Head{r.N, r.Hash}
		c.met = c.met || c.last == c.noted
		return
	}
	var b Body
	readable := json.Unmarshal(r.Text, &b) == nil
	switch {
	case readable && b.N != r.N:
		c.found(r.N, "reordered", fmt.Sprintf("record %d holds record %d: it was moved, or others were put in", r.N, b.N))
	case bind(c.last.Hash, r.Text) == r.Hash:
	case blind && readable: // the finding of what is missing says that
	default:
		c.found(r.N, "changed", fmt.Sprintf("record %d%s is not what was written: it or its hash was changed, or it was put in",
			r.N, about(b, readable)))
	}
	if readable && b.Kind == Pruned {
		if a, ok := AnchorIn(r.Text); ok {
			c.anchors[a.UpTo] = a.Hash
			c.report.Pruned = max(c.report.Pruned, a.UpTo)
		}
	}
	c.last = Head{r.N, r.Hash}
	c.met = c.met || c.last == c.noted
}

// begin reads the first record of a chain.
func (c *Checker) begin(text []byte) {
	var b Body
	var from Beginning
	if json.Unmarshal(text, &b) != nil || b.Kind != Begun || json.Unmarshal(b.Detail, &from) != nil {
		return
	}
	if from.Denials > 0 {
		c.found(1, "removed", Emptied(from.Denials)+", and another one was begun")
	}
}

// AddNext is Add for a chain that is read from its store, where a record does not say which hash
// it stands on: before is the hash of the record before it there, or of the pruned records, and
// counts for the first one alone. The zero hash is the hash of no record.
func (c *Checker) AddNext(r Link, before Hash) {
	if c.started || before == (Hash{}) {
		c.Add(r, nil)
	} else {
		c.Add(r, &before)
	}
}

// jump goes to before record n, which says to stand on prev; nil = it says nothing, so that
// only the first record of all can be checked.
func (c *Checker) jump(n uint64, prev *Hash) {
	c.last, c.blind = Head{N: n - 1}, prev == nil && n > 1
	if prev != nil {
		c.last.Hash = *prev
	}
}

// unchecked says of a gap before record n that nothing vouches for that record.
func (c *Checker) unchecked(n uint64) string {
	if !c.blind {
		return ""
	}
	return fmt.Sprintf(", so record %d cannot be checked", n)
}

func about(b Body, readable bool) string {
	if !readable {
		return ""
	}
	return fmt.Sprintf(" (%s at %s)", b.Kind, b.At.Format(time.RFC3339))
}

func missing(from, to uint64) string {
	if to == from+1 {
		return fmt.Sprintf("record %d is missing", from)
	}
	return fmt.Sprintf("records %d to %d are missing", from, to-1)
}

func (c *Checker) found(n uint64, what, text string) {
	if len(c.report.Findings) == maxFindings {
		c.report.More++
		return
	}
	c.report.Findings = append(c.report.Findings, Finding{n, what, text})
}

// End returns the report. whole says that the chain should begin at its first record or
// at an anchor, as the chain in the store does; head is where it should end, nil = that is
// not known.
func (c *Checker) End(whole bool, head *Head) Report {
	if whole && c.started && c.report.First > 1 {
		c.checkFront(c.report.First)
	}
	if head != nil && c.last != *head {
		switch {
		case c.last.N < head.N:
			c.found(head.N, "removed", missing(c.last.N+1, head.N+1)+" at the end")
		default:
			c.found(c.last.N, "inserted", fmt.Sprintf("the chain ended at record %d: what is behind it, or its hash, is not hookd's", head.N))
		}
	}
	if c.noted.N > 0 && !c.met {
		c.foundNoted()
	}
	c.report.Head, c.report.HeadText = c.last, c.last.String()
	return c.report
}

// checkFront reports the fault of a chain that begins with record first, which is not 1.
func (c *Checker) checkFront(first uint64) {
	switch hash, anchored := c.anchors[first-1]; {
	case !anchored:
		from := uint64(1)
		if c.report.Pruned < first-1 {
			from = c.report.Pruned + 1
		}
		c.found(first-1, "removed", fmt.Sprintf("%s at the front: no record says that they were pruned, so record %d cannot be checked",
			missing(from, first), first))
	case hash != c.before.String():
		c.found(first, "changed", fmt.Sprintf("record %d does not stand on what was pruned before it", first))
	}
}

// foundNoted says why the chain does not have the head that was noted.
func (c *Checker) foundNoted() {
	n := c.noted.N
	switch {
	case n > c.last.N:
		gap := missing(c.last.N+1, n+1)
		c.found(n, "removed", fmt.Sprintf("%s at the end: the head that was noted is record %d", gap, n))
	case n < c.report.First:
		c.found(n, "removed", fmt.Sprintf("record %d, the head that was noted, is before the first record that is left: note a newer head", n))
	default:
		c.found(n, "changed", fmt.Sprintf("record %d is not the head that was noted: it was removed, or the chain was made again", n))
	}
}

// Line is a record as it is exported, one line, without characters that a person cannot
// see. A record of an older hookd may have them in Text: they are escaped here.
func (r Link) Line(prev Hash) []byte {
	head := fmt.Appendf(nil, `{"n":%d,"prev":"%s","hash":"%s","record":`, r.N, prev, r.Hash)
	return slices.Concat(head, plain(r.Text), []byte("}\n"))
}

// ReadLine reads the output of Line, with Text as it was hashed.
func ReadLine(line []byte) (r Link, prev Hash, err error) {
	var l struct {
		N      uint64          `json:"n"`
		Prev   string          `json:"prev"`
		Hash   string          `json:"hash"`
		Record json.RawMessage `json:"record"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return r, prev, err
	}
	for _, h := range []struct {
		text string
		into *Hash
	}{{l.Prev, &prev}, {l.Hash, &r.Hash}} {
		if *h.into = ParseHash(h.text); h.into.String() != h.text {
			return r, prev, fmt.Errorf("record %d: its hashes cannot be read", l.N)
		}
	}
	r.N, r.Text = l.N, bytes.Clone(l.Record)
	if older := raw(r.Text); bind(prev, r.Text) != r.Hash && bind(prev, older) == r.Hash {
		r.Text = older
	}
	return r, prev, nil
}

// AnchorIn reads the text of a Pruned record; false = it is none.
func AnchorIn(text []byte) (a Anchor, ok bool) {
	var b Body
	if json.Unmarshal(text, &b) != nil || b.Kind != Pruned {
		return a, false
	}
	return a, json.Unmarshal(b.Detail, &a) == nil
}

// ParseHash reads the output of Hash.String; anything else is the zero Hash.
func ParseHash(text string) (h Hash) {
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == len(h) {
		copy(h[:], raw)
	}
	return h
}
