// Package wordwrap breaks lines of text between words. It loses no word, breaks none, nor a
// command in backquotes, which people copy, and does not fill short lines up. The columns of
// a text are its caller's to count, so that the bridge needs no table of wide characters.
package wordwrap

import "strings"

// Line returns a line, broken so that each of its lines has at most width columns. The text
// after the first break is indented by indent spaces. A word or command that is wider alone
// stays whole, on a line that is too wide.
func Line(line string, indent, width int, columns func(string) int) string {
	var b strings.Builder
	for columns(line) > width {
		at := breakAt(line, width, columns)
		if at < 0 {
			break
		}
		b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[at:], " ")
	}
	return b.String() + line
}

// breakAt returns the last space with at most width columns before it, the space behind
// the first word if that is wider, -1 if there is a single word.
func breakAt(line string, width int, columns func(string) int) int {
	at, begin := -1, len(line)-len(strings.TrimLeft(line, " "))
	inCommand := false
	for i := begin; i < len(line); i++ {
		switch {
		case line[i] == '`':
			inCommand = !inCommand && strings.Contains(line[i+1:], "`")
		case line[i] != ' ' || inCommand:
		case at >= 0 && columns(line[:i]) > width:
			return at
		default:
			at = i
		}
	}
	return at
}
