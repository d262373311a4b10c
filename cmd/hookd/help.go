package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/wordwrap"
)

const (
	pipeWidth = 80 // columns of help in a pipe
	leastHelp = 40 // help is never narrower, nor is a flag's text narrower than half of it
)

// help prints the purpose and arguments of a command, in the width of the terminal. Examples stay as
// they are, so that they can be copied.
func (a *app) help(cmd *cobra.Command, _ []string) {
	sayPaths(cmd.Root())
	width := max(cmp.Or(columnsOf(a.out), pipeWidth), leastHelp)
	about := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short))
	usage := cmd.UsageString()
	text := wrapText(about+"\n\n"+usage, width)
	if before, after, found := strings.Cut(usage, cmd.Example); found && cmd.HasExample() {
		text = wrapText(about+"\n\n"+before, width) + cmd.Example + wrapText(after, width)
	}
	_, _ = fmt.Fprint(a.out, text)
}

// wrapText breaks the lines of a text that are wider than width columns. A paragraph that has
// one is filled again; a line that is indented, or has two columns, goes on below where its text
// begins.
func wrapText(text string, width int) string {
	var b strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		n, wide := 0, false
		for i+n < len(lines) && isProse(lines[i+n]) {
			wide = wide || runewidth.StringWidth(lines[i+n]) > width
			n++
		}
		switch {
		case wide:
			b.WriteString(wordwrap.Line(strings.Join(lines[i:i+n], " "), 0, width, runewidth.StringWidth))
		case n > 0:
			b.WriteString(strings.Join(lines[i:i+n], "\n"))
		default:
			b.WriteString(wordwrap.Line(lines[i], hanging(lines[i], width), width, runewidth.StringWidth))
		}
		i += max(n, 1)
		if i < len(lines) {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// isProse is whether a line of help is one of a paragraph.
func isProse(line string) bool {
	return line != "" && line[0] != ' ' && !strings.Contains(line, "  ") && !strings.HasSuffix(line, ":")
}

// hanging returns where a line goes on when it is broken: below its second column, or a little
// further in than it begins.
func hanging(line string, width int) int {
	begin := len(line) - len(strings.TrimLeft(line, " "))
	if gap := strings.Index(line[begin:], "  "); gap >= 0 {
		rest := strings.TrimLeft(line[begin+gap:], " ")
		if at := runewidth.StringWidth(line[:len(line)-len(rest)]); rest != "" && width-at >= leastHelp/2 {
			return at
		}
	}
	return begin + between
}

// fillLines breaks each line of a text that is wider than width columns.
func fillLines(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = wordwrap.Line(line, 0, width, runewidth.StringWidth)
	}
	return strings.Join(lines, "\n")
}
