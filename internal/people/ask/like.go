package ask

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/facts"
)

// maxLike bounds a glob, in bytes.
const maxLike = 512

// checkLike returns the mistake in a glob for calls such as c; nil = none.
func checkLike(like string, c call) error {
	switch {
	case len(like) > maxLike:
		return fmt.Errorf("the glob is longer than %d bytes", maxLike)
	case !utf8.ValidString(like) || strings.ContainsFunc(like, unicode.IsControl):
		return errors.New("the glob has characters that no command has")
	case !c.like:
		return errors.New("it is not certain which of the call's arguments a glob would be about")
	}
	if c.shell {
		if words := strings.Fields(like); len(words) == 0 || strings.Contains(words[0], "*") {
			return errors.New("the glob must begin with the name of a program")
		}
		if _, err := facts.ParsePattern(like); err != nil {
			return fmt.Errorf("the glob fits no command: %w", err)
		}
		if c.alone == nil {
			return errors.New("a glob covers one command that hookd knows, with all of its words written out: " +
				"no second command, pipe, redirection, variable or pattern, and no doubt of `hookd facts`")
		}
	}
	if strings.Trim(like, "* ") == "" {
		return errors.New("the glob would cover every call")
	}
	if !fits(like, c) {
		return errors.New("the glob does not cover this call")
	}
	return nil
}

// fits reports whether a glob covers a call. A command line it covers as facts say, word by
// word: * is any text within one word, and a last word that is only * is one or more words.
// Only a line that is one command without doubt fits at all. On a path, an address or
// another text * is any text up to the next /, ** any text; in an address * also ends
// where another part of the address begins. A path that goes up fits nothing.
func fits(like string, c call) bool {
	switch {
	case !c.like:
		return false
	case c.shell:
		if c.alone == nil {
			return false
		}
		p, err := facts.ParsePattern(like)
		return err == nil && p.Covers(c.alone)
	}
	text, ends := c.lines[0], "/"
	if strings.ContainsFunc(text, unicode.IsControl) || slices.Contains(strings.Split(text, "/"), "..") {
		return false
	}
	if strings.Contains(text, "://") {
		ends = `/?#@:\`
	}
	return wild(like, text, ends)
}

// wild matches text with a glob, in which * is any text without a character of ends,
// and ** any text. It takes time in proportion to the product of their lengths.
func wild(glob, text, ends string) bool {
	at := make([]bool, len(text)+1) // the glob so far fits the text up to here
	at[0] = true
	for i := 0; i < len(glob); i++ {
		next := make([]bool, len(text)+1)
		if glob[i] != '*' {
			for j := range len(text) {
				next[j+1] = at[j] && text[j] == glob[i]
			}
			at = next
			continue
		}
		stops := ends
		if i+1 < len(glob) && glob[i+1] == '*' {
			stops = ""
			i++
		}
		for j, fit := range at {
			next[j] = fit || j > 0 && next[j-1] && strings.IndexByte(stops, text[j-1]) < 0
		}
		at = next
	}
	return at[len(text)]
}
