package shellsafe

import (
	"slices"
	"testing"
)

func TestLiteral(t *testing.T) {
	for line, want := range map[string][]string{
		"git push origin main":           {"git", "push", "origin", "main"},
		"  git\tpush  ":                  {"git", "push"},
		`git commit -m 'a; b' "c && d"`:  {"git", "commit", "-m", "a; b", "c && d"},
		`echo a\ b "x\"y" pre'mid'"end"`: {"echo", "a b", `x"y`, "premidend"},
		`git diff HEAD^ a=b x:y`:         {"git", "diff", "HEAD^", "a=b", "x:y"},
		`git push # why`:                 {"git", "push"},
		`echo '$HOME' "\$HOME" \*`:       {"echo", "$HOME", "$HOME", "*"},
	} {
		if got, ok := Literal(line); !ok || !slices.Equal(got, want) {
			t.Errorf("Literal(%q) = %q %v, want %q", line, got, ok, want)
		}
	}
}

// Whatever could run a second command, write a file, or mean something else than what
// is written is not literal.
func TestNotLiteral(t *testing.T) {
	for _, line := range []string{
		"", " ", "# only a comment",
		"git push; rm -rf x", "git push && rm x", "git push || rm x", "git push | sh", "git push & rm x", "git push &",
		"git push\nrm x", "git push\r\nrm x", "git push\r", "git push\x00rm", "git push \x1b[2K",
		"git push > x", "git push 2>&1", "git push < x", "git push <<< x", "git push <<E\nx\nE",
		"git push $(rm x)", "git push `rm x`", `git push "$(rm x)"`, `git push "` + "`rm x`" + `"`, "git push $X", `git push "$X"`,
		"git push ${X}", "git push $((1))", "git push <(rm x)", "git push $'a'", `git push $"a"`,
		"X=1 git push", "git push *.go", "git push a?b", "git push [ab]", "git push {a,b}", "git push ~/x", "git push a=~/x",
		"git push =ls", "(git push)", "{ git push; }", "! git push", "if git push; then :; fi", "f() { git push; }",
		"[[ a ]]", "((1))", "let x=1", "time git push", "coproc git push", "export X=1", "git push 'unended", "git push \xff",
		"git push +(a)", "git push \\",
	} {
		if got, ok := Literal(line); ok {
			t.Errorf("Literal(%q) = %q, want none", line, got)
		}
	}
}

// A literal line that is written again from its words, quoted, is the same line.
func FuzzLiteral(f *testing.F) {
	f.Add("git push 'a b' \"c\"")
	f.Add("a\\;b")
	f.Fuzz(func(t *testing.T, line string) {
		words, ok := Literal(line)
		if !ok {
			return
		}
		again, ok := Literal(quotedLine(words))
		if !ok || !slices.Equal(again, words) {
			t.Fatalf("Literal(%q) = %q, and of that %q %v", line, words, again, ok)
		}
	})
}

func quotedLine(words []string) (line string) {
	for _, w := range words {
		line += " '"
		for _, r := range w {
			if r == '\'' {
				line += `'\''`
				continue
			}
			line += string(r)
		}
		line += "'"
	}
	return line
}
