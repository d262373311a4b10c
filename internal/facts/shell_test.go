package facts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/shelltest"
)

// mostInDoubt is how many of a hundred lines that run a program may be in doubt: a reader that
// doubts everything misses nothing. About 40 are; of random lines it is now and then one or two more.
const mostInDoubt = 45

// Each call that a shell makes of a line is listed with the words that the program got, or the
// line is in doubt: in lines that shells and readers of them may take in different ways, and in
// random ones. HOOKD_LINES is how many random lines are tried; unset = as many as take seconds.
func TestCallsOfShellsAreListed(t *testing.T) {
	for _, name := range []string{"bash", "dash"} {
		t.Run(name, func(t *testing.T) {
			shell := shelltest.New(t, name)
			ran, doubted := 0, 0
			for _, line := range shelltest.Lines() {
				calls := shell.Run(line)
				if len(calls) == 0 {
					continue
				}
				if name == "dash" && (strings.Contains(line, "((") || strings.Contains(line, "declare")) {
					continue // a command in two subshells, and a number to bash and zsh; a builtin of those
				}
				ran++
				f := facts.Line(line, facts.Env{Cwd: shell.Work, Home: shell.Work})
				if inDoubt(f) {
					doubted++
					continue
				}
				for _, call := range calls {
					if strings.ContainsAny(strings.Join(call, ""), "{$") {
						continue // what dash leaves as it is, and bash and zsh expand
					}
					if call[0] == name {
						continue // a stand-in that this shell reads by `.`
					}
					inOtherWords := strings.Contains(line, "find ") || // it tells names of files
						strings.Contains(line, "\r") || // it may part words
						strings.Contains(line, "~") || // of no user
						name == "dash" && (slices.ContainsFunc([]string{"$'", "$\"", "function", "time"},
							func(odd string) bool { return strings.Contains(line, odd) }))
					isListed := func(c facts.Command) bool {
						if inOtherWords {
							return stands(c.Words[0], call[:1]) || isScript(c.Words, call)
						}
						return mayBe(c.Words, call) || isScript(c.Words, call)
					}
					if !slices.ContainsFunc(f.Commands, isListed) {
						t.Errorf("%s runs %q, which is not listed of %q: %s", name, call, line, listed(f))
					}
				}
			}
			t.Logf("%d lines ran a program, %d of them are in doubt", ran, doubted)
			if doubted > ran*mostInDoubt/100 {
				t.Errorf("%d of %d lines are in doubt, at most %d of 100 may", doubted, ran, mostInDoubt)
			}
		})
	}
}

// inDoubt reports whether more may run than the listed commands. The stand-ins are in no table, and
// their effects are not asked about.
func inDoubt(f *facts.Facts) bool {
	return slices.ContainsFunc(f.Doubts, func(d facts.Doubt) bool {
		return d.Kind != facts.DoubtProgram && d.Kind != facts.DoubtOption && d.Kind != facts.DoubtSubcommand
	})
}

// isScript reports whether a shell may make the call of a script among its words: bash finds it by PATH.
func isScript(words []facts.Word, call []string) bool {
	if len(words) == 0 || words[0].Text != "bash" && words[0].Text != "sh" && words[0].Text != "dash" {
		return false
	}
	for i := range words {
		if mayBe(words[i:], call) {
			return true
		}
	}
	return false
}

// mayBe reports whether words may be those of a call. An unknown word may become none or
// several, and a pattern the names of files.
func mayBe(words []facts.Word, call []string) bool {
	if len(words) == 0 {
		return len(call) == 0
	}
	w := words[0]
	for n := 0; n <= len(call); n++ {
		if !stands(w, call[:n]) {
			continue
		}
		if mayBe(words[1:], call[n:]) {
			return true
		}
	}
	return false
}

// stands reports whether a word may become these words of a call.
func stands(w facts.Word, call []string) bool {
	switch {
	case w.Kind == facts.Unknown:
		head, _, _ := strings.Cut(w.Text, "…")
		tail := w.Text[strings.LastIndex(w.Text, "…")+len("…"):]
		if len(call) == 0 || strings.ContainsAny(w.Text, "*?[") {
			return head == "" && tail == "" || len(call) > 0
		}
		return strings.HasPrefix(call[0], head) && strings.HasSuffix(call[len(call)-1], tail)
	case len(call) == 1 && call[0] == w.Text:
		return true
	case w.Kind == facts.Pattern:
		return !slices.ContainsFunc(call, func(name string) bool {
			fits, err := pattern.MatchPath(w.Text, name)
			return err == nil && !fits
		})
	}
	return false
}

// listed is the list of a reader's commands, for people.
func listed(f *facts.Facts) string {
	var list []string
	for _, c := range f.Commands {
		var words []string
		for _, w := range c.Words {
			words = append(words, string(w.Kind[0])+"'"+w.Text+"'")
		}
		list = append(list, strings.Join(words, " "))
	}
	return strings.Join(list, "; ")
}
