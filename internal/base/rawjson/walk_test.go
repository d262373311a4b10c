package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// walk steps over src and returns the top-level members of an object.
func walk(src []byte) (keys []string, values [][]byte, ok bool) {
	return membersOf(Walk(src))
}

func membersOf(w Walker) (keys []string, values [][]byte, ok bool) {
	w.Blanks()
	if w.At() != '{' {
		w.Skip()
		return nil, nil, w.End()
	}
	for w.Enter(); w.Member(); {
		keys = append(keys, string(w.Name()))
		values = append(values, w.Value())
	}
	return keys, values, w.End()
}

func inPieces(src []byte, piece int, pause func()) Walker {
	w := Walk(src)
	w.InPieces(piece, pause)
	return w
}

// The Walker takes exactly the texts that encoding/json takes, and finds the same
// members.
func FuzzWalk(f *testing.F) {
	for _, seed := range []string{
		`{"event":"agent:end","data":{"agent_id":"a","status":"ok"},"wait":false,"id":"optional, yours","timeout_ms":4000}`,
		` {"a" : [1, -0.5e+3, "x\u00e9\n", {"b":null}] , "c":true,"":false} `,
		`{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1 "b":2}`,
		`01`, `-`, `1.`, `.5`, `1e`, `-0`, `1E-9`, `"\x"`, `"\u12g4"`, "\"a\x1fb\"", "\"\x7f\"", `"`, `"\`, `"\u`, `nul`, `truex`, `[`, `{`, `]`, `}`, ``, ` `, "\v1",
		`{"` + strings.Repeat("x", 40) + `\\":"` + strings.Repeat("y", 15) + `\""}`, "\"\xff\xfe\"", "{\"a\":\"\x80\x9f\"}", `[[[[]]]]`, `{"a":{"a":{"a":{}}}}`, `{"a":1}{`, `[1]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		keys, values, ok := walk(src)
		if want := json.Valid(src); ok != want {
			t.Fatalf("%q: got %v, encoding/json says %v", src, ok, want)
		}
		if ok && utf8.Valid(src) && len(keys) > 0 { // of what is no UTF-8, encoding/json returns something else
			compareMembers(t, src, keys, values)
		}
		for _, piece := range []int{1, 3, 16, len(src) + 1} {
			again, parts, good := membersOf(inPieces(src, piece, func() {}))
			if good != ok || fmt.Sprintf("%q %q", again, parts) != fmt.Sprintf("%q %q", keys, values) {
				t.Fatalf("%q in pieces of %d: %q %q %v, whole %q %q %v", src, piece, again, parts, good, keys, values, ok)
			}
		}
	})
}

// A walker pauses about once a piece, in one long string and between many short values.
func TestInPiecesPauses(t *testing.T) {
	const piece = 100
	for _, src := range []string{
		`"` + strings.Repeat("x", 10_000) + `"`,
		`"` + strings.Repeat(`\n`, 5_000) + `"`,
		`[` + strings.Repeat("12345,", 2_000) + `0]`,
		`{` + strings.Repeat(`"key":"text",`, 1_000) + `"a":{}}`,
	} {
		paused := 0
		_, _, ok := membersOf(inPieces([]byte(src), piece, func() { paused++ }))
		if most := len(src) / piece; !ok || paused < most*9/10 || paused > most {
			t.Errorf("%.20s…: valid %v, %d pauses in %d bytes", src, ok, paused, len(src))
		}
	}
}

// Element yields the elements that encoding/json finds in an array, also in an array
// within another.
func TestElement(t *testing.T) {
	for _, src := range []string{
		`[]`, ` [ ] `, `[1]`, `["a", {"b":[2,3]}, [], [4,[5]] ,null]`, `[1,]`, `[,1]`, `[1 2]`, `[`, `[1`, `[1,`, `{}`, `1`, ``, `[]]`, `[{}`, "[\n1]",
	} {
		w := Walk([]byte(src))
		w.Blanks()
		var got []json.RawMessage
		for w.EnterList(); w.Element(); {
			got = append(got, w.Value())
		}
		var want []json.RawMessage
		err := json.Unmarshal([]byte(src), &want)
		if w.End() != (err == nil) {
			t.Errorf("%q: End is %v, encoding/json says %v", src, w.End(), err)
		}
		if err == nil && fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%q: %q, encoding/json has %q", src, got, want)
		}
	}
}

// compareMembers reads the object once more with encoding/json's tokens.
func compareMembers(t *testing.T, src []byte, keys []string, values [][]byte) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.Token() // the brace
	for i := range keys {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			t.Fatalf("%q: member %d: %v", src, i, err)
		}
		if key != keys[i] || !bytes.Equal(value, values[i]) {
			t.Fatalf("%q: member %d is %q: %q, encoding/json has %q: %q", src, i, keys[i], values[i], key, value)
		}
	}
	if dec.More() {
		t.Fatalf("%q: only %d members were found", src, len(keys))
	}
}

// Nesting goes as deep as encoding/json takes it, and no deeper.
func TestWalkDepth(t *testing.T) {
	for _, pair := range []string{"[]", "{}"} {
		for _, depth := range []int{maxDepth - 1, maxDepth, maxDepth + 1} {
			open, end := string(pair[0]), string(pair[1])
			if pair == "{}" {
				open = `{"a":`
			}
			src := []byte(strings.Repeat(open, depth-1) + pair + strings.Repeat(end, depth-1))
			if _, _, ok := walk(src); ok != json.Valid(src) {
				t.Errorf("%d times %s: got %v, encoding/json says %v", depth, pair, ok, !ok)
			}
		}
	}
}

// Every byte is found at every place of the bytes that are looked at together.
func TestEndOfPlain(t *testing.T) {
	for c := range 256 {
		ends := c < ' ' || c == '"' || c == '\\'
		for length := range 70 {
			for at := range length {
				src := bytes.Repeat([]byte{0xc3}, length)
				src[at] = byte(c)
				want := length
				if ends {
					want = at
				}
				if got := endOfPlain(src, 0); got != want {
					t.Fatalf("byte %#x at %d of %d: got %d, want %d", c, at, length, got, want)
				}
			}
		}
	}
}
