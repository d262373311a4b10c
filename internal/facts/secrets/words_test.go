package secrets

import (
	"strings"
	"testing"
)

// A word is found wherever it stands, also where two parts meet that are read side by side.
func TestWordsAreFoundWhereverTheyStand(t *testing.T) {
	a := newAutomaton(map[string][]int32{"ab": {0}, "a word of some letters": {1}})
	for _, word := range []string{"ab", "aB", "a word of some letters"} {
		for size := len(word); size < 7*a.longest; size++ {
			plain := strings.Repeat("x", size)
			if anyIn(a, plain) {
				t.Fatalf("%d bytes have a word, want none", size)
			}
			for at := range size - len(word) + 1 {
				if s := plain[:at] + word + plain[at+len(word):]; !anyIn(a, s) || !anyIn(a, []byte(s)) {
					t.Fatalf("%q is not found at %d of %d bytes", word, at, size)
				}
			}
			for cut := 1; cut < len(word); cut++ { // neither at the end nor at the beginning
				if s := word[cut:] + plain + word[:cut]; anyIn(a, s) != anyFrom(a, 0, s) {
					t.Fatalf("%q is found in %q, or is not", word, s)
				}
			}
		}
	}
}
