package facts

import (
	"errors"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

var (
	errComment   = errors.New("a comment is read in another way than shells do")
	errBackquote = errors.New("a ` stands within another")
)

// parsers are pools of shell parsers, several KiB each; noters keep comments, too.
var parsers, noters = map[syntax.LangVariant]*sync.Pool{}, map[syntax.LangVariant]*sync.Pool{}

func init() {
	for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangZsh, syntax.LangPOSIX} {
		parsers[lang] = &sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(lang)) }}
		noters[lang] = &sync.Pool{New: func() any {
			return syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true))
		}}
	}
}

func parseBy(pool *sync.Pool, text string) (*syntax.File, error) {
	p := pool.Get().(*syntax.Parser)
	defer pool.Put(p)
	return p.Parse(strings.NewReader(text), "")
}

// parse parses a line as one shell reads it, and fails where the parser is known to
// read it in another way, so that nothing is missed:
//   - Within parentheses it takes a # behind a quote or an expansion for a comment, as
//     in (echo 'a'#; rm b), where shells go on.
//   - It takes a \ at the end of a comment for a line that goes on.
//   - In a substitution by ` within another it takes backslashes away in another order.
func parse(text string, lang syntax.LangVariant) (*syntax.File, error) {
	file, err := parseBy(parsers[lang], text)
	if err != nil {
		return file, err
	}
	if strings.Contains(text, "\\`") && nestsBackquotes(file, text) {
		return nil, errBackquote
	}
	if !strings.Contains(text, "#") {
		return file, nil
	}
	noted, err := parseBy(noters[lang], text)
	if err != nil {
		return nil, err
	}
	syntax.Walk(noted, func(node syntax.Node) bool {
		if c, is := node.(*syntax.Comment); is && !isComment(text, int(c.Hash.Offset())) {
			err = errComment
		}
		return true
	})
	return file, err
}

// tooNested reports whether a text joins too many commands, or nests brackets or compound
// commands deeper than a person does: a parser calls itself for each.
func tooNested(text string) bool {
	if len(text) < 2*maxNesting {
		return false
	}
	depth, joints, index := 0, 0, 0
	for i := range len(text) {
		switch text[i] { // the parser tries an index in several ways, each index in it again
		case '[':
			if index++; index > maxIndex {
				return true
			}
		case ']':
			index = max(0, index-1)
		case ' ', '\n', ';', '"', '\'':
			index = 0
		}
		switch text[i] {
		case ';', '|', '&':
			if joints++; joints > maxSteps {
				return true
			}
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		if depth > maxNesting {
			return true
		}
	}
	depth = 0
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(" \t\n;&|(", c) }) {
		switch word {
		case "if", "while", "until", "for", "case", "select":
			depth++
		case "fi", "done", "esac":
			depth = max(0, depth-1)
		}
		if depth > maxNesting {
			return true
		}
	}
	return false
}

// nestsBackquotes reports whether a substitution by ` may have another in it.
func nestsBackquotes(file *syntax.File, text string) (nests bool) {
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, is := node.(*syntax.CmdSubst); is && c.Backquotes {
			from, to := int(c.Left.Offset()), int(c.Right.Offset())
			nests = nests || to > len(text) || from > to || strings.Contains(text[from:to], "\\`")
		}
		return !nests
	})
	return nests
}

// isComment reports whether a shell certainly reads a comment at an offset of text, and
// ends it where the parser does.
func isComment(text string, at int) bool {
	line, _, _ := strings.Cut(text[min(at, len(text)):], "\n")
	return beginsWord(text, at) && !strings.HasSuffix(line, `\`)
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
