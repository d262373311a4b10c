package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/internal/base/wordwrap"
)

const (
	pipeWidth  = 80 // columns of help in a pipe
	leastHelp  = 40 // help is never narrower, nor is a flag's text narrower than half of it
	helpLines  = 25 // of --help, at 80 columns
	helpAbout  = 6  // lines about a command in --help
	groupAbout = 3  // the same, of a command with commands below it
	helpNames  = 28 // columns for the names of flags in --help
	frame      = 5  // lines of --help around its parts: about's first, two empty, usage, the end
)

// printHelp prints the purpose of a command, on one screen. A word that is no command below it is an error, as
// it is without --help.
func printHelp(a *app, cmd *cobra.Command, _ []string) {
	if words := cmd.Flags().Args(); len(words) > 0 && cmd.HasSubCommands() {
		if a.unknown = noSuchBelow(cmd, words); a.unknown != nil {
			return
		}
	}
	sayPaths(cmd.Root())
	_, _ = fmt.Fprint(a.out, shortHelp(cmd, max(cmp.Or(columnsOf(a.out), pipeWidth), leastHelp)))
}

// noSuchBelow is the error for words that cmd would not take as arguments; nil where it takes them.
func noSuchBelow(cmd *cobra.Command, words []string) error {
	if cmd.Args == nil {
		return noSuch(cmd, words)
	}
	return cmd.Args(cmd, words)
}

// shortHelp is the help of a command in at most helpLines lines, where a terminal has 80 columns or more:
// all commands below it, its first examples, its flags in a line each. Flags without room are named.
func shortHelp(cmd *cobra.Command, width int) string {
	most, least := helpAbout, 2 // lines about it, and examples
	if cmd.HasAvailableSubCommands() {
		most, least = groupAbout, 1
	}
	about := beginning(cmp.Or(cmd.Long, cmd.Short+"."), most, width)
	end := fillLines("The whole help, also --json, -o csv, --socket: `hookd help "+
		strings.TrimPrefix(cmd.CommandPath(), "hookd ")+"`", width)
	commands, examples, flags := commandLines(cmd), exampleLines(cmd), flagLines(cmd)
	room := helpLines - strings.Count(about+end, "\n") - frame
	if len(commands) > 0 {
		room -= len(commands) + 1
	}
	shown := 0
	if room > 2 {
		shown = min(len(examples), max(least, room-len(flags)-2), room-1)
		for shown > 0 && strings.HasSuffix(examples[shown-1], "\\") { // it goes on
			shown--
		}
		room -= shown + min(shown, 1)
	}
	if len(flags) > 0 {
		flags = shortened(flags, max(room-1, 0), width)
	}
	parts := []string{about + "\n", "Usage: " + usageLine(cmd)}
	for _, lines := range [][]string{commands, examples[:shown], flags} {
		if len(lines) > 0 {
			parts = append(parts, "")
		}
		for _, line := range lines {
			parts = append(parts, cutWords(line, width))
		}
	}
	return strings.Join(append(parts, "", end), "\n") + "\n"
}

// beginning is as much of the first paragraph of a text as ends with a sentence and fits most lines.
func beginning(text string, most, width int) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	first = strings.Join(strings.Fields(first), " ")
	fill := func(text string) string { return fillLines(text, width) }
	for strings.Count(fill(first), "\n") >= most {
		at := strings.LastIndex(first[:len(first)-1], ". ")
		if at < 0 {
			break
		}
		first = first[:at+1]
	}
	return fill(first)
}

// usageLine is how a command is typed.
func usageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() && len(strings.Fields(cmd.Use)) == 1 {
		return cmd.CommandPath() + " [COMMAND]"
	}
	return cmd.UseLine()
}

func commandLines(cmd *cobra.Command) (lines []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			lines = append(lines, fmt.Sprintf("  %-*s %s", cmd.NamePadding()-1, sub.Name(), sub.Short))
		}
	}
	return lines
}

func exampleLines(cmd *cobra.Command) (lines []string) {
	for line := range strings.Lines(cmd.Example) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// flagLines has a line for each of the command's own flags, with its purpose behind its name: the folder of
// hooks, which many commands take, comes last.
func flagLines(cmd *cobra.Command) (lines []string) {
	var names, says []string
	wide := 0
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name + strings.TrimRight(" "+value, " ")
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		names, says = append(names, name), append(says, usage)
		wide = max(wide, len(name))
	})
	var rare []string
	for i, name := range names {
		line := fmt.Sprintf("  %-*s  %s", min(wide, helpNames), name, says[i])
		if strings.HasPrefix(name, "--hooks-dir ") {
			rare = append(rare, line)
			continue
		}
		lines = append(lines, line)
	}
	return append(lines, rare...)
}

// shortened is the lines of flags in room lines: where there are more, the last ones name the other flags.
func shortened(lines []string, room, width int) []string {
	if len(lines) <= room {
		return lines
	}
	keep := max(room-3, 0)
	var names []string
	for _, line := range lines[keep:] {
		name, _, _ := strings.Cut(line[strings.Index(line, "--"):], " ")
		names = append(names, name)
	}
	rest := hangLines("  also: "+strings.Join(names, " "), len("  also: "), width-2)
	more := strings.Split(rest, "\n")
	if len(more) > room-keep {
		if more = more[:max(room-keep, 0)]; len(more) > 0 {
			more[len(more)-1] += " …"
		}
	}
	return append(lines[:keep:keep], more...)
}

// cutWords ends a line that is wider than width columns between two words.
func cutWords(line string, width int) string {
	if runewidth.StringWidth(line) <= width {
		return line
	}
	line = runewidth.Truncate(line, width-2, "")
	if at := strings.LastIndexByte(line, ' '); at > 0 {
		line = line[:at]
	}
	at := max(strings.LastIndex(line, ", "), strings.LastIndex(line, "; "), strings.LastIndex(line, ": "))
	if open := strings.LastIndex(line, " ("); open > strings.LastIndex(line, ")") {
		at = open // brackets go as a whole
	}
	if at > 2*width/3 || at > width/2 && line[at+1] == '(' {
		return strings.TrimRight(line[:at], " ,;:(") // a clause less reads better than half of one
	}
	return strings.TrimRight(line, " ,;:(") + " …"
}

// wholeHelp prints all that is known of a command, in the width of the terminal. Examples stay as
// they are, so that they can be copied.
func wholeHelp(a *app, cmd *cobra.Command) {
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
			b.WriteString(fillLines(strings.Join(lines[i:i+n], " "), width))
		case n > 0:
			b.WriteString(strings.Join(lines[i:i+n], "\n"))
		default:
			b.WriteString(hangLines(lines[i], hanging(lines[i], width), width))
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
func fillLines(text string, width int) string { return hangLines(text, 0, width) }

// hangLines is fillLines that indents all behind the first break of a line.
func hangLines(text string, indent, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = wordwrap.Line(line, indent, width, seenColumns)
	}
	return strings.Join(lines, "\n")
}
