package shellsafe

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var errComment = errors.New("a # within a word is read as a comment")

// parse parses a line as one shell reads it. Within parentheses the parser takes a #
// behind a quote or an expansion for a comment, as in (echo 'a'#; rm b), where shells
// go on: such a line is an error, so that nothing behind the # is missed.
func parse(text string, lang syntax.LangVariant) (*syntax.File, error) {
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	if err != nil || !strings.Contains(text, "#") {
		return file, err
	}
	noted, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	syntax.Walk(noted, func(node syntax.Node) bool {
		if c, is := node.(*syntax.Comment); is && !beginsWord(text, int(c.Hash.Offset())) {
			err = errComment
		}
		return true
	})
	return file, err
}

// beginsWord reports whether a shell certainly begins a word at an offset of text:
// behind ) or ` a word may go on, as in $(a)#.
func beginsWord(text string, at int) bool {
	before := text[:min(at, len(text))]
	if before == "" {
		return true
	}
	if strings.HasSuffix(before, "\\\n") { // the line goes on, and so may the word
		return false
	}
	return strings.IndexByte(" \t\n;&|(<>", before[len(before)-1]) >= 0
}
