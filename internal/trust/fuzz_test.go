package trust

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// FuzzShebang: whatever a script begins with, what it is said to run is an
// absolute path out of its first line, or a program that env finds in PATH.
func FuzzShebang(f *testing.F) {
	dir := f.TempDir()
	program := filepath.Join(dir, "python3")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		"", "#!/bin/sh\n", "#! /usr/bin/env  -S A=b python3 -u\nx", "#!/usr/bin/env python3\r\n", "#!python3\n", "#!\n/bin/sh", "#!/bin/sh", "#!" + strings.Repeat(" ", 300) + "/bin/sh\n",
		"\x7fELF", "#!/a\x00b\n", "#!/usr/bin/env ../x\n", "#!/usr/bin/env /bin/sh\n", "\xef\xbb\xbf#!/bin/sh\n", "#!/usr/bin/env -\n",
	} {
		f.Add([]byte(s))
	}
	script := filepath.Join(f.TempDir(), "run")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(script, text, 0o700); err != nil {
			t.Fatal(err)
		}
		got := shebang(script, dir)
		line, _, _ := strings.Cut(string(text[:min(len(text), 256)]), "\n")
		switch {
		case len(got) > 2:
			t.Fatalf("%q runs %q", line, got)
		case len(got) > 0 && (!strings.HasPrefix(line, "#!") || !filepath.IsAbs(got[0]) || !strings.Contains(line, got[0])):
			t.Fatalf("%q runs %q", line, got)
		case len(got) == 2 && (filepath.Base(got[0]) != "env" || !filepath.IsAbs(got[1])):
			t.Fatalf("%q runs %q", line, got)
		case len(got) == 2 && got[1] != program && !strings.Contains(line, got[1]) && filepath.Dir(got[1]) != dir:
			t.Fatalf("%q runs %q, which is neither named nor in PATH", line, got)
		}
		run, own := Programs(script, nil, dir, dir)
		if len(run) == 0 || run[0] != script || !reflect.DeepEqual(own, []string{script}) || len(run) > 1+2*4 {
			t.Fatalf("%q: run %q, own %q", line, run, own)
		}
	})
}

// FuzzQuote: what is pasted is that very text to a shell, and nothing of it is
// hidden on a terminal.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "-x", "a b", "a'b", "a\nb", "\x1b[31m", "\u202e", "\xff1", "\\", "$x", "\x7f7", "é\u200b'", "!a", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted := Quote(text)
		if strings.ContainsFunc(quoted, func(r rune) bool { return r == unicode.ReplacementChar && !strings.ContainsRune(text, r) || hidden(r) }) {
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
