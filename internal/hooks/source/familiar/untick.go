package familiar

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// untick turns every `…` that holds a mark into $(…). There quotes and backslashes
// have the same meaning as everywhere else. It returns the tree of the new text,
// nil after a problem.
func (c *compiler) untick(file *syntax.File) *syntax.File {
	for {
		ticks, outside := c.ticked(file)
		if ticks == nil {
			return file
		}
		from, to := span(ticks)
		inner, ok := unescapeTicks(c.text[from:to], outside)
		if !ok {
			c.errorf(from, "placeholders cannot stand in these backquotes: write $(…) instead of `…`")
			return nil
		}
		c.text = c.text[:from] + "$(" + inner + ")" + c.text[to:]
		if file = c.parse(); file == nil {
			return nil
		}
	}
}

// ticked finds an outermost command substitution in backquotes that holds a
// mark, and the substitution's surroundings.
func (c *compiler) ticked(file *syntax.File) (found *syntax.CmdSubst, outside around) {
	c.walk(file, func(path []syntax.Node) {
		if s, ok := path[len(path)-1].(*syntax.CmdSubst); ok && found == nil && s.Backquotes && len(c.marksIn(s)) > 0 {
			found, outside = s, enclosing(path)
		}
	})
	return found, outside
}

// unescapeTicks returns the command in a text of the form `…`: backslashes
// before $, ` and \ go, and within double quotes those before " as well. Not
// ok means that shells may disagree about it.
func unescapeTicks(text string, outside around) (command string, ok bool) {
	if len(text) < 2 || text[0] != '`' || text[len(text)-1] != '`' {
		return "", false
	}
	text = text[1 : len(text)-1]
	if outside == aroundHeredoc && strings.Contains(text, `\`) {
		return "", false
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '`':
			return "", false
		case text[i] != '\\':
		case i+1 == len(text):
			return "", false
		case strings.IndexByte("$`\\", text[i+1]) >= 0 || text[i+1] == '"' && outside == aroundDouble:
			i++
		default: // the backslash stays, and so does what it quotes
			out.WriteByte(text[i])
			i++
		}
		out.WriteByte(text[i])
	}
	return separated(out.String()), true
}

// separated adds the characters that keep a command apart from the parentheses around it.
func separated(command string) string {
	if strings.HasPrefix(command, "(") {
		command = " " + command
	}
	if strings.Contains(command, "#") || strings.Contains(command, "<<") {
		command += "\n" // it may end in a comment or a here-document
	}
	return command
}
