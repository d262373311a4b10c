package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ line, id, body, err string }{
		{``, "", "", ""},
		{" \t\r", "", "", ""},
		{`{"event_id":"a"}`, "a", "", ""},
		{` {"event_id" : "a" } ` + "\r", "a", "", ""},
		{`{"x":1,"event_id":"a","y":{"event_id":"b"}}`, "a", `{"x":1,"y":{"event_id":"b"}}`, ""},
		{`{"event_id":"a","event_id":"b"}`, "b", "", ""},
		{`{"event_id":"\u0061\""}`, `a"`, "", ""},
		{`hello`, "", "", "print it to stderr"},
		{`[1]`, "", "", "print it to stderr"},
		{`{"event_id":"a"`, "", "", "is not JSON"},
		{`{"event_id":"a"} x`, "", "", "is not JSON"},
		{`{}`, "", "", "without an event_id"},
		{`{"event_id":null}`, "", "", "without an event_id"},
	} {
		id, body, err := parse([]byte(c.line))
		if string(id) != c.id || string(body) != c.body || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got id %q body %s err %v, want %q, %s, %q", c.line, id, body, err, c.id, c.body, c.err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"event_id":"a","decision":"block"}`))
	f.Add([]byte(`{"event_id":`))
	f.Fuzz(func(t *testing.T, line []byte) {
		id, body, err := parse(line)
		if err != nil || id == nil {
			return
		}
		if want, ok := rawjson.GetString(bytes.TrimSpace(line), "event_id"); !ok || string(id) != want {
			t.Fatalf("%q: got id %q, want %q", line, id, want)
		}
		if body != nil && (!json.Valid(body) || rawjson.Get(body, "event_id") != nil) {
			t.Fatalf("%q: got body %q", line, body)
		}
	})
}

// However the output is cut into pieces, the lines are the same.
func TestLinesOfAnyPieces(t *testing.T) {
	text := "one\n\n" + strings.Repeat("x", 3*firstBuffer) + "\ntwo\nrest"
	want := strings.Split(text, "\n")
	want = want[:len(want)-1]
	for _, piece := range []int{1, 7, 4096, firstBuffer, 1 << 20} {
		in := strings.NewReader(text)
		read := func(b []byte) (int, error) { return in.Read(b[:min(len(b), piece)]) }
		var l lines
		var got []string
		for {
			if err := l.fill(1<<20, read); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			for line, ok := l.next(); ok; line, ok = l.next() {
				got = append(got, string(line))
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("pieces of %d: got %d lines, want %d", piece, len(got), len(want))
		}
	}
}

func TestLinesTooLong(t *testing.T) {
	var l lines
	endless := func(b []byte) (int, error) {
		for i := range b {
			b[i] = 'x'
		}
		return len(b), nil
	}
	for {
		if err := l.fill(1<<20, endless); err != nil {
			if !errors.Is(err, errTooLong) {
				t.Errorf("got %v", err)
			}
			break
		}
		l.next()
	}
	if len(l.buf) > 4<<20 {
		t.Errorf("%d bytes are kept of an endless line", len(l.buf))
	}
}
