package facts

import (
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// awkWords are names that write, run, or bring in code that is not seen.
var awkWords = []string{"system", "getline", "close", "extension", "load", "include", "namespace"}

// awkKeywords are words after which a slash begins an expression.
var awkKeywords = []string{"print", "printf", "return", "in", "else", "do", "if", "while", "for", "case", "exit",
	"delete"}

// isAwkProgram reports whether an awk program has nothing to write or run with.
func isAwkProgram(text string) bool {
	for r := (awkReader{text: text}); r.at < len(text); r.at++ {
		if !r.token() {
			return false
		}
	}
	return true
}

// awkReader reads an awk program. Its methods read the construct that begins at the byte at, and leave
// at on the construct's last byte. They return false where the construct may write or run something, or
// where its meaning is not clear.
type awkReader struct {
	text string
	at   int

	operand  bool   // what stands before is a value: a slash divides
	last     byte   // the first byte of what stands before, except for spaces
	word     string // the name that stands before, "" if none does
	unclear  bool   // a slash stood after a parenthesis: it may also begin an expression
	printing bool   // within print or printf: > writes
	depth    int    // of parentheses within that
}

func (r *awkReader) token() bool {
	c := r.text[r.at]
	switch {
	case c == ' ' || c == '\t':
		return true
	case c == '\\' && strings.HasPrefix(r.text[r.at+1:], "\n"):
		r.at++
		return true
	case c == '#':
		return r.comment()
	}
	if !r.known(c) {
		return false
	}
	r.last = c
	if !isNameByte(c) {
		r.word = ""
	}
	return true
}

func (r *awkReader) comment() bool {
	for r.at+1 < len(r.text) && r.text[r.at+1] != '\n' {
		r.at++
	}
	return !r.unclear
}

// known reads a construct that begins with c and is neither space nor a comment.
func (r *awkReader) known(c byte) bool {
	switch {
	case c == '/':
		return r.slash()
	case c == '"':
		return !r.unclear && r.quoted(c)
	case isDigit(c, 10) || c == '.':
		return r.number()
	case isNameByte(c):
		return r.name()
	case c == '@' || c == '\\' || c == '`':
		return false
	case c == '|':
		r.at, r.operand = r.at+1, false
		return r.at < len(r.text) && r.text[r.at] == '|' // one alone is a pipe
	case c == '>' && r.printing && r.depth <= 0:
		r.operand = false
		return toStandardError.MatchString(r.text[r.at:])
	case c == '(':
		r.depth++
	case c == ')':
		r.depth--
	case c == ';' || c == '{' || c == '}': // a line end may stand within a statement
		r.printing = false
	}
	r.operand = c == ')' || c == ']'
	return true
}

// slash reads a division, or a regular expression.
func (r *awkReader) slash() bool {
	switch {
	case r.last == '+' || r.last == '-': // after x++ it divides
		return false
	case r.word == "length": // versions differ on whether it divides
		return false
	case r.last == ')':
		r.unclear = true
	case !r.operand:
		return r.quoted('/')
	}
	r.operand = false
	return true
}

func (r *awkReader) quoted(quote byte) bool {
	end := quotedEnd(r.text, r.at, quote)
	r.at, r.operand = max(end, r.at), true
	return end >= 0
}

func (r *awkReader) number() bool {
	for r.at+1 < len(r.text) && (isDigit(r.text[r.at+1], 10) || r.text[r.at+1] == '.') {
		r.at++
	}
	r.operand = true
	return r.at+1 == len(r.text) || !isNameByte(r.text[r.at+1]) // 1system() is two words
}

func (r *awkReader) name() bool {
	end := r.at
	for end < len(r.text) && (isNameByte(r.text[end]) || isDigit(r.text[end], 10)) {
		end++
	}
	r.word, r.at = r.text[r.at:end], end-1
	if r.word == "print" || r.word == "printf" {
		r.printing, r.depth = true, 0
	}
	r.operand = !slices.Contains(awkKeywords, r.word)
	return !slices.Contains(awkWords, r.word)
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

var toStandardError = lazyregexp.New(`^>>?[ \t]*"/dev/stderr"[ \t]*(?:[;}\n]|$)`)

func isNameByte(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// awkExpression finds regular expressions in an awk program.
var awkExpression = lazyregexp.New(`/([^/\s]+(?: [^/\s]+)*)/`)

// awk follows an awk program: system() and pipes run commands, > writes files.
func (s *toolScript) awk() {
	text := s.w.Text
	for _, found := range awkExpression.FindAllStringSubmatch(text, 8) {
		s.seeks(found[1])
	}
	if isAwkProgram(text) {
		return
	}
	tokens := lexCode("awk", text)
	s.doubt(DoubtCode, "the awk program is not read in full")
	if strings.Contains(text, `"/inet`) {
		s.doubt(DoubtEval, "awk runs what another machine sends")
	}
	for i, t := range tokens {
		if t.kind != tokenString {
			if t.text == "@" && i+1 < len(tokens) && tokens[i+1].text != "include" {
				s.doubt(DoubtEval, "awk calls a function whose name is made when it runs, or loads one")
			}
			if t.kind == tokenName && t.text == "system" && (i+2 >= len(tokens) || tokens[i+2].kind != tokenString ||
				i+3 < len(tokens) && tokens[i+3].text != ")") {
				s.doubt(DoubtEval, "awk runs a command that is made when it runs")
			}
			continue
		}
		before, after := codeToken{}, codeToken{}
		if i > 0 {
			before = tokens[i-1]
		}
		if i+1 < len(tokens) {
			after = tokens[i+1]
		}
		switch {
		case before.text == "(" && i > 1 && tokens[i-2].text == "system", before.text == "|", before.text == "&" &&
			i > 1 && tokens[i-2].text == "|",
			after.text == "|":
			if strings.HasPrefix(t.text, "/inet") {
				s.effect(KindConnect, "host:"+hostOf(t.text), true)
				continue
			}
			s.nested("awk").line(t.text)
		case before.text == ">":
			s.path(KindWrite, Word{Text: t.text, Kind: Literal})
		case before.text == "<":
			s.path(KindRead, Word{Text: t.text, Kind: Literal})
		}
	}
	printing := false
	for i, t := range tokens { // print > FILE
		switch {
		case t.kind == tokenName && (t.text == "print" || t.text == "printf"):
			printing = true
		case t.kind == tokenMark && (t.text == ";" || t.text == "}" || t.text == "\n"):
			printing = false
		case printing && t.kind == tokenMark && (t.text == ">" || t.text == ">>") && i+1 < len(tokens):
			next := tokens[i+1]
			joined := i+2 < len(tokens) && (tokens[i+2].kind == tokenString || tokens[i+2].kind == tokenName)
			if next.kind != tokenString && next.text != ">" && next.text != "(" || next.kind == tokenString && joined {
				s.path(KindWrite, Word{Text: next.text + unknownPart, Kind: Unknown})
			}
		}
	}
	for i, t := range tokens { // a pipe to what is no string, or from it
		if t.text != "|" || t.kind != tokenMark || i == 0 || i+1 == len(tokens) {
			continue
		}
		before, after := tokens[i-1], tokens[i+1]
		if after.text == "getline" {
			after = before
			// "rm" " -rf src" | getline
			if i > 1 && (tokens[i-2].kind == tokenString || tokens[i-2].kind == tokenName) {
				after.kind = tokenName
			}
		} else if after.text == "|" || before.text == "|" {
			continue
		}
		if after.kind == tokenName || after.text == "(" || after.text == ")" || after.kind == tokenNumber {
			s.doubt(DoubtEval, "awk runs a command that is made when it runs")
		}
	}
}
