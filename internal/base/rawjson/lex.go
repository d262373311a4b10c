package rawjson

// Lexer steps through the brackets, strings and other values of JSON, or of
// several JSON values one after another, and says where each is. It checks no
// grammar: commas and colons are passed like blanks. It allocates nothing. Lex
// makes one.
//
//	l := rawjson.Lex(text)
//	for l.Next() {
//		switch l.Kind { … }
//	}
//	ok := l.AtEnd()
//
// Of valid JSON the tokens are the tokens of encoding/json's Decoder (FuzzLex).
type Lexer[T string | []byte] struct {
	Kind       TokenKind
	Start, End int // of the token in the source; a string's quotes are part of it

	src T
}

// TokenKind is the kind of a token: the bracket itself, or another kind.
type TokenKind byte

// Kinds of tokens that are no bracket.
const (
	KindKey    TokenKind = ':' // the name of a member: a string before a colon
	KindString TokenKind = '"' // any other string
	KindPlain  TokenKind = '0' // a number, true, false or null
)

// Lex returns a lexer before the first token of src.
func Lex[T string | []byte](src T) Lexer[T] { return Lexer[T]{src: src} }

// Next steps to the following token. It reports false at the end of the source,
// and at the first byte with which no token can begin.
func (l *Lexer[T]) Next() bool {
	l.Start = l.End
	for l.Start < len(l.src) && (isBlank(l.src[l.Start]) || l.src[l.Start] == ',' || l.src[l.Start] == ':') {
		l.Start++
	}
	l.End = l.Start
	if l.Start == len(l.src) {
		return false
	}
	switch c := l.src[l.Start]; c {
	case '{', '}', '[', ']':
		l.Kind, l.End = TokenKind(c), l.Start+1
	case '"':
		l.Kind, l.End = l.text()
	default:
		l.Kind, l.End = KindPlain, l.plain()
	}
	return l.End > l.Start
}

// AtEnd reports whether Next has passed all of the source.
func (l *Lexer[T]) AtEnd() bool { return l.End == len(l.src) && l.Start == l.End }

// text returns the kind and the end of the string that begins at Start; Start
// itself if the string does not end.
func (l *Lexer[T]) text() (TokenKind, int) {
	i := l.Start + 1
	for i < len(l.src) && l.src[i] != '"' {
		if l.src[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(l.src) {
		return KindString, l.Start
	}
	end := i + 1
	for i = end; i < len(l.src); i++ {
		if c := l.src[i]; c == ':' {
			return KindKey, end
		} else if !isBlank(c) {
			break
		}
	}
	return KindString, end
}

// plain returns the end of the number or word that begins at Start; Start itself
// if there is none.
func (l *Lexer[T]) plain() int {
	for _, word := range [...]string{"true", "false", "null"} {
		if end := l.Start + len(word); end <= len(l.src) && string(l.src[l.Start:end]) == word {
			return end
		}
	}
	i := l.Start
	for ; i < len(l.src); i++ {
		isExponent := l.src[i]|0x20 == 'e' && i > l.Start && isDigit(l.src[i-1])
		if c := l.src[i]; !isExponent && !isDigit(c) && c != '-' && c != '+' && c != '.' {
			break
		}
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
