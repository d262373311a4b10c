package catalog

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// Description has the facts that a person should know about a hook that others wrote before it
// may run.
type Description struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Events      []string `json:"events"`
	CanDeny     bool     `json:"can_deny"`
	Runs        string   `json:"runs"`                  // command or script, as it is written
	Interpreter string   `json:"interpreter,omitempty"` // of a script
	Needs       []Need   `json:"needs,omitempty"`
	Settings    []string `json:"settings,omitempty"` // variables, and what it changes of the defaults
	Problems    []string `json:"problems,omitempty"`
}

// Need is a program that a hook calls by its name.
type Need struct {
	Program string `json:"program"`
	Path    string `json:"path,omitempty"` // "" = it is not on PATH
}

// maxProgram is how much of a program is read to see which programs it calls.
const maxProgram = 256 << 10

// Describe describes h and its effects, from its files alone.
func Describe(c config.Config, h *hook.Hook) Description {
	d := Description{Name: h.Name, Description: h.Description, CanDeny: h.IsGuard(), Runs: h.Command}
	for _, p := range h.Patterns {
		d.Events = append(d.Events, p.Text)
	}
	var programs []string
	switch h.Type {
	case hook.Command:
		d.Runs = strings.Join(append([]string{inFolder(h, h.Path)}, h.Args...), " ")
		if !strings.Contains(h.Command, "/") && !strings.HasPrefix(h.Path, h.Dir+"/") {
			programs = append(programs, filepath.Base(h.Path))
		}
		d.Interpreter, programs = interpreter(h, programs)
	case hook.Script:
		d.Runs, d.Interpreter = h.ScriptText, h.Shell
		programs = trust.Commands(h.ScriptText)
	case hook.Builtin:
		d.Runs = strings.Join(append([]string{"built-in " + h.Command}, h.Args...), " ")
	case hook.Rules:
		d.Runs = fmt.Sprintf("rules (%d), without a program", len(h.Rules.Rules))
	case hook.Model:
		d.Runs = "model " + h.Model + ": " + h.Prompt
	}
	for _, name := range programs {
		d.Needs = append(d.Needs, Need{name, onPath(name, cmp.Or(c.Path, os.Getenv("PATH")))})
	}
	d.Settings = settingsOf(h)
	for _, p := range h.Problems {
		d.Problems = append(d.Problems, p.Message)
	}
	return d
}

func inFolder(h *hook.Hook, path string) string {
	if rest, ok := strings.CutPrefix(path, h.Dir+"/"); ok {
		return rest
	}
	return path
}

// interpreter reads the #! line of the hook's program, and the programs that a shell script
// calls.
func interpreter(h *hook.Hook, programs []string) (name string, needs []string) {
	text, err := readfile.Read(h.Path, maxProgram)
	line, ok := strings.CutPrefix(string(text), "#!")
	if err != nil || !ok {
		return "", programs
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if len(words) == 0 {
		return "", programs
	}
	shell := filepath.Base(words[0])
	if shell == "env" {
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
				shell, programs = word, append(programs, word)
				break
			}
		}
	}
	if slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "zsh"}, shell) {
		programs = append(programs, trust.Commands(string(text))...)
	}
	slices.Sort(programs)
	return strings.Join(words, " "), slices.Compact(programs)
}

func onPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// settingsOf lists the settings of a hook that a person may want to set or know.
func settingsOf(h *hook.Hook) (list []string) {
	list = append(list, h.Env...)
	if h.MatcherText != "" {
		list = append(list, "matcher: "+h.MatcherText)
	}
	if len(h.Filter.Tools) > 0 {
		list = append(list, "only tools "+strings.Join(h.Filter.Tools, ", "))
	}
	if h.Timeout != hook.DefaultTimeout {
		list = append(list, "timeout: "+h.Timeout.String())
	}
	if h.Scope != hook.ScopeLocal {
		list = append(list, "scope: "+h.Scope.Text()+", its events leave the machine")
	}
	if h.Persistent {
		list = append(list, "mode: persistent")
	}
	if h.WorkingDir != "" {
		list = append(list, "working_dir: "+h.WorkingDir)
	}
	return list
}
