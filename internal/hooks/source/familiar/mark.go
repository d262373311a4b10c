package familiar

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// placeholder is {{name}} or {{name.part}}, blanks around the name allowed.
// Other text in double braces, such as docker's {{.Names}}, is no placeholder.
var placeholder = regexp.MustCompile(`\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+)*)[ \t]*\}\}`)

// mark is one placeholder of a script. While the script is parsed, one character takes
// its place: a character that is a letter of a word for every shell, and no part of a
// name or an operator.
type mark struct {
	char   rune
	name   string // of the variable
	text   string // as written, with its braces
	offset int    // in the script as written
}

// markLen is the length of every mark's character.
const markLen = 4

// firstMark begins the characters of marks: plane 16, which is for private use.
const firstMark = 0x100000

// maxMarks bounds the placeholders of one script.
const maxMarks = 1000

// markUp replaces the placeholders of script by characters that are not in it.
func markUp(script string) (text string, marks []mark, err error) {
	taken := map[rune]bool{}
	for _, r := range script {
		if r >= firstMark {
			taken[r] = true
		}
	}
	next := rune(firstMark)
	var out strings.Builder
	copied := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(script, -1) {
		for taken[next] {
			next++
		}
		if len(marks) == maxMarks || next > unicode.MaxRune {
			return "", nil, fmt.Errorf("more than %d placeholders", maxMarks)
		}
		marks = append(marks, mark{next, script[at[2]:at[3]], script[at[0]:at[1]], at[0]})
		out.WriteString(script[copied:at[0]])
		out.WriteRune(next)
		copied = at[1]
		next++
	}
	out.WriteString(script[copied:])
	return out.String(), marks, nil
}

// unmark puts the placeholders of all marks back.
func unmark(text string, marks []mark) string {
	for _, m := range marks {
		text = strings.ReplaceAll(text, string(m.char), m.text)
	}
	return text
}

// original turns an offset in a marked text into one in the script.
func original(offset int, marks []mark) int {
	for _, m := range marks {
		if m.offset >= offset {
			break
		}
		offset += len(m.text) - markLen
	}
	return max(offset, 0)
}

// position returns the line and column, from 1, of an offset in text. Columns
// count bytes, as those of a shell do.
func position(text string, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')
}

// clean returns a value that fits into an environment and that every program can read:
// it drops NUL, and each byte that is not UTF-8 becomes U+FFFD.
func clean(value string) string {
	if utf8.ValidString(value) && !strings.Contains(value, "\x00") {
		return value
	}
	return strings.Map(func(r rune) rune {
		if r == 0 {
			return -1
		}
		return r
	}, value)
}
