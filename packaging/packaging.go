// Package packaging holds the files that service managers need to run hookd for a user:
// systemd's units and launchd's agent, and writes them for one machine. All of them
// start `hookd serve`, start it again when it fails, and give running hooks their time
// when it stops. A value reaches a unit or property list only in that format's own
// quoting; a value that the format cannot hold is an error. The package touches no file
// and no service.
package packaging

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

// SystemdUnit, SystemdSocket and SystemdHardened are the user units for hookd
// at ~/.local/bin/hookd, and a drop-in with a stricter sandbox.
var (
	//go:embed systemd/hookd.service
	SystemdUnit string
	//go:embed systemd/hookd.socket
	SystemdSocket string
	//go:embed systemd/hardened.conf
	SystemdHardened string
)

//go:embed launchd/io.github.hookd.plist
var launchdAgent string

// Label is hookd's name among launchd's jobs.
const Label = "io.github.hookd"

// Mark stands in every file that Service writes; a file without it
// was written by another program or person.
const Mark = "Written by hookd install"

// Service has the values that differ from machine to machine. All paths are absolute.
type Service struct {
	Program   string     // hookd itself
	Socket    string     // where it listens
	Log       string     // launchd only: where its messages go
	Variables []Variable // of hookd and its hooks, PATH among them
	Hardened  bool       // systemd only: with the drop-in
}

// Variable is one of the environment.
type Variable struct{ Name, Value string }

// File is one file of a service.
type File struct {
	Name string // relative to where the service manager looks
	Text string
}

// SystemdFiles are the names of all files that Systemd may return.
var SystemdFiles = []string{"hookd.service", "hookd.socket", "hookd.service.d/hardened.conf"}

// Systemd returns the units, named relative to a folder of user units. A value with a
// control character in it, or that is no UTF-8, is an error, and so is a character that
// systemd does not take in a path.
func (s Service) Systemd() ([]File, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if strings.ContainsAny(s.Program, `\"'`) {
		return nil, fmt.Errorf("the program is %q: systemd takes no quotes and backslashes in its path", s.Program)
	}
	if strings.HasSuffix(s.Socket, `\`) {
		return nil, fmt.Errorf("socket %q ends with a backslash, which continues the line in a unit", s.Socket)
	}
	var environment strings.Builder
	for _, v := range s.Variables {
		environment.WriteString("Environment=" + quoted(v.Name+"="+v.Value) + "\n")
	}
	const start, listen = "ExecStart=%h/.local/bin/hookd serve\n", "ListenStream=%h/.librefang/hookd.sock\n"
	files := []File{
		{SystemdFiles[0], marked("hookd", strings.Replace(SystemdUnit, start,
			"ExecStart="+quoted(s.Program)+" serve\n"+environment.String(), 1))},
		{SystemdFiles[1], marked("hookd.socket", strings.Replace(SystemdSocket, listen,
			"ListenStream="+percent(s.Socket)+"\n", 1))},
	}
	if s.Hardened {
		files = append(files, File{SystemdFiles[2], marked("hookd", SystemdHardened)})
	}
	return files, nil
}

// marked puts the mark in place of the comment that the file begins with.
func marked(name, unit string) string {
	for strings.HasPrefix(unit, "#") {
		_, unit, _ = strings.Cut(unit, "\n")
	}
	return "# " + Mark + "; `hookd uninstall` removes it. What you add belongs in a\n# drop-in: systemctl --user edit " + name + "\n" + unit
}

// quoted is one word of a unit's line (systemd.syntax(7)). A dollar sign needs
// no care: the program of ExecStart= and Environment= know no variables.
func quoted(s string) string {
	return `"` + percent(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) + `"`
}

// percent keeps systemd from reading specifiers (systemd.unit(5)).
func percent(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// Launchd returns the agent's property list. Errors are as with Systemd.
func (s Service) Launchd() (File, error) {
	if err := s.check(); err != nil {
		return File{}, err
	}
	var text strings.Builder
	err := agent.Execute(&text, s)
	return File{Label + ".plist", text.String()}, err
}

var agent = template.Must(template.New("agent").Funcs(template.FuncMap{"xml": escapeXML}).Parse(launchdAgent))

func escapeXML(s string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(s))
	return b.String(), err
}

func (s Service) check() error {
	values := []Variable{{"the program", s.Program}, {"the socket", s.Socket}, {"the log", s.Log}}
	for _, v := range append(values, s.Variables...) {
		if !utf8.ValidString(v.Value) || strings.ContainsFunc(v.Value, unwritable) {
			return fmt.Errorf("%s is %q, which no unit file can hold", v.Name, v.Value)
		}
	}
	return nil
}

// unwritable holds for the characters that a line of a unit, or XML, cannot hold.
func unwritable(r rune) bool { return unicode.IsControl(r) || r == '\uFFFE' || r == '\uFFFF' }
