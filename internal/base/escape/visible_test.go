package escape

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// The table has the characters that its properties of Unicode give, character for
// character.
func TestHiddenTable(t *testing.T) {
	hidden := func(r rune) bool {
		switch {
		case r == ' ' || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			return false
		case r == 0x2800, 0xe0000 <= r && r <= 0xe0fff: // the braille blank; tags, and what is reserved for them
			return true
		}
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if Hidden(r) != hidden(r) {
			t.Errorf("%U: Hidden says %v", r, Hidden(r))
		}
	}
}

func TestColoursAreTakenOff(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"plain\ntext\n":                     "plain\ntext\n",
		"\x1b[31m╵\x1b[0m\n":                "╵\n",
		"\x1b[1;38;5;196mError:\x1b[m no":   "Error: no",
		"\u009b31mred":                      "red",
		"\x1b]0;a title\aafter":             "after",
		"\x1b]8;;http://x\x1b\\link":        "link",
		"\x1bPq#0;2\x1b\\after":             "after",
		"\x1b(Bafter \x1b7x\x1b=y":          "after xy",
		"10 %\r50 %\r100 %\n":               "100 %\n",
		"done\r\nnext\r":                    "done\nnext",
		"\x1b[":                             "",
		"\x1b":                              "",
		"a\x1b[2K\x1b[1Gb\x1b[?25h":         "ab",
		"\x1b]never ended\nthe next line\n": "\nthe next line\n",
	} {
		if got := WithoutColours(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A word of a hundred thousand letters takes time in proportion to its length.
func TestLongWords(t *testing.T) {
	s := strings.Repeat("aб", 50_000)
	if got := len(Odd(s)); got != 50_000 {
		t.Errorf("%d odd letters", got)
	}
	if got := Text(s, Nothing); got != strings.Repeat(`a`+`\u0431`, 50_000) {
		t.Errorf("%.40s", got)
	}
}

func ExampleText() {
	fmt.Println(Text("git push \u202eniam\u202c https://gіthub.com", Nothing))
	// Output: git push \u202eniam\u202c https://g\u0456thub.com
}
