package worker

import (
	"bytes"
	"io"
	"testing"
)

// FuzzLines: however the output is cut into pieces, its lines are the same; one
// that is too long ends it, and nothing before that is lost.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\n\ntwo\nrest"), 1, 100)
	f.Add(bytes.Repeat([]byte("x"), 3*firstBuffer), 7, firstBuffer)
	f.Add([]byte("\n\n\r\n"), 2, 1)
	f.Add(append(bytes.Repeat([]byte("y"), firstBuffer), "\nz\n"...), 4096, firstBuffer)
	f.Fuzz(func(t *testing.T, text []byte, piece, limit int) {
		piece, limit = 1+int(uint(piece)%8192), 1+int(uint(limit)%(4*firstBuffer))
		if len(text) > 4<<10 {
			piece += 1 << 10 // else it takes too long
		}
		in := bytes.NewReader(text)
		read := func(b []byte) (int, error) { return in.Read(b[:min(len(b), piece)]) }
		var l lines
		var got [][]byte
		var err error
		for err == nil {
			if err = l.fill(limit, read); err != nil {
				break
			}
			for line, ok := l.next(); ok; line, ok = l.next() {
				got = append(got, bytes.Clone(line))
			}
		}
		want := bytes.Split(text, []byte("\n"))
		want = want[:len(want)-1]
		if len(got) > len(want) || err == io.EOF && len(got) != len(want) {
			t.Fatalf("%d lines of %d, %v", len(got), len(want), err)
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("line %d is %q, want %q", i, got[i], want[i])
			}
		}
		if err != io.EOF && !longer(text, limit) {
			t.Fatalf("%v, and no line is longer than %d", err, limit)
		}
	})
}

// longer reports whether a line, the unfinished last one too, reaches limit.
func longer(text []byte, limit int) bool {
	for _, line := range bytes.Split(text, []byte("\n")) {
		if len(line) >= limit {
			return true
		}
	}
	return false
}
