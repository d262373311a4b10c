package journal

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Found is what Open has found of an earlier journal, beside its records.
type Found struct {
	Missing []uint64 // segments that should be there
	Damaged int64    // bytes that cannot be read although records follow
	Aside   []string // files of another owner: where they are now
}

// Open opens the journal of o.Dir, or begins one, and calls each with every record
// from a place on, in order; head is valid during the call. from is what Next has
// returned, or a place up to which nothing is needed any more. An error of each ends it.
func Open(o Options, from Pos, each func(e Entry, head []byte) error) (j *Journal, found Found, err error) {
	o.Bytes = cmp.Or(o.Bytes, SegmentBytes)
	j = &Journal{opts: o, files: o.Files, size: o.Bytes / firstPart, last: from.Segment}
	if from.Offset == 0 && from.Segment > 0 { // that segment was not begun
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
	needed := chain(all, from, &found)
	for _, s := range all {
		if !slices.Contains(needed, s) {
			s.discard(j.files)
		}
	}
	for _, s := range needed {
		j.segments = append(j.segments, s.segment)
	}
	for _, s := range needed {
		begin := int64(segmentHeader)
		if s.number == from.Segment {
			begin = max(begin, from.Offset)
		}
		if err = s.scan(begin, &found, each); err != nil {
			return j, found, err
		}
		j.good = Pos{s.number, s.end}
	}
	return j, found, nil
}

// loaded is a segment that was found, with where the records before it end.
type loaded struct {
	*segment
	after Pos
}

// load opens the files of the folder, in the order of their numbers. What has no header
// was not in use; what belongs to another owner is set aside.
func (j *Journal) load(found *Found) (all []loaded, err error) {
	paths, err := j.files.List(j.opts.Dir)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		name, is := strings.CutSuffix(filepath.Base(path), suffix)
		slot, err := strconv.ParseUint(name, 10, 63)
		if !is || err != nil {
			continue // not ours
		}
		j.slots = max(j.slots, slot)
		s, owner, err := j.loadFile(path)
		switch {
		case err != nil:
			return nil, err
		case s.segment == nil:
			j.files.Remove(path)
		case owner != j.opts.Owner && (owner != j.opts.Former || owner == "") && !j.opts.Adopt:
			s.file.Close()
			aside := path + ".other-" + strconv.FormatUint(s.number, 10)
			if err := j.files.Rename(path, aside); err != nil {
				return nil, err
			}
			found.Aside = append(found.Aside, aside)
		default:
			all = append(all, s)
			j.last = max(j.last, s.number)
		}
	}
	slices.SortFunc(all, func(a, b loaded) int { return cmp.Compare(a.number, b.number) })
	return all, nil
}

// loadFile opens a file; without a segment when it is none.
func (j *Journal) loadFile(path string) (l loaded, owner string, err error) {
	file, err := j.files.Open(path)
	if err != nil {
		return l, "", err
	}
	header := make([]byte, headerBytes)
	n, _ := file.ReadAt(header, 0)
	s, owner, after, ok := readHeader(header[:n])
	if !ok {
		return l, "", file.Close()
	}
	s.path, s.file, s.end, s.sealed = path, file, s.size, true
	return loaded{&s, after}, owner, nil
}

// chain returns the segments from a place on that belong together: each says where the
// one before it ends.
func chain(all []loaded, from Pos, found *Found) (needed []loaded) {
	if len(all) == 0 {
		if from.Offset > 0 {
			found.Missing = []uint64{from.Segment}
		}
		return nil
	}
	wanted := Pos{Segment: all[len(all)-1].number}
	for wanted.Segment >= max(from.Segment, 1) {
		byNumber := func(s loaded, n uint64) int { return cmp.Compare(s.number, n) }
		i, is := slices.BinarySearchFunc(all, wanted.Segment, byNumber)
		if !is {
			if wanted.Segment > from.Segment || from.Offset > 0 {
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
			s.end = min(s.end, wanted.Offset)
		}
		needed = append(needed, s)
		if s.after.Segment >= s.number {
			break
		}
		wanted = s.after
	}
	slices.Reverse(needed)
	slices.Sort(found.Missing)
	return needed
}

// scan calls each with the records of a segment and finds where they end. Where
// something is not a record it looks for the next one.
func (s *segment) scan(from int64, found *Found, each func(Entry, []byte) error) error {
	text := make([]byte, max(s.end-from, 0))
	n, _ := s.file.ReadAt(text, from) // what cannot be read has no records
	text = text[:n]
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
			at += e.Bytes()
			continue
		}
		found.Damaged += at - end
		e.Offset = from + at
		at += e.Bytes()
		end = at
		if err := each(e, head); err != nil {
			return err
		}
	}
	s.end = from + end
	return nil
}

// Head reads the head of a record. Like Read it fails with ErrDamaged, also when the record was
// freed.
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
	if n, err := file.ReadAt(text, e.Offset); int64(n) < size {
		return nil, nil, fmt.Errorf("%w: segment %d at %d: %w", ErrDamaged, e.Segment, e.Offset, err)
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
