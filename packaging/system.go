package packaging

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// SystemUnit and SystemSocket are the units that systemd needs to run the system daemon
// of /usr/bin/hookd.
var (
	//go:embed systemd/system/hookd.service
	SystemUnit string
	//go:embed systemd/system/hookd.socket
	SystemSocket string
)

//go:embed launchd/io.github.hookd.system.plist
var launchdDaemon string

// SystemLabel is the system daemon's name among launchd's jobs.
const SystemLabel = Label + ".system"

var daemon = template.Must(template.New("daemon").Funcs(template.FuncMap{"xml": escapeXML}).Parse(launchdDaemon))

// SystemSystemd returns the units of the system daemon, named relative to a folder of
// system units. Errors are as with Systemd.
func (s Service) SystemSystemd() ([]File, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if strings.ContainsAny(s.Program, `\"'`) {
		return nil, fmt.Errorf("the program is %q: systemd takes no quotes and backslashes in its path", s.Program)
	}
	unit := strings.Replace(SystemUnit, "ExecStart=/usr/bin/hookd ", "ExecStart="+quoted(s.Program)+" ", 1)
	mark := strings.NewReplacer("hookd uninstall`", "sudo hookd uninstall --system`", "systemctl --user", "sudo systemctl")
	return []File{
		{"hookd.service", mark.Replace(marked("hookd", unit))},
		{"hookd.socket", mark.Replace(marked("hookd.socket", SystemSocket))},
	}, nil
}

// SystemLaunchd returns the property list of the system daemon. Errors are as with
// Systemd.
func (s Service) SystemLaunchd() (File, error) {
	if err := s.check(); err != nil {
		return File{}, err
	}
	var text strings.Builder
	err := daemon.Execute(&text, s)
	return File{SystemLabel + ".plist", text.String()}, err
}
