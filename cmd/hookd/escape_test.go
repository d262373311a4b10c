package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	tests := []struct {
		name, in, want string
		keep           keep
	}{
		{"plain", "héllo → 世界 👩‍👩‍👧", "héllo → 世界 👩‍👩‍👧", keepNothing},
		{"colour", "\x1b[31mred", `\u001b[31mred`, keepNothing},
		{"c1", "a\u009bb", `a\u009bb`, keepNothing},
		{"del", "a\x7fb", `a\u007fb`, keepNothing},
		{"bidi", "a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`, keepNothing},
		{"unseen", "a\u200bb\U000e0061c\ufeff", `a\u200bb\udb40\udc61c\ufeff`, keepNothing},
		{"tabs", "a\tb\n", "a\tb" + `\u000a`, keepTabs},
		{"line separator", "a\u2028b", `a\u2028b`, keepNothing},
		{"invalid", "a\x9bb", "a\ufffdb", keepNothing},
		{"one line", "a\nb\tc\r", `a\u000ab\u0009c\u000d`, keepNothing},
		{"lines", "a\nb\tc\r", "a\nb\tc" + `\u000d`, keepNewlines},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := escape(tt.in, tt.keep); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Nothing harmful is left, and JSON means the same as before.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b]0;title\a", "\u202e\u009b", "\xff\xfe", `\u001b`, "\u2029\n\t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := escape(s, keepNothing)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || strings.ContainsFunc(got, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unseen, r) }) {
			t.Errorf("escape(%q) = %q", s, got)
		}
		if got != escape(got, keepNothing) {
			t.Errorf("escaping %q twice changes it", s)
		}
		encoded, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(escape(string(encoded), keepNothing)), &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && back != want {
			t.Errorf("got %q, want %q", back, want)
		}
	})
}
