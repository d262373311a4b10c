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
