// Package spell finds the word that was most likely meant, for messages such as "did
// you mean `command`?". It is pure and its work is bounded.
package spell

import (
	"math/bits"
	"strings"
)

// Near returns the word that was most likely meant by text, or "" when none is close:
// up to one wrong letter in three, case and separators aside, where they tell words apart
// that are as close; else the only word that begins with text, from four letters on.
func Near(text string, words []string) string {
	letters := plain(text)
	best, most, exact := "", len(letters)/3, 0
	for _, w := range words {
		d, near := Distance(letters, plain(w), most)
		if !near {
			continue
		}
		if e := slips(text, w); best == "" || d < most || e < exact {
			best, most, exact = w, d, e
		}
	}
	if best == "" && len(letters) >= shortest {
		return beginning(letters, words)
	}
	return best
}

// DidYouMean ends the message about an unknown word: ", did you mean `command`?", or "" when no word is near.
func DidYouMean(text string, words []string) string {
	if near := Near(text, words); near != "" {
		return ", did you mean `" + near + "`?"
	}
	return ""
}

// shortest is how many letters tell a word that begins with them.
const shortest = 4

// beginning returns the only word that begins with text; "" = there is none, or there are more.
func beginning(text string, words []string) (only string) {
	for _, w := range words {
		if strings.HasPrefix(plain(w), text) && w != only {
			if only != "" {
				return ""
			}
			only = w
		}
	}
	return only
}

// slips is the distance between two words as they are written.
func slips(a, b string) int {
	if d, near := Distance(a, b, longest); near {
		return d
	}
	return longest + 1
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

func plain(s string) string { return strings.ToLower(separators.Replace(s)) }

// longest is the longest word, in bytes, that is compared, which bounds the work. It
// is longer than any key.
const longest = 64

// Distance returns how many insertions, removals, replacements and swaps of
// neighbours turn a into b (optimal string alignment), and whether they are most or
// fewer. It stops as soon as there are more.
func Distance(a, b string, most int) (d int, near bool) {
	if len(a) > longest || len(b) > longest || max(len(a)-len(b), len(b)-len(a)) > most {
		return 0, false
	}
	if in, out := letters(a), letters(b); max(bits.OnesCount64(in&^out), bits.OnesCount64(out&^in)) > most {
		return 0, false // each letter that only one of them has takes a slip
	}
	var rows [3][longest + 1]uint8 // small, since most of the work is to clear them
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = uint8(j)
	}
	for i := 1; i <= len(a); i++ {
		row[0] = uint8(i)
		least := row[0]
		for j := 1; j <= len(b); j++ {
			cost := uint8(1)
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if int(least) > most+1 { // a swap may still save one
			return 0, false
		}
		before, last, row = last, row, before
	}
	d = int(last[len(b)])
	return d, d <= most
}

// letters is the set of bytes in s; some bytes share a place.
func letters(s string) (set uint64) {
	for i := range len(s) {
		set |= 1 << (s[i] & 63)
	}
	return set
}
