package escape

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	tests := []struct {
		name, in, want string
		keep           Keep
	}{
		{"plain", "héllo → 世界 Привет 5 µs Goで 10日 naïve", "héllo → 世界 Привет 5 µs Goで 10日 naïve", Nothing},
		{"joiners", "👩\u200d👧 ❤\ufe0f", `👩\u200d👧 ❤\ufe0f`, Nothing},
		{"blank letters", "a\u3164b\u115fc\uffa0d\u2800e\u00a0f\u3000", `a\u3164b\u115fc\uffa0d\u2800e\u00a0f\u3000`, Nothing},
		{"two alphabets", "gіthub.com ＲＭ раypal", `g\u0456thub.com ＲＭ \u0440\u0430ypal`, Nothing},
		{"styled letters", "𝗋m -ｒf", `\ud835\uddcbm -\uff52f`, Nothing},
		{"no Latin letter", "приветα", `привет\u03b1`, Nothing},
		{"colour", "\x1b[31mred", `\u001b[31mred`, Nothing},
		{"c1", "a\u009bb", `a\u009bb`, Nothing},
		{"del", "a\x7fb", `a\u007fb`, Nothing},
		{"bidi", "a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`, Nothing},
		{"unseen", "a\u200bb\U000e0061c\ufeff", `a\u200bb\udb40\udc61c\ufeff`, Nothing},
		{"tabs", "a\tb\n", "a\tb" + `\u000a`, Tabs},
		{"line separator", "a\u2028b", `a\u2028b`, Nothing},
		{"invalid", "a\x9bb", "a\ufffdb", Nothing},
		{"one line", "a\nb\tc\r", `a\u000ab\u0009c\u000d`, Nothing},
		{"lines", "a\nb\tc\r", "a\nb\tc" + `\u000d`, Newlines},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text(tt.in, tt.keep); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Nothing harmful is left, and JSON means the same as before.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b]0;title\a", "\u202e\u009b", "\xff\xfe", `\u001b`, "\u2029\n\t", "0\x16ҫ0", `\nПривет`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s, Nothing)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, Hidden) || len(Odd(got)) > 0 {
			t.Errorf("Text(%q) = %q", s, got)
		}
		if got != Text(got, Nothing) {
			t.Errorf("escaping %q twice changes it", s)
		}
		encoded, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(Text(string(encoded), Nothing)), &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && back != want {
			t.Errorf("got %q, want %q", back, want)
		}
	})
}

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		most     int
	}{
		{"ls -l", "ls -l", 256},
		{"cat <<E\n\tx\r\nE\r", `cat <<E\n\tx\nE\r`, 256},
		{"\x1b[2J\u202eabc", `\u001b[2J\u202eabc`, 256},
		{"abcdef", "abcdef", 6},
		{"abcdefg", "abc…", 6},
		{"ééééé", "éé…", 8},
		{"\xff\xff", "\ufffd", 6},
	} {
		if got := Line(tt.in, tt.most); got != tt.want || len(got) > tt.most {
			t.Errorf("Line(%q, %d) = %q, want %q", tt.in, tt.most, got, tt.want)
		}
	}
}
