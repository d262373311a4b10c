package box

import (
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// Line is a shell line in a box, as an agent is given it.
type Line struct {
	Enter   string // "cd DIR && ", which the agent's own shell does; "" = nothing
	Bridge  string // path of hookd-bridge
	Profile string
	Ticket  string // id of the ticket
	Socket  string // of the hookd that has the ticket; "" = one that the bridge finds by itself
	Shell   string
	Plain   string // what the shell runs
}

// MaxLine is how long the line of a box may be, in bytes: the system takes no longer argument.
const MaxLine = 120 << 10

// String is the line; ReadLine reads it.
func (l Line) String() string {
	socket := ""
	if l.Socket != "" {
		socket = " --socket " + single(l.Socket)
	}
	return l.Enter + single(l.Bridge) + " box --profile " + l.Profile + " --call " + l.Ticket + socket + " -- " +
		l.Shell + " -c " + single(l.Plain)
}

// Whole is the line as the model wrote it.
func (l Line) Whole() string { return l.Enter + l.Plain }

func single(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

const (
	word   = `(?:'(?:[^']|'\\'')*'|[\w./~-]+)`
	folder = `(?:'[^']*'|"[^"$` + "`" + `\\!]*"|[\w./~][\w./~-]*)`
)

var (
	// boxed is a whole line that runs one box and does nothing else.
	boxed = lazyregexp.New(`(?s)^\s*(cd ` + folder + ` && )?(` + word + `) box --profile ([\w.-]+) --call ([\w-]+)` +
		`(?: --socket (` + word + `))? -- ` +
		`([\w./-]+) -c ('(?:[^']|'\\'')*'|[\w./-]+)\s*$`)
	enters = lazyregexp.New(`(?s)^\s*cd (` + folder + `) && (.+)$`)
)

// ReadLine reads a line that String has written; ok is false for any other.
func ReadLine(line string) (l Line, ok bool) {
	if !strings.Contains(line, " box --profile ") {
		return Line{}, false
	}
	m := boxed.FindStringSubmatch(line)
	if m == nil {
		return Line{}, false
	}
	l = Line{
		Enter: m[1], Bridge: unquote(m[2]), Profile: m[3], Ticket: m[4], Socket: unquote(m[5]),
		Shell: m[6], Plain: unquote(m[7]),
	}
	name := l.Bridge[strings.LastIndexByte(l.Bridge, '/')+1:]
	return l, name == "hookd-bridge"
}

func unquote(text string) string {
	if !strings.HasPrefix(text, "'") {
		return text
	}
	return strings.ReplaceAll(text[1:len(text)-1], `'\''`, "'")
}

// Enters splits `cd DIR && REST`: the agent's own shell keeps the folder for its next line. dir is
// "" where the line does not begin so, or the folder is not written out.
func Enters(line string) (dir, rest string) {
	m := enters.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(m[1], "~") && m[1] != "~" && !strings.HasPrefix(m[1], "~/") {
		return "", line
	}
	dir = m[1]
	if dir[0] == '\'' || dir[0] == '"' {
		if dir = dir[1 : len(dir)-1]; dir == "" || dir[0] == '~' {
			return "", line
		}
	}
	if dir == "-" {
		return "", line
	}
	return dir, m[2]
}
