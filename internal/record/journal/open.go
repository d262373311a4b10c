package journal

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Found is the state of an earlier journal that Open has found, beside its records.
type Found struct {
	Missing []uint64 // segments that should be there
	Damaged []Damage // in the order of their segments
	Aside   []Aside  // files that are no part of the journal any more
}

// Damage is a part of a segment that cannot be understood. The file has a second name, Kept,
// which stays when its records are freed.
type Damage struct {
	Segment uint64
	Kept    string // path; "" = all records of the segment are whole
	Bytes   int64  // that are no record
	Records int    // lost, at the least
	Torn    bool   // no Append is known to have confirmed them
}

// Aside is a file that was set aside. It is never removed.
type Aside struct {
	Path string // where it is now
	Why  error
}

// Why a file is set aside, beside an error of a read.
var (
	ErrOther  = errors.New("it belongs to another database")
	errHeader = errors.New("its header is damaged")
)

// Open opens the journal of o.Dir, or begins one, and calls each with every record
// from a place on, in order; head is valid during the call. from is a result of Next,
// or a place up to which nothing is needed any more. An error of each ends it, and so
// does an error of a read unless Options.SetAside is set: nothing is changed then, and Open can be called again.
func Open(o Options, from Pos, each func(e Entry, head []byte) error) (j *Journal, found Found, err error) {
	o.Bytes = cmp.Or(o.Bytes, SegmentBytes)
	j = &Journal{opts: o, files: o.Files, size: o.Bytes / firstPart, last: max(from.Segment, o.Confirmed.Segment)}
	if from.Offset == 0 && from.Segment > o.Confirmed.Segment { // that segment was not begun
		j.last--
	}
	if j.files == nil {
		j.files = osFiles{}
	}
	defer func() {
		if err != nil {
			j.Close(false)
			err = fmt.Errorf("open journal %s: %w", o.Dir, err)
		}
	}()
	if len(o.Owner) > maxOwner {
		return j, found, fmt.Errorf("the name of its owner has %d bytes, %d are allowed", len(o.Owner), maxOwner)
	}
	if err = j.files.MkdirAll(o.Dir); err != nil {
		return j, found, err
	}
	all, err := j.load(&found)
	if err != nil {
		return j, found, err
	}
	needed := j.chain(all, from, &found)
	for _, s := range needed {
		begin := int64(segmentHeader)
		if s.number == from.Segment {
			begin = max(begin, from.Offset)
		}
		text, err := s.text(begin)
		switch {
		case err == nil:
			err = j.scan(s, begin, text, &found, each)
			j.segments = append(j.segments, s.segment)
			j.good = Pos{s.number, s.end}
		case o.SetAside:
			err = j.setAside(s, err, &found)
		}
		if err != nil {
			closeAll(all)
			return j, found, err
		}
	}
	for _, s := range all {
		switch {
		case slices.Contains(needed, s):
		case s.guessed:
			if err = j.setAside(s, errHeader, &found); err != nil {
				return j, found, err
			}
		default:
			s.discard(j.files)
		}
	}
	return j, found, nil
}

// loaded is a segment that was found.
type loaded struct {
	*segment
	owner   string
	after   Pos   // where the records before it end
	guessed bool  // its header is damaged: the number is that of its records, owner and after are not known
	has     int64 // bytes of the file
	least   int64 // its records go up to here, as an Append or the next segment says; 0 = that is not known
}

func closeAll(all []*loaded) {
	for _, s := range all {
		s.file.Close()
	}
}

