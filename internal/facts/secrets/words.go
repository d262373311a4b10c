package secrets

import (
	"slices"
)

// automaton finds many words at once, whatever their letter case (ASCII), in
// one pass over a text (Aho and Corasick, 1975). The transitions are laid out
// as one table, with a column for each byte that occurs in a word and one for
// all others, so a step is two look-ups and no branch.
type automaton struct {
	column  [256]uint8
	width   int
	longest int      // length of a word
	next    []uint16 // state*width + column to state
	ends    []uint16 // state to index into found; 0 = no word ends here
	found   [][]match
}

// match is a word that ends in a state.
type match struct {
	length int
	users  []int32
}

// newAutomaton builds the automaton of words, which are lower case and not
// empty, each with the rules that asked for it.
func newAutomaton(words map[string][]int32) *automaton {
	a := &automaton{width: 1, found: make([][]match, 1)}
	sorted := make([]string, 0, len(words))
	for w := range words {
		sorted = append(sorted, w)
		a.longest = max(a.longest, len(w))
		for i := range len(w) {
			a.addColumn(w[i])
		}
	}
	slices.Sort(sorted)
	a.grow()
	own := make([][]match, 1, 1024)
	for _, w := range sorted {
		own = a.addWord(w, words[w], own)
	}
	a.link(own)
	return a
}

func (a *automaton) addColumn(b byte) {
	if a.column[b] != 0 {
		return
	}
	a.column[b] = uint8(a.width)
	if 'a' <= b && b <= 'z' {
		a.column[b-'a'+'A'] = uint8(a.width)
	}
	a.width++
}

func (a *automaton) grow() int {
	a.next = append(a.next, make([]uint16, a.width)...)
	a.ends = append(a.ends, 0)
	return len(a.ends) - 1
}

func (a *automaton) addWord(w string, users []int32, own [][]match) [][]match {
	state := 0
	for i := range len(w) {
		cell := state*a.width + int(a.column[w[i]])
		if a.next[cell] == 0 {
			to := a.grow() // before the cell is written: next may move
			a.next[cell] = uint16(to)
			own = append(own, nil)
		}
		state = int(a.next[cell])
	}
	own[state] = append(own[state], match{len(w), users})
	return own
}

// link turns the trie into an automaton: level by level, a missing transition
// becomes that of the longest proper suffix which is a prefix of some word, and
// its words end here too.
func (a *automaton) link(own [][]match) {
	suffix := make([]uint16, len(a.ends))
	queue := []uint16{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		if state != 0 {
			own[state] = append(own[state], own[suffix[state]]...)
		}
		if len(own[state]) > 0 {
			a.ends[state] = uint16(len(a.found))
			a.found = append(a.found, own[state])
		}
		for c := range a.width {
			cell := int(state)*a.width + c
			fall := uint16(0)
			if state != 0 {
				fall = a.next[int(suffix[state])*a.width+c]
			}
			if child := a.next[cell]; child != 0 {
				suffix[child] = fall
				queue = append(queue, child)
				continue
			}
			a.next[cell] = fall
		}
	}
}

// each calls yield for every word in s, in the order of their ends, with where
// it begins and the rules that asked for it.
func each[T string | []byte](a *automaton, s T, yield func(at int, users []int32)) {
	state := 0
	for i := range len(s) {
		state = int(a.next[state*a.width+int(a.column[s[i]])])
		end := a.ends[state]
		if end == 0 {
			continue
		}
		for _, m := range a.found[end] {
			yield(i+1-m.length, m.users)
		}
	}
}

// anyIn reports whether s holds any of the words. A step has to wait for the memory that the
// one before it names, so a long text is read in four parts side by side, which takes a third
// of the time. Each part goes on as far into the next one as a word may.
func anyIn[T string | []byte](a *automaton, s T) bool {
	part := (len(s) - a.longest) / 4
	if part < a.longest {
		return anyFrom(a, 0, s)
	}
	n := part + a.longest
	s1, s2, s3, s4 := s[:n], s[part:][:n], s[2*part:][:n], s[3*part:][:n]
	var at1, at2, at3, at4 int // states
	next, ends, column, width := a.next, a.ends, &a.column, a.width
	for i := range n {
		at1 = int(next[at1*width+int(column[s1[i]])])
		at2 = int(next[at2*width+int(column[s2[i]])])
		at3 = int(next[at3*width+int(column[s3[i]])])
		at4 = int(next[at4*width+int(column[s4[i]])])
		if ends[at1]|ends[at2]|ends[at3]|ends[at4] != 0 {
			return true
		}
	}
	return anyFrom(a, at4, s[3*part+n:])
}

// anyFrom is anyIn in a state that was reached before.
func anyFrom[T string | []byte](a *automaton, state int, s T) bool {
	for i := range len(s) {
		state = int(a.next[state*a.width+int(a.column[s[i]])])
		if a.ends[state] != 0 {
			return true
		}
	}
	return false
}
