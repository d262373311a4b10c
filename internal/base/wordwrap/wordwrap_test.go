package wordwrap

import (
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"", ""},
		{"aaa bbb ccc", "aaa bbb ccc"},
		{"aaa bbb cccc", "aaa bbb\n  cccc"},
		{"aaa bbb  cccc  d", "aaa bbb\n  cccc  d"},
		{"aaaaaaaaaaaaaaa b", "aaaaaaaaaaaaaaa\n  b"},
		{"aaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaa"},
		{"    aaaaaaaaaaaaaaa", "    aaaaaaaaaaaaaaa"},
		{"    aaa bbb ccc", "    aaa bbb\n  ccc"},
		{"            a", "            a"},
		{"aa `b c d e` f", "aa\n  `b c d e`\n  f"},
		{"`a b c d e f` g", "`a b c d e f`\n  g"},
		{"a ` b c d e f", "a ` b c d e\n  f"},
		{"äää ööö ííí óóó", "äää ööö ííí\n  óóó"},
	} {
		if got := Line(tt.line, 2, 11, utf8.RuneCountInString); got != tt.want {
			t.Errorf("%q: got\n%s\nwant\n%s", tt.line, got, tt.want)
		}
	}
}