// load opens the files of the folder, in the order of their numbers. A file that is empty
// was not in use. A file of another owner, and one without any record to be understood, is set aside.
func (j *Journal) load(found *Found) (all []*loaded, err error) {
	paths, err := j.files.List(j.opts.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			closeAll(all)
		}
	}()
	for _, path := range paths {
		name, is := strings.CutSuffix(filepath.Base(path), suffix)
		slot, bad := strconv.ParseUint(name, 10, 63)
		if !is || bad != nil {
			continue // not ours
		}
		j.slots = max(j.slots, slot)
		s, err := loadFile(j.files, path)
		foreign := s != nil && !s.guessed && s.owner != j.opts.Owner && !slices.Contains(j.opts.Former, s.owner)
		switch {
		case errors.Is(err, errHeader), err != nil && j.opts.SetAside && !errors.Is(err, ErrNewer):
			unread := &loaded{segment: &segment{path: path, number: slot}}
			err = j.setAside(unread, err, found)
		case err != nil:
		case s == nil:
			err = j.files.Remove(path)
		case foreign && !j.opts.Adopt:
			err = j.setAside(s, ErrOther, found)
		default: // one with a damaged header, too: its place in the chain says whether it is needed
			all = append(all, s)
			j.last = max(j.last, s.number)
		}
		if err != nil {
			return all, err
		}
	}
	slices.SortStableFunc(all, func(a, b *loaded) int {
		if a.number == b.number && a.guessed != b.guessed {
			if a.guessed {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.number, b.number)
	})
	return all, nil
}

// setAside renames a file, which is closed.
func (j *Journal) setAside(s *loaded, why error, found *Found) error {
	if s.file != nil {
		s.file.Close()
	}
	kind := unreadSuffix
	if errors.Is(why, ErrOther) {
		kind = otherSuffix
	}
	aside, err := freeName(j.files, s.path+kind+strconv.FormatUint(s.number, 10))
	if err == nil {
		err = j.files.Rename(s.path, aside)
	}
	if err == nil {
		found.Aside = append(found.Aside, Aside{aside, why})
	}
	return err
}

// The suffixes of files that are set aside; each is followed by a number.
const (
	otherSuffix   = ".other-"
	unreadSuffix  = ".unread-"
	damagedSuffix = ".damaged-"
)

// freeName returns path, or path with an end that makes it the name of no file.
func freeName(files Files, path string) (string, error) {
	taken, err := files.List(filepath.Dir(path))
	for slices.Contains(taken, path) {
		path += "-2"
	}
	return path, err
}

// keep gives the file of a damaged segment a second name. An earlier Open may have done so.
func (j *Journal) keep(s *segment) (kept string, err error) {
	kept = s.path + damagedSuffix + strconv.FormatUint(s.number, 10)
	if _, err := s.file.SizeAt(kept); err == nil {
		return kept, nil
	}
	if kept, err = freeName(j.files, kept); err == nil {
		err = j.files.Link(s.path, kept)
	}
	return kept, err
}

// Keep gives the file of a segment a second name, because a record in it is damaged: so it stays when
// the segment is freed.
func (j *Journal) Keep(number uint64) (kept string, err error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	i := slices.IndexFunc(j.segments, func(s *segment) bool { return s.number == number })
	var s *segment
	if i >= 0 {
		s = j.segments[i]
		s.sealed = true // its file is not used again
	}
	j.mu.Unlock()
	if s == nil {
		return "", fmt.Errorf("%w: segment %d is not there", ErrDamaged, number)
	}
	return j.keep(s)
}

// loadFile opens a file and reads its header. It returns nil for a file that is empty. The number of a
// segment with a damaged header is that of its records.
func loadFile(files Files, path string) (l *loaded, err error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if l == nil {
			file.Close()
		}
		if err != nil {
			err = fmt.Errorf("read %s: %w", path, err)
		}
	}()
	has, err := file.SizeAt(path)
	if err != nil {
		return nil, err
	}
	text := make([]byte, min(has, headerBytes))
	if err := readAll(file, text, 0); err != nil {
		return nil, err
	}
	s, owner, after, bad := readHeader(text)
	if bad == nil {
		s.path, s.file, s.end, s.sealed = path, file, s.size, true
		return &loaded{segment: &s, owner: owner, after: after, has: has}, nil
	}
	if errors.Is(bad, ErrNewer) {
		return nil, bad
	}
	text = make([]byte, has)
	if err := readAll(file, text, 0); err != nil {
		return nil, err
	}
	if len(bytes.TrimLeft(text, "\x00")) == 0 {
		return nil, nil
	}
	if number := newestRecord(text); number > 0 {
		s = segment{path: path, file: file, size: has, number: number, end: has, sealed: true}
		return &loaded{segment: &s, guessed: true, has: has}, nil
	}
	if seemsNewer(text) {
		return nil, ErrNewer
	}
	return nil, bad
}

