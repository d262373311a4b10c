package facts

import (
	"slices"
	"testing"
)

// texts are the words of a command.
func texts(c *Command) (list []string) {
	for _, w := range c.Words {
		list = append(list, w.Text)
	}
	return list
}

func TestAlone(t *testing.T) {
	for line, want := range map[string][]string{
		"git push origin main":           {"git", "push", "origin", "main"},
		"  git\tpush  ":                  {"git", "push"},
		`git commit -m 'a; b' "c && d"`:  {"git", "commit", "-m", "a; b", "c && d"},
		`echo a\ b "x\"y" pre'mid'"end"`: {"echo", "a b", `x"y`, "premidend"},
		`git diff HEAD^ a=b x:y`:         {"git", "diff", "HEAD^", "a=b", "x:y"},
		`echo '$HOME' "\$HOME" \*`:       {"echo", "$HOME", "$HOME", "*"},
		"sudo rm x":                      {"sudo", "rm", "x"},
		"bash -c 'rm x'":                 {"bash", "-c", "rm x"},
		`echo '~/x' \~`:                  {"echo", "~/x", "~"},
	} {
		if c := Line(line, Env{Cwd: "/p", Home: "/home/me"}).Alone(); c == nil || !slices.Equal(texts(c), want) {
			t.Errorf("%q: %+v, want %q", line, c, want)
		}
	}
}

// A text is no command alone if it could run a second command or write a file. A text that
// may mean something else than its characters is none either, nor is a doubtful text.
func TestNotAlone(t *testing.T) {
	for _, line := range []string{
		"", " ", "# only a comment", "git push # why",
		"git push; rm -rf x", "git push && rm x", "git push || rm x", "git push | sh", "git push & rm x", "git push &",
		"git push\nrm x", "git push\r\nrm x", "git push\r", "git push\x00rm", "git push \x1b[2K",
		"git push > x", "git push 2>&1", "git push < x", "git push <<< x", "git push <<E\nx\nE",
		"git push $(rm x)", "git push `rm x`", `git push "$(rm x)"`, `git push "` + "`rm x`" + `"`, "git push $X",
		`git push "$X"`, "git push ${X}", "git push ${X:-y}", "git push $HOME", "git push $0", "git push $((1))",
		"git push <(rm x)", "git push $'a'", `git push $"a"`,
		"X=1 git push", "git push *.go", "git push a?b", "git push [ab]", "git push {a,b}", "git push ~/x",
		"git push a=~/x", "git push x:~/y", "git push =ls",
		"(git push)", "{ git push; }", "! git push", "if git push; then :; fi", "f() { git push; }",
		"[[ a ]]", "((1))", "let x=1", "time git push", "coproc git push", "export X=1", "git push 'unended",
		"git push \xff", "git push +(a)", "git push \\",
		"nosuchprogram x", "git push --no-such-option", "bash", "eval \"$(cat x)\"",
	} {
		if c := Line(line, Env{Cwd: "/p", Home: "/home/me"}).Alone(); c != nil {
			t.Errorf("%q: %q, want none", line, texts(c))
		}
	}
}
