package facts

import (
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

var (
	sedAddress = lazyregexp.New(`^(?:[0-9]+(?:~[0-9]+)?|\$|[+~][0-9]+)`)
	sedSimple  = lazyregexp.New(
		`^(?:[pPdDnNgGhHx=}]|[qQlL] *[0-9]*|[btT] *[A-Za-z0-9_]*|: *[A-Za-z0-9_]+)[ \t]*(?:[;\n}]|$)`)
	sedOptions = lazyregexp.New(`^[gpiIm0-9M]*[ \t]*(?:[;\n}]|$)`)
)

// isSedProgram reports whether a sed program has only commands that print,
// delete or replace on the way to standard output.
func isSedProgram(text string) bool {
	for {
		text = strings.TrimLeft(text, " \t\n;")
		if text == "" {
			return true
		}
		var ok bool
		if text, ok = sedAddresses(text); !ok {
			return false
		}
		switch {
		case text == "":
			return false
		case text[0] == '{' || text[0] == '}':
			text = text[1:]
		case text[0] == 's' || text[0] == 'y':
			if text, ok = sedReplacement(text); !ok {
				return false
			}
		default:
			m := sedSimple.FindString(text)
			if m == "" {
				return false
			}
			text = text[len(strings.TrimRight(m, "}")):]
		}
	}
}

// sedAddresses takes the addresses off the front of a command.
func sedAddresses(text string) (rest string, ok bool) {
	for n := 0; ; n++ {
		switch m := sedAddress.FindString(text); {
		case m != "":
			text = text[len(m):]
		case strings.HasPrefix(text, "/"):
			if text, ok = sedPattern(text[1:], '/'); !ok {
				return "", false
			}
			text = strings.TrimLeft(text, "IM")
		}
		text = strings.TrimLeft(text, " \t")
		if n == 1 || !strings.HasPrefix(text, ",") {
			return strings.TrimLeft(text, "! \t"), true
		}
		text = strings.TrimLeft(text[1:], " \t")
	}
}

// sedPattern reads to the delimiter. Versions differ on whether it ends the
// pattern within brackets: such a pattern is not read.
func sedPattern(text string, delimiter byte) (rest string, ok bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case delimiter:
			return text[i+1:], true
		case '[':
			if i = bracketEnd(text, i, delimiter); i < 0 {
				return "", false
			}
		case '\n':
			return "", false
		}
	}
	return "", false
}

// sedReplacement reads s/a/b/flags or y/a/b/.
func sedReplacement(text string) (rest string, ok bool) {
	if len(text) < 2 || strings.IndexByte("\\\n \t;", text[1]) >= 0 || text[1] >= 0x80 || text[1] >= '0' &&
		text[1] <= '9' {
		return "", false
	}
	delimiter := text[1]
	if rest, ok = sedPattern(text[2:], delimiter); !ok {
		return "", false
	}
	end := -1
	for i := 0; i < len(rest) && end < 0; i++ {
		switch rest[i] {
		case '\\':
			i++
		case delimiter:
			end = i
		}
	}
	if end < 0 {
		return "", false
	}
	rest = rest[end+1:]
	options := sedOptions.FindString(rest)
	if options == "" && rest != "" {
		return "", false
	}
	return rest[len(strings.TrimRight(options, "}")):], true
}

// sed follows a sed program: w writes a file, r reads one, e runs a command.
func (s *toolScript) sed() {
	text := s.w.Text
	if isSedProgram(text) {
		return
	}
	found := false
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' }) {
		found = s.sedLine(line) || found
	}
	if !found {
		s.doubt(DoubtCode, "the sed program "+short(text)+" is not read in full")
	}
}

// sedLine finds the commands w, r and e in one line of a sed program.
func (s *toolScript) sedLine(line string) (found bool) {
	for rest := line; rest != ""; {
		rest = strings.TrimLeft(rest, " \t;{}")
		after, ok := sedAddresses(rest)
		if !ok || after == "" {
			return found
		}
		switch after[0] {
		case 'w', 'W':
			s.path(KindWrite, Word{Text: strings.TrimSpace(after[1:]), Kind: Literal})
			return true
		case 'r', 'R':
			s.path(KindRead, Word{Text: strings.TrimSpace(after[1:]), Kind: Literal})
			return true
		case 'e':
			if command := strings.TrimSpace(after[1:]); command != "" {
				s.nested("sed").line(command)
			} else {
				s.doubt(DoubtEval, "sed runs the lines that it reads")
			}
			return true
		case 'a', 'i', 'c':
			return true // the text that follows is data
		case 's':
			flags, next, ok := sedFlags(after)
			if !ok {
				return found
			}
			if strings.Contains(flags, "e") {
				s.doubt(DoubtEval, "sed runs what it replaces: "+short(after))
				found = true
			}
			if _, file, has := strings.Cut(flags, "w"); has {
				s.path(KindWrite, Word{Text: strings.TrimSpace(file), Kind: Literal})
				return true
			}
			rest = next
			continue
		}
		_, next, has := strings.Cut(after, ";")
		if !has {
			return found
		}
		rest = next
	}
	return found
}

// sedFlags are the flags of s/a/b/flags, up to the end of the command.
func sedFlags(text string) (flags, rest string, ok bool) {
	if len(text) < 4 {
		return "", "", false
	}
	delimiter, parts, i := text[1], 0, 2
	for ; i < len(text) && parts < 2; i++ {
		switch text[i] {
		case '\\':
			i++
		case delimiter:
			parts++
		}
	}
	if parts < 2 || i > len(text) {
		return "", "", false
	}
	tail := text[i:]
	if j := strings.IndexAny(tail, ";}"); j >= 0 && !strings.Contains(tail[:j], "w") {
		return tail[:j], tail[j:], true
	}
	return tail, "", true
}
