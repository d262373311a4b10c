package when

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"github.com/hookd/hookd/internal/builtin/shellsafe"
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/rawjson"
)

// mostTexts bounds how many texts of a tool that is not known are read as lines, and
// mostText how long they may be together: of more any may be a command.
const (
	mostTexts = 100
	mostText  = 64 << 10
)

// fitsCommand reports whether the call runs one of the commands.
func (f *Facts) fitsCommand(patterns []hook.CommandPattern) bool {
	if has, unsure := f.hasTool(); !has {
		return unsure
	}
	if !f.read {
		f.read = true
		if f.lines = f.commands(); f.lines == nil {
			f.lines = []*shellsafe.Commands{}
		}
	}
	return slices.ContainsFunc(f.lines, func(line *shellsafe.Commands) bool {
		return slices.ContainsFunc(patterns, func(p hook.CommandPattern) bool { return has(line, p) })
	})
}

// commands reads the lines that the call may run.
func (f *Facts) commands() (read []*shellsafe.Commands) {
	call := f.callOf()
	lines := call.Commands()
	switch {
	case call.Code != "":
		return []*shellsafe.Commands{{Doubt: "its text is " + call.Code}}
	case len(lines) == 0 && call.Tool == neutral.Shell:
		return []*shellsafe.Commands{{Doubt: "it names no command"}}
	case !call.Known() || call.Guessed:
		lines = append(lines, textsIn(call.Given, nil)...)
	}
	total := 0
	for _, line := range lines {
		if total += len(line); total > mostText || len(read) > mostTexts {
			return []*shellsafe.Commands{{Doubt: "it has too much text"}}
		}
		read = append(read, shellsafe.ReadCommands(line))
	}
	return read
}

// textsIn appends all texts of a value.
func textsIn(v json.RawMessage, to []string) []string {
	if len(v) == 0 || len(to) > mostTexts {
		return to
	}
	switch v[0] {
	case '"':
		if text, ok := rawjson.Text(v); ok {
			to = append(to, text)
		}
	case '{':
		for _, value := range rawjson.Members(v) {
			to = textsIn(value, to)
		}
	case '[':
		var elements []json.RawMessage
		_ = json.Unmarshal(v, &elements) // what is no list has no elements
		var words []string
		for _, element := range elements {
			before := len(to)
			if to = textsIn(element, to); len(to) == before+1 {
				words = append(words, to[before])
			}
		}
		to = append(to, strings.Join(words, " ")) // they may be the words of one command
	}
	return to
}

// has reports whether a command of the line may be the one that p stands for. In doubt
// it is.
func has(line *shellsafe.Commands, p hook.CommandPattern) bool {
	if line.Doubt != "" {
		return true
	}
	return slices.ContainsFunc(line.List, func(c shellsafe.Command) bool {
		last := len(c.Words) - 1
		if c.Plain {
			last = 0
		}
		var follows func(i int) bool // found when a name is
		for i := 0; i <= last; i++ {
			if !names(p.Words[0], c.Words[i], i > 0) {
				continue
			}
			if follows == nil {
				follows = following(p, c.Words)
			}
			if follows(i + 1) {
				return true
			}
		}
		return false
	})
}

// names reports whether a word may name the program that f stands for. One behind
// another program may have it behind an = or a short option.
func names(f hook.Fold, w shellsafe.Word, behind bool) bool {
	if w.Open {
		return true
	}
	if w.Glob && mayBecome(w.Text, f) {
		return true
	}
	for _, text := range w.Names() {
		if f.Match(text) || f.Match(shellsafe.Program(text)) {
			return true
		}
		if !behind {
			return false
		}
	}
	return false
}

// mayBecome reports whether a shell may put a name in the place of the pattern glob
// that f matches.
func mayBecome(glob string, f hook.Fold) bool {
	if strings.ContainsAny(f.Text, `*?[]{}\`) {
		return true
	}
	for _, text := range []string{glob, shellsafe.Program(glob)} {
		g, err := hook.CompileFold(text)
		if err != nil || g.Match(f.Text) {
			return true
		}
	}
	return false
}

// following returns a function that reports whether the words from index i on may be those
// of p behind its program: its words in their order, with nothing between them but options
// and what may be their values, and each of its options anywhere.
func following(p hook.CommandPattern, words []shellsafe.Word) func(i int) bool {
	// the options that are among the words from i on are also among those from i-1 on
	flagged := sort.Search(len(words)+1, func(i int) bool {
		return slices.ContainsFunc(p.Flags, func(flag string) bool { return !given(flag, words[i:]) })
	})
	ordered := inOrder(p.Words[1:], words)
	return func(i int) bool { return i < flagged && ordered[i] }
}

// inOrder reports for each index whether the wanted words may begin there. It looks at
// each word once for each wanted one, from the last on: a line may be long.
func inOrder(want []hook.Fold, words []shellsafe.Word) []bool {
	begins := make([]bool, len(words)+1)
	for i := range begins {
		begins[i] = true
	}
	for _, f := range slices.Backward(want) {
		rest := begins // where the words after f may begin
		begins = make([]bool, len(words)+1)
		goesOn := false // f may come at the next word, with options before that
		for i, w := range slices.Backward(words) {
			fits := f.Match(w.Text) || w.Glob && mayBecome(w.Text, f)
			here := w.Open || fits && rest[i+1] // an open one may be any words
			isOption := strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+")
			begins[i] = here || isOption && goesOn
			goesOn = begins[i] || i > 0 && mayTakeValue(words[i-1]) && goesOn
		}
	}
	return begins
}

// mayTakeValue reports whether the word behind w may be its value.
func mayTakeValue(w shellsafe.Word) bool {
	return len(w.Text) > 1 && w.Text[0] == '-' && w.Text != "--" && !strings.Contains(w.Text, "=")
}

// given reports whether an option may be among words: as it is, as the beginning of a
// long one, with its value, or each of its letters in clusters of short ones.
func given(flag string, words []shellsafe.Word) bool {
	if !strings.HasPrefix(flag, "--") {
		for _, letter := range flag[1:] {
			if !anyWord(words, func(text string) bool {
				return len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.ContainsRune(text[1:], letter)
			}) {
				return anyWord(words, func(text string) bool { return strings.HasPrefix(text, flag) })
			}
		}
		return true
	}
	return anyWord(words, func(text string) bool {
		name, _, _ := strings.Cut(text, "=")
		return len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(flag, name) ||
			strings.HasPrefix(name, flag)
	})
}

func anyWord(words []shellsafe.Word, fits func(string) bool) bool {
	for _, w := range words {
		if w.Open || w.Glob && strings.ContainsAny(w.Text[:1], "*?[-") || fits(w.Text) {
			return true
		}
	}
	return false
}
