package shellsafe

import (
	"slices"
	"strings"
	"testing"
)

// FuzzReadCommands: whatever a line is, it is read without a panic, and what is found in
// it is found when it stands in another line.
func FuzzReadCommands(f *testing.F) {
	for _, line := range []string{
		"", "ls", "git -C x push -f", "sudo -u x rm -rf /", `bash -c "a; b"`, "a | b", "for i in 1; do $i; done", "x=1 y",
		"cat <<EOF\n$(a)\nEOF", "a 'b", "f() { f; }; f", "echo {a,b}", "x --a=b=c", "find . -exec a {} +", "[[ a -eq b ]]", "\\",
		"((a", "case x in y) z;; esac", "$'\\x41'", "a &>b", "*(e:x:)", "env -S 'a b'", "!a", "a\\\nb", "git -c alias.x=!y x",
		"0&$##", "a # \\\nb", "`a \\`b\\``", "<<",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		found := ReadCommands(line)
		if found.Doubt != "" {
			return
		}
		for _, within := range []string{"true; {\n" + line + "\n}", "if true; then\n" + line + "\nfi", "(\n" + line + "\n)"} {
			if strings.TrimSpace(line) == "" || strings.HasSuffix(line, `\`) { // which goes on in the next line
				continue
			}
			outer := ReadCommands(within)
			if outer.Doubt != "" {
				continue
			}
			for _, c := range found.List {
				same := func(o Command) bool { return o.Plain == c.Plain && slices.Equal(o.Words, c.Words) }
				if !slices.ContainsFunc(outer.List, same) {
					t.Fatalf("%q has %+v, and within %q it has not: %+v", line, c, within, outer.List)
				}
			}
		}
	})
}
