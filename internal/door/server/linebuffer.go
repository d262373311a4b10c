package server

import "bytes"

// lineBuffer has the bytes that were read, and gives them out line by line.
type lineBuffer struct {
	buf   []byte
	start int // of what was not given out yet
	seen  int // no line ends between start and here
	end   int // of what was read
}

// next returns the next line with its newline; false when none is complete. It is good
// until the next call of another method.
func (b *lineBuffer) next() (line []byte, whole bool) {
	i := bytes.IndexByte(b.buf[b.seen:b.end], '\n')
	if i < 0 {
		b.seen = b.end
		return nil, false
	}
	end := b.seen + i + 1
	line = b.buf[b.start:end]
	b.start, b.seen = end, end
	return line, true
}

// take returns all that is left.
func (b *lineBuffer) take() []byte {
	rest := b.buf[b.start:b.end]
	b.start, b.seen, b.end = 0, 0, 0
	return rest
}

// put fills the empty buffer with p, for which it must be large enough.
func (b *lineBuffer) put(p []byte) { b.end = copy(b.buf, p) }

func (b *lineBuffer) empty() bool { return b.start == b.end }

// full reports whether there is room for nothing more.
func (b *lineBuffer) full() bool { return b.end-b.start == len(b.buf) }

// grow gives the buffer size bytes, more than it has.
func (b *lineBuffer) grow(size int) {
	rest := b.take()
	b.buf = make([]byte, size)
	b.put(rest)
	b.seen = b.end
}

// room returns where more can be read to, after which end is to be moved.
func (b *lineBuffer) room() []byte {
	b.put(b.take())
	b.seen = b.end
	return b.buf[b.end:]
}