// readAll fills b. A file that ends before that is an error.
func readAll(file File, b []byte, at int64) error {
	n, err := file.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// text reads the records of a segment from a place on, up to where the file ends at the latest.
func (s *loaded) text(from int64) ([]byte, error) {
	text := make([]byte, max(min(s.end, s.has)-from, 0))
	if err := readAll(s.file, text, from); err != nil {
		return nil, fmt.Errorf("read %s at %d: %w", s.path, from, err)
	}
	return text, nil
}

// newestRecord returns the greatest number of a segment that a record in text names; 0 = there is
// none. A file that was used again also has records of its earlier use.
func newestRecord(text []byte) (number uint64) {
	for at := segmentHeader; at+recordHeader <= len(text); {
		n := binary.LittleEndian.Uint64(text[at:])
		if n <= number || n > mostSegments {
			at += 8
			continue
		}
		e, _, _, ok := readRecord(text[at:], n)
		if !ok {
			at += 8
			continue
		}
		number = n
		at += int(min(e.Bytes(), int64(len(text)-at)))
	}
	return number
}

// mostSegments is a number beyond the reach of a journal.
const mostSegments = 1 << 40

// chain returns the segments from a place on that belong together: each says where the
// one before it ends.
func (j *Journal) chain(all []*loaded, from Pos, found *Found) (needed []*loaded) {
	confirmed := j.opts.Confirmed
	behind := confirmed != (Pos{}) && !from.Before(confirmed) // nothing after from was ever confirmed
	wanted := Pos{}
	if len(all) > 0 {
		wanted.Segment = all[len(all)-1].number
	} else if from.Offset > 0 {
		wanted.Segment = from.Segment
	}
	if wanted.Segment < confirmed.Segment && !behind {
		wanted.Segment = confirmed.Segment
	}
	for wanted.Segment >= max(from.Segment, 1) {
		byNumber := func(s *loaded, n uint64) int { return cmp.Compare(s.number, n) }
		i, is := slices.BinarySearchFunc(all, wanted.Segment, byNumber)
		if !is {
			begun := wanted.Segment > from.Segment || from.Offset > 0 || wanted.Segment <= confirmed.Segment
			freed := i == 0 && len(all) > 0 && j.opts.Adopt // its database knew that
			if begun && !behind && !freed {
				found.Missing = append(found.Missing, wanted.Segment)
			}
			if i == 0 {
				break
			}
			wanted = Pos{Segment: all[i-1].number} // what is left is better than nothing
			continue
		}
		s := all[i]
		if wanted.Offset > 0 {
			s.end, s.least = min(s.end, wanted.Offset), wanted.Offset
		} else if s.number == confirmed.Segment {
			s.least = confirmed.Offset
		}
		needed = append(needed, s)
		switch {
		case !s.guessed:
			wanted = s.after
		case i > 0:
			wanted = Pos{Segment: all[i-1].number}
		default:
			wanted = Pos{}
		}
		if wanted.Segment >= s.number {
			break
		}
	}
	slices.Reverse(needed)
	slices.Sort(found.Missing)
	return needed
}

// scan calls each with the records of a segment and finds where they end. Where
// something is not a record it looks for the next one.
func (j *Journal) scan(s *loaded, from int64, text []byte, found *Found, each func(Entry, []byte) error) error {
	d := damage{least: s.least, segment: s.number}
	end := int64(0)
	for at := int64(0); at+recordHeader <= int64(len(text)); {
		if binary.LittleEndian.Uint64(text[at:]) != s.number {
			at += 8
			continue
		}
		e, head, sum, ok := readRecord(text[at:], s.number)
		if !ok || recordHeader+int64(e.Head)+int64(e.Body) > int64(len(text))-at {
			at += 8
			continue
		}
		body := text[at+recordHeader+int64(e.Head):][:e.Body]
		if crc32.Checksum(body, castagnoli) != sum {
			d.bodies++
			at += e.Bytes()
			continue
		}
		d.gap(from+end, from+at, true)
		e.Offset = from + at
		at += e.Bytes()
		end = at
		if err := each(e, head); err != nil {
			return err
		}
	}
	s.end = from + end
	switch {
	case s.end < s.least:
		d.gap(s.end, s.least, false)
	case s.least > 0: // no Append has confirmed the rest
	case s.has < s.size:
		d.gap(s.end, max(s.size, s.end+8), false)
	case end+8 <= int64(len(text)) && binary.LittleEndian.Uint64(text[end:]) == s.number:
		d.gap(s.end, s.end+8, false)
	}
	return j.tell(s, d, found)
}

// damage is the damage that scan has found in one segment.
type damage struct {
	segment uint64
	least   int64
	bodies  int // records in the gap under way of which the head is whole
	certain Damage
	torn    Damage
}

// gap notes that there is no record from a place to another, but one after it, or not.
func (d *damage) gap(from, to int64, followed bool) {
	if from < to {
		into := &d.torn
		if from < d.least || d.least == 0 && followed {
			into = &d.certain
		}
		into.Bytes += to - from
		into.Records += max(1, d.bodies)
	}
	d.bodies = 0
}

// tell adds the damage of a segment to found, and keeps its file.
func (j *Journal) tell(s *loaded, d damage, found *Found) error {
	if s.guessed {
		found.Damaged = append(found.Damaged, Damage{Segment: s.number, Bytes: headerBytes})
	}
	d.torn.Torn = true
	for _, one := range []Damage{d.certain, d.torn} {
		if one.Records == 0 {
			continue
		}
		kept, err := j.keep(s.segment)
		if err != nil {
			return fmt.Errorf("keep the damaged %s: %w", s.path, err)
		}
		one.Segment, one.Kept = s.number, kept
		found.Damaged = append(found.Damaged, one)
	}
	return nil
}

// ReadFile calls each with every record of a file that a journal has set aside or kept; head and body
// are valid during the call. It returns how many bytes between them are no record. files nil = those of the
// operating system.
func ReadFile(files Files, path string, each func(e Entry, head, body []byte) error) (damaged int64, err error) {
	if files == nil {
		files = osFiles{}
	}
	s, err := loadFile(files, path)
	if err != nil || s == nil {
		return 0, err
	}
	defer s.file.Close()
	text, err := s.text(segmentHeader)
	if err != nil {
		return 0, err
	}
	var found Found
	alone := &Journal{files: readOnly{files}}
	err = alone.scan(s, segmentHeader, text, &found, func(e Entry, head []byte) error {
		return each(e, head, text[e.Offset-segmentHeader+recordHeader+int64(e.Head):][:e.Body])
	})
	for _, d := range found.Damaged {
		damaged += d.Bytes
	}
	return damaged, err
}

// readOnly are files that have second names already.
type readOnly struct{ Files }

func (readOnly) List(string) ([]string, error) { return nil, nil }
func (readOnly) Link(string, string) error     { return nil }

// Head reads the head of a record. Like Read it fails with ErrDamaged, also when the record was
// freed, and with the error of the disk when that does not give it.
func (j *Journal) Head(e Entry) ([]byte, error) {
	head, _, err := j.read(e, false)
	return head, err
}

// Read reads a record.
func (j *Journal) Read(e Entry) (head, body []byte, err error) { return j.read(e, true) }

func (j *Journal) read(e Entry, whole bool) (head, body []byte, err error) {
	file := j.fileOf(e.Segment)
	if file == nil {
		return nil, nil, fmt.Errorf("%w: segment %d is not there", ErrDamaged, e.Segment)
	}
	size := recordHeader + int64(e.Head)
	if whole {
		size += int64(e.Body)
	}
	text := make([]byte, size)
	if err := readAll(file, text, e.Offset); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil, nil, fmt.Errorf("read segment %d at %d: %w", e.Segment, e.Offset, err)
	}
	is, head, sum, ok := readRecord(text, e.Segment)
	is.Offset = e.Offset
	body = text[recordHeader+int64(e.Head):]
	if !ok || is != e || whole && crc32.Checksum(body, castagnoli) != sum {
		return nil, nil, fmt.Errorf("%w: segment %d at %d", ErrDamaged, e.Segment, e.Offset)
	}
	return head, body, nil
}

// fileOf returns the file of a segment; nil = it was freed.
func (j *Journal) fileOf(number uint64) File {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		if s.number == number {
			return s.file
		}
	}
	return nil
}
