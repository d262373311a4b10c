package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A segment begins with a header, which stands in one sector of the disk:
//
//	magic 8, number 8, size 8, after 8+8, length of owner 2, owner, zeros, CRC 4
//
// after is where the records end that come before the segment. Records after that place, in
// that segment and in the segments between, are void.
const (
	magic         = "hookdjl1"
	segmentHeader = 4096
	headerBytes   = 256
	maxOwner      = 128
	suffix        = ".seg"
)

// A record begins with a header, and ends at a multiple of 8:
//
//	segment 8, number 8, length of head 4, of body 4, CRC of body 4, CRC of all this and head 4
//
// The number of the segment tells the record from older contents of the file.
const recordHeader = 32

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func aligned(n int64) int64 { return (n + 7) &^ 7 }

// segment is one file.
type segment struct {
	path   string
	file   File
	size   int64
	number uint64
	end    int64 // of its records
	sealed bool  // it is not written to again: a write has failed, or an earlier process made it
}

// zeroBytes are written at once to a new file. Linux keeps the data of one write as one unit. Each
// later write to a part dirties the whole unit.
const zeroBytes = 16 << 10

// pieceBytes are synced at once in a file that is made beside appends: those wait for the disk
// behind it.
const pieceBytes = 256 << 10

// createSegment makes a file of size bytes, which with sync outlives a loss of power.
func createSegment(files Files, path string, size int64, sync bool) (*segment, error) {
	file, err := files.Create(path)
	if err != nil {
		return nil, err
	}
	s := &segment{path: path, file: file, size: size}
	zeros := make([]byte, min(size, zeroBytes))
	for at := int64(0); at < size && err == nil; at += int64(len(zeros)) {
		_, err = file.WriteAt(zeros[:min(size-at, int64(len(zeros)))], at)
		if end := at + int64(len(zeros)); err == nil && sync && (end%pieceBytes == 0 || end >= size) {
			err = file.Sync()
		}
	}
	if err != nil {
		s.discard(files)
		return nil, err
	}
	return s, nil
}

// discard closes and removes the file. Where that fails it is found, and not needed, by
// the next Open.
func (s *segment) discard(files Files) {
	s.file.Close()
	files.Remove(s.path)
}

func (s *segment) present() error {
	if size, err := s.file.SizeAt(s.path); err != nil || size < s.size {
		return fmt.Errorf("%w: %s", ErrGone, s.path)
	}
	return nil
}

// header makes the header of a segment.
func (s *segment) header(owner string, after Pos) []byte {
	h := make([]byte, 0, headerBytes)
	h = append(h, magic...)
	h = binary.LittleEndian.AppendUint64(h, s.number)
	h = binary.LittleEndian.AppendUint64(h, uint64(s.size))
	h = binary.LittleEndian.AppendUint64(h, after.Segment)
	h = binary.LittleEndian.AppendUint64(h, uint64(after.Offset))
	h = binary.LittleEndian.AppendUint16(h, uint16(len(owner)))
	h = append(h, owner...)
	h = h[:headerBytes-4]
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// readHeader reads a header. It fails with ErrNewer for that of a later format, and with errHeader.
func readHeader(h []byte) (s segment, owner string, after Pos, err error) {
	le := binary.LittleEndian
	const fixed = len(magic) + 4*8 + 2
	if len(h) < headerBytes || le.Uint32(h[headerBytes-4:]) != crc32.Checksum(h[:headerBytes-4], castagnoli) {
		return s, "", after, errHeader
	}
	if string(h[:len(magic)]) != magic {
		if seemsNewer(h) {
			return s, "", after, ErrNewer
		}
		return s, "", after, errHeader
	}
	s.number, s.size = le.Uint64(h[8:]), int64(le.Uint64(h[16:]))
	after = Pos{le.Uint64(h[24:]), int64(le.Uint64(h[32:]))}
	n := int(le.Uint16(h[40:]))
	if n > maxOwner || s.number == 0 {
		return s, "", after, errHeader
	}
	return s, string(h[fixed : fixed+n]), after, nil
}

// seemsNewer reports whether a file begins as one of a later format would.
func seemsNewer(text []byte) bool {
	const version = len(magic) - 1
	return len(text) > version && string(text[:version]) == magic[:version] &&
		text[version] > magic[version] && text[version] <= '9'
}

// appendRecord adds a record to dst, its body only with body.
func appendRecord(dst []byte, segment uint64, r Item, body bool) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, segment)
	dst = binary.LittleEndian.AppendUint64(dst, r.Number)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.Head)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.Body)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(r.Body, castagnoli))
	sum := crc32.Update(crc32.Checksum(dst[at:], castagnoli), castagnoli, r.Head)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	dst = append(dst, r.Head...)
	if !body {
		return dst
	}
	dst = append(dst, r.Body...)
	for len(dst)%8 != at%8 {
		dst = append(dst, 0)
	}
	return dst
}

// readRecord reads the header and the head of the record at the beginning of b; false
// when there is none of that segment. rest is all that b has beside.
func readRecord(b []byte, segment uint64) (e Entry, head []byte, bodySum uint32, ok bool) {
	le := binary.LittleEndian
	if len(b) < recordHeader || le.Uint64(b) != segment {
		return e, nil, 0, false
	}
	e = Entry{Pos: Pos{Segment: segment}, Number: le.Uint64(b[8:]), Head: le.Uint32(b[16:]), Body: le.Uint32(b[20:])}
	if int64(e.Head) > int64(len(b)-recordHeader) {
		return e, nil, 0, false
	}
	head = b[recordHeader : recordHeader+int(e.Head)]
	sum := crc32.Update(crc32.Checksum(b[:recordHeader-4], castagnoli), castagnoli, head)
	return e, head, le.Uint32(b[24:]), sum == le.Uint32(b[28:])
}
