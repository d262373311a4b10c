package connect

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Found is an agent that is on this machine, and its sign: its program on
// PATH, else the folder of its settings.
type Found struct {
	Agent string `json:"agent"`
	By    string `json:"by"` // a path
}

// FindAgents returns the agents that are on this machine and that Connect can
// connect without a file named, sorted by name. Agent of the options is not
// used.
func FindAgents(o Options) (list []Found) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one only PATH is searched
	}
	for _, a := range agents() {
		if a.Manual != "" || a.Given {
			continue
		}
		if by := a.found(o); by != "" {
			list = append(list, Found{string(a.name), by})
		}
	}
	return list
}

// found is the program or folder that shows that an agent is here; "" = none.
func (a *agent) found(o Options) string {
	for _, name := range strings.Fields(a.Programs) {
		if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
			return path
		}
	}
	dir := a.folder(o)
	if a.Trace != "" && o.Getenv(a.DirEnv) == "" {
		dir = filepath.Join(o.Home, a.Trace)
	}
	if info, err := os.Stat(dir); o.Home != "" && err == nil && info.IsDir() && cmp.Or(a.Trace, a.Dir) != "" {
		return dir
	}
	return ""
}
