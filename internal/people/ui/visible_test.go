package ui_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/ui"
)

// hiddenClass is the class of a regular expression with all that escape.Hidden reports.
func hiddenClass() string {
	var b strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !escape.Hidden(r) {
			continue
		}
		end := r
		for escape.Hidden(end + 1) {
			end++
		}
		fmt.Fprintf(&b, `\u{%x}`, r)
		if end > r {
			fmt.Fprintf(&b, `-\u{%x}`, end)
		}
		r = end
	}
	return b.String()
}

// The page's class of hidden characters is the terminal's class.
func TestThePageHasTheTableOfHiddenCharacters(t *testing.T) {
	text, err := os.ReadFile("assets/visible.js")
	hooktest.Must(t, err)
	if want := "const hidden = /[" + hiddenClass() + "]/u;\n"; !strings.Contains(string(text), want) {
		t.Errorf("assets/visible.js does not have the line\n%s", want)
	}
}

// In a real browser each character, alone and within words, is shown as the terminal
// shows it, and so is output with colours.
func TestThePageMakesTextVisible(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	s := open(t, quickHome(t), ui.Options{}, "")
	same := func(texts []string, js_, by string, want func(string) string) {
		t.Helper()
		given, err := json.Marshal(texts)
		hooktest.Must(t, err)
		got := js[[]string](s, fmt.Sprintf(`import("./visible.js").then((m) => %s.map(m.%s))`, given, js_))
		bad := 0
		for i, text := range texts {
			if got[i] != want(text) && bad < 10 {
				t.Errorf("%s of %+q: the page shows %+q, %s %+q", js_, text, got[i], by, want(text))
				bad++
			}
		}
	}
	visible := func(text string) string { return escape.Text(text, escape.Newlines) }
	var texts []string
	for r := rune(0); r <= 0xe1000; r++ {
		if utf8.ValidRune(r) && (escape.Hidden(r) || unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)) &&
			!unicode.In(r, unicode.Han, unicode.Hangul) {
			texts = append(texts, string(r)+" a"+string(r)+"b я"+string(r))
		}
		if len(texts) == 20_000 {
			same(texts, "visible", "the terminal", visible)
			texts = nil
		}
	}
	texts = append(texts, "git push \u202eniam\u202c https://gіthub.com", `\nПривет`, `\\uПривет`, `C:\дом\u0041я`, "a漢字かな", "приветαβγδεζ",
		"漢α", "\\", "", "a\tb\nc", strings.Repeat("aб", 1000), "👩\u200d👧 ❤\ufe0f 5 µs")
	same(texts, "visible", "the terminal", visible)
	same([]string{"\x1b[31m╵\x1b[0m\n", "\u009b31mred", "\x1b]0;a title\aafter", "\x1b]8;;http://x\x1b\\link", "\x1b(Bafter \x1b7x\x1b=y",
		"10 %\r50 %\r100 %\n", "done\r\nnext\r", "\x1b[", "\x1b", "a\x1b[2K\x1b[1Gb\x1b[?25h", "\x1b]never ended\nthe next line\n"},
		"withoutColours", "the terminal", escape.WithoutColours)
}
