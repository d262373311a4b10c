package shellsafe

import (
	"regexp"
	"slices"
	"strings"
)

// awkFlags are those with which an awk reads no program but its first word.
var awkFlags = func() *grammar {
	g := newGrammar("-F: -v: --field-separator: --assign: --re-interval --posix --traditional -b -M --bignum --version", nil)
	g.stops = true
	return g
}()

// awkRefuses returns the part of an awk's words for which it is not known to
// only print. Its programs can write files, run commands and connect.
func awkRefuses(args []arg) (bad string, ok bool) {
	w := awkFlags.read(args)
	switch {
	case w.bad != "":
		return w.bad, false
	case len(w.rest) == 0:
		return "", slices.Contains(w.given, "--version")
	case w.rest[0].dynamic || !isAwkProgram(w.rest[0].text):
		return w.rest[0].written(), false
	}
	if i := slices.IndexFunc(args, func(a arg) bool { return a.vanish }); i >= 0 {
		return args[i].written(), false
	}
	for _, a := range w.rest[1:] { // a version may take flags after the program
		if len(a.text) > 1 && a.text[0] == '-' {
			return a.written(), false
		}
	}
	return "", true
}

// awkWords are names that write, run, or bring in code that is not seen.
var awkWords = []string{"system", "getline", "close", "extension", "load", "include", "namespace"}

// awkKeywords are words after which a slash begins an expression.
var awkKeywords = []string{"print", "printf", "return", "in", "else", "do", "if", "while", "for", "case", "exit", "delete"}

// isAwkProgram reports whether an awk program has nothing to write or run with.
func isAwkProgram(text string) bool {
	var (
		operand  bool   // what stands before: a slash divides
		last     byte   // what stands before, except for spaces
		word     string // the name that stands before, "" if none does
		unclear  bool   // a slash stood after a parenthesis: it may also begin an expression
		printing bool   // within print or printf: > writes
		depth    int    // of parentheses within that
	)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) && text[i+1] == '\n' {
			i++
			continue
		}
		before := word
		switch {
		case c == ' ' || c == '\t':
			continue
		case c == '/' && (last == '+' || last == '-'): // after x++ it divides
			return false
		case c == '/' && before == "length": // versions differ on whether it divides
			return false
		case c == '/' && last == ')':
			unclear, operand = true, false
		case c == '"' || c == '/' && !operand:
			end := quotedEnd(text, i, c)
			if unclear && c == '"' || end < 0 {
				return false
			}
			i, operand = end, true
		case c == '#':
			if unclear {
				return false
			}
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
			continue
		case isDigit(c, 10) || c == '.':
			for i+1 < len(text) && (isDigit(text[i+1], 10) || text[i+1] == '.') {
				i++
			}
			if i+1 < len(text) && isNameByte(text[i+1]) { // 1system() is two words
				return false
			}
			operand = true
		case isNameByte(c):
			end := i
			for end < len(text) && (isNameByte(text[end]) || isDigit(text[end], 10)) {
				end++
			}
			word = text[i:end]
			if slices.Contains(awkWords, word) {
				return false
			}
			if word == "print" || word == "printf" {
				printing, depth = true, 0
			}
			operand = !slices.Contains(awkKeywords, word)
			i = end - 1
		case c == '@' || c == '\\' || c == '`':
			return false
		case c == '|':
			if i+1 == len(text) || text[i+1] != '|' {
				return false
			}
			i, operand = i+1, false
		case c == '>' && printing && depth <= 0:
			if !toStandardError.MatchString(text[i:]) {
				return false
			}
			operand = false
		default:
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			case ';', '{', '}': // a line end may stand within a statement
				printing = false
			}
			operand = c == ')' || c == ']'
		}
		last = c
		if !isNameByte(c) {
			word = ""
		}
	}
	return true
}

// quotedEnd returns where the text that begins at start with quote ends, -1 if
// it does not in its line.
func quotedEnd(text string, start int, quote byte) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case quote:
			return i
		case '[':
			if quote != '/' {
				break
			}
			if i = bracketEnd(text, i, quote); i < 0 {
				return -1
			}
		}
	}
	return -1
}

// bracketEnd returns where the bracket expression that begins at start ends,
// -1 if versions differ on that or on whether delimiter within it ends the
// whole pattern.
func bracketEnd(text string, start int, delimiter byte) int {
	i := start + 1
	if strings.HasPrefix(text[i:], "^") {
		i++
	}
	if strings.HasPrefix(text[i:], "]") {
		i++
	}
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == delimiter || c == '\n':
			return -1
		case c == ']':
			return i
		case c == '\\':
			if i++; i < len(text) && text[i] == ']' { // it ends there, or is escaped
				return -1
			}
		case c == '[' && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0: // [:alpha:]
			class := text[i+2:]
			end := strings.Index(class, text[i+1:i+2]+"]")
			if end < 0 || strings.IndexByte(class[:end], delimiter) >= 0 || strings.ContainsAny(class[:end], "]\\\n") {
				return -1
			}
			i += 2 + end + 1
		}
	}
	return -1
}

var toStandardError = regexp.MustCompile(`^>>?[ \t]*"/dev/stderr"[ \t]*(?:[;}\n]|$)`)

func isNameByte(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
