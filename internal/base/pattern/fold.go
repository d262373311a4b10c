package pattern

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Fold is a pattern that matches whatever the letter case is, and whether an accent is a part of its letter or stands
// behind it, as file systems may take one for the other. The zero Fold matches nothing.
type Fold struct {
	Text         string // as it is written
	given, lower Pattern
}

// CompileFold compiles text like CompilePattern.
func CompileFold(text string, separators ...rune) (Fold, error) {
	given, err := Compile(text, separators...)
	if err != nil {
		return Fold{}, err
	}
	lower, err := Compile(folded(text), separators...)
	if err != nil {
		lower = given
	}
	return Fold{Text: text, given: given, lower: lower}, nil
}

// Match reports whether the pattern matches s as it is, or without its letter case.
func (f Fold) Match(s string) bool { return f.given.Match(s) || f.lower.Match(folded(s)) }

func folded(text string) string { return norm.NFC.String(strings.ToLower(text)) }

// Glob is the pattern as it is matched; Text is the spelling that people know.
func (f Fold) Glob() string { return f.given.Text }

// Texts are the patterns as they are written.
func Texts(patterns []Fold) (texts []string) {
	for _, f := range patterns {
		texts = append(texts, f.Text)
	}
	return texts
}

// MatchAny reports whether one of the patterns matches one of the texts.
func MatchAny(patterns []Fold, texts ...string) bool {
	return slices.ContainsFunc(patterns, func(f Fold) bool { return slices.ContainsFunc(texts, f.Match) })
}
