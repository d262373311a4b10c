package proc

import "slices"

// How much of each stream an Output has at most.
const (
	HeadBytes = 16 << 10
	TailBytes = 48 << 10
)

// Output is the beginning and the end of a stream. If the whole stream fits, it is
// Head followed by Tail; else the bytes between them are dropped.
type Output struct {
	Head  []byte // the first HeadBytes
	Tail  []byte // the last TailBytes of what follows Head
	Bytes int64  // the length of the whole stream
}

// OutputOf returns the Output of a stream that is complete.
func OutputOf(all []byte) Output {
	var s sink
	s.add(all)
	return s.output()
}

// sink stores the beginning and the end of a stream, and its first limit bytes, in
// bounded memory. It grows only as far as the stream needs.
type sink struct {
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring's oldest byte is
	bytes int64

	limit int // of whole
	whole []byte
}

func (s *sink) add(b []byte) {
	s.bytes += int64(len(b))
	s.addWhole(b[:min(len(b), s.limit-len(s.whole))])
	n := min(len(b), HeadBytes-len(s.head))
	s.head = append(s.head, b[:n]...)
	s.addTail(b[n:])
}

// addWhole grows whole by larger steps than append does: each leaves a copy.
func (s *sink) addWhole(b []byte) {
	if need := len(s.whole) + len(b); need > cap(s.whole) {
		s.whole = append(make([]byte, 0, max(need, min(3*need, s.limit))), s.whole...)
	}
	s.whole = append(s.whole, b...)
}

func (s *sink) addTail(b []byte) {
	if len(b) >= TailBytes {
		s.tail, s.next = append(s.tail[:0], b[len(b)-TailBytes:]...), 0
		return
	}
	n := min(len(b), TailBytes-len(s.tail))
	s.tail = append(s.tail, b[:n]...)
	for b = b[n:]; len(b) > 0; b = b[n:] {
		n = copy(s.tail[s.next:], b)
		s.next = (s.next + n) % TailBytes
	}
}

// output returns the stream so far; later additions do not change it.
func (s *sink) output() Output {
	return Output{
		Head:  slices.Clip(s.head),
		Tail:  slices.Concat(s.tail[s.next:], s.tail[:s.next]),
		Bytes: s.bytes,
	}
}
