// Package spell finds the word that somebody most likely meant, for messages such
// as "did you mean `command`?". It is pure and its work is bounded.
package spell

import "strings"

// Near returns the word that was most likely meant by text, or "" when none
// is close: up to one slip in three letters, case and separators aside.
func Near(text string, words []string) string {
	best, least := "", len(text)/3+1
	for _, w := range words {
		if d := Distance(plain(text), plain(w)); d < least || d == 0 {
			best, least = w, d
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

func plain(s string) string { return strings.ToLower(separators.Replace(s)) }

// Distance counts the insertions, removals, replacements and swaps of
// neighbours that turn a into b (optimal string alignment). Longer words than
// any key are never near, which also bounds the work.
func Distance(a, b string) int {
	const longest = 64
	if len(a) > longest || len(b) > longest {
		return max(len(a), len(b))
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
