package when

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/builtin/shellsafe"
	"github.com/hookd/hookd/internal/hook"
)

// Lines that repeat what a pattern looks for are looked at once, not once for each way to
// leave words out: the longest that is read takes a moment.
func TestLongLines(t *testing.T) {
	for _, pattern := range []string{
		"docker system prune", "docker system prune all now", "docker --force -abc system", "docker system prune --all",
	} {
		p, err := hook.CompileCommand(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []string{
			"-x system ", "-x docker -x system ", "-x docker -x system -x prune -x all ", "-a -b docker ",
		} {
			line := "nohup docker "
			line += strings.Repeat(unit, (16<<10-len(line))/len(unit))
			c := shellsafe.ReadCommands(line)
			if c.Doubt != "" {
				t.Fatalf("%s: %s", unit, c.Doubt)
			}
			if unit == "-x system " && has(c, p) {
				t.Errorf("%q is in repeated %q", pattern, unit)
			}
			has(c, p)
		}
	}
}

// beginsHere is inOrder as it is meant, for one beginning: each way to leave words out is
// tried.
func beginsHere(want []hook.Fold, words []shellsafe.Word) bool {
	if len(want) == 0 {
		return true
	}
	for i, w := range words {
		if w.Open || want[0].Match(w.Text) && beginsHere(want[1:], words[i+1:]) {
			return true
		}
		isOption := strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+")
		if !isOption && (i == 0 || !mayTakeValue(words[i-1])) {
			return false
		}
	}
	return false
}

func TestFollowing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"a", "b", "c", "-x", "--long", "--long=v", "+y", "--", "-"}
	var yes, no int
	for range 20_000 {
		p, err := hook.CompileCommand([]string{"p a", "p a b", "p a b a", "p b -x", "p --long a", "p a b c"}[random.IntN(6)])
		if err != nil {
			t.Fatal(err)
		}
		var words []shellsafe.Word
		for range random.IntN(9) {
			words = append(words, shellsafe.Word{Text: texts[random.IntN(len(texts))], Open: random.IntN(40) == 0})
		}
		follows := following(p, words)
		for i := range len(words) + 1 {
			want := beginsHere(p.Words[1:], words[i:]) &&
				!slices.ContainsFunc(p.Flags, func(flag string) bool { return !given(flag, words[i:]) })
			if got := follows(i); got != want {
				t.Fatalf("%s behind %v from %d: got %v, want %v", p.Text, words, i, got, want)
			}
			if want {
				yes++
			} else {
				no++
			}
		}
	}
	if yes < 1000 || no < 1000 {
		t.Errorf("%d follow, %d do not: the test says little", yes, no)
	}
}
