package escape

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Quoted text arrives in a shell as it is, and shows nothing else on the way.
func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"/plain/path-1.0":  "/plain/path-1.0",
		"":                 "''",
		"-rf":              "'-rf'",
		"/a b/$(id)":       "'/a b/$(id)'",
		"it's":             `'it'\''s'`,
		"é 世":              "'é 世'",
		"a\n'b\\":          `$'a\n\'b\\'`,
		"\x1b[31m\u202e":   `$'\033[31m\342\200\256'`,
		"bad\xffbyte":      `$'bad\377byte'`,
		"zero\u200bwidth":  `$'zero\342\200\213width'`,
		"tag\U000e0061end": `$'tag\363\240\201\241end'`,
	} {
		got := Quote(text)
		if got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
		bash, err := exec.LookPath("bash")
		if err != nil {
			continue
		}
		out, err := exec.Command(bash, "-c", "printf %s "+got).Output()
		if err != nil || string(out) != text {
			t.Errorf("a shell reads %s as %q, %v; want %q", got, out, err, text)
		}
	}
}

// FuzzQuote: pasted text is that very text to a shell, and no part is hidden on a
// terminal.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "-x", "a b", "a'b", "a\nb", "\x1b[31m", "\u202e", "\xff1", "\\", "$x", "\x7f7", "é\u200b'", "!a", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted := Quote(text)
		if strings.ContainsFunc(quoted, func(r rune) bool { return r == unicode.ReplacementChar && !strings.ContainsRune(text, r) || unshown(r) }) {
			t.Fatalf("%q is shown as %q", text, quoted)
		}
		if strings.Contains(text, "\x00") {
			return // no argument has it
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader("x "+quoted), "")
		if err != nil || len(file.Stmts) != 1 {
			t.Fatalf("%q is pasted as %s: %v", text, quoted, err)
		}
		got, err := expand.Fields(nil, file.Stmts[0].Cmd.(*syntax.CallExpr).Args...)
		if err != nil || !reflect.DeepEqual(got, []string{"x", text}) {
			t.Fatalf("%q is pasted as %s and arrives as %q, %v", text, quoted, got, err)
		}
	})
}
