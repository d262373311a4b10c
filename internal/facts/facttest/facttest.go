// Package facttest is the evidence for guards: attacks by class, harmless calls of real agents,
// a jail that shows the harm of an attack, and a judge that counts a guard's answers to both.
//
// An attack is believed only if the jail has seen its proof. A line runs in name spaces of its
// own: another root in memory, no network but its own loopback, and nothing of the machine that
// can be written. The jail needs Linux, user name spaces and a merged /usr; without these its tests skip.
// It is for tests only.
package facttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Attack is a call that a guard must not let pass.
type Attack struct {
	Class string         `yaml:"-"`               // the name of its file
	Line  string         `yaml:"line,omitempty"`  // a shell line; "" = Tool and Input
	Tool  string         `yaml:"tool,omitempty"`  // the agent's tool; "" = Bash
	Input map[string]any `yaml:"input,omitempty"` // the tool's input
	Stdin string         `yaml:"stdin,omitempty"` // typed later into a program that the line leaves open
	Does  string         `yaml:"does"`            // the kind of its effect and the target
	// Proof names the evidence that the jail must see, each of these:
	//   gone, made, changed   a path; ~ is the home, a relative path is in the project
	//   ran                   a program that the line fetched, made or was given did run
	//   sent                  a host that got a connection
	//   told                  a text that a client of another system was given
	//   printed               a text of the output
	//   killed                a process that ended
	//   history               a git ref whose commit is lost, or reflog, or objects
	//   pushed                a ref of a remote repository that has changed
	//   any                   one of these, whichever: a file that is not as it was, a stand-in that was called, …
	//   static                no proof: the reason why it cannot run here
	Proof map[string]string `yaml:"proof"`
}

// Harmless is a call that a guard must not hold up.
type Harmless struct {
	File    string         `yaml:"-"`
	From    string         `yaml:"from"` // the agent that made the call, or calls like it
	Line    string         `yaml:"line,omitempty"`
	Tool    string         `yaml:"tool,omitempty"`
	Input   map[string]any `yaml:"input,omitempty"`
	Unknown bool           `yaml:"unknown,omitempty"` // it runs code of the project: it may be contained
}

// TestCall is the call that a guard is asked about.
type TestCall struct {
	Tool  string
	Input map[string]any
	Cwd   string
}

// Home and Project are the places of the user in the jail and in all calls.
const (
	Home    = "/home/me"
	Project = Home + "/project"
)

// Call returns the call that a guard sees.
func (a Attack) Call() TestCall { return callOf(a.Line, a.Tool, a.Input) }

// Call returns the call that a guard sees.
func (h Harmless) Call() TestCall { return callOf(h.Line, h.Tool, h.Input) }

func callOf(line, tool string, input map[string]any) TestCall {
	if line != "" {
		tool, input = "Bash", map[string]any{"command": line}
	}
	return TestCall{tool, input, Project}
}

// Text is the call on one line, for people.
func (c TestCall) Text() string {
	text, isLine := c.Input["command"].(string)
	if !isLine || c.Tool != "Bash" {
		text = fmt.Sprint(c.Tool, " ", c.Input)
	}
	return strings.ReplaceAll(text, "\n", "␤")
}

// Attacks reads the files of a folder, *.yaml, in the order of their names.
func Attacks(dir string) ([]Attack, error) {
	return read(dir, func(a *Attack, name string) error {
		a.Class = name
		if (a.Line == "") == (a.Tool == "") || a.Does == "" || len(a.Proof) == 0 {
			return fmt.Errorf("needs line or tool, does and proof: %q", a.Call().Text())
		}
		return nil
	})
}

// HarmlessCalls reads the files of a folder, *.yaml, in the order of their names.
func HarmlessCalls(dir string) ([]Harmless, error) {
	return read(dir, func(h *Harmless, name string) error {
		h.File = name
		if (h.Line == "") == (h.Tool == "") || h.From == "" {
			return fmt.Errorf("needs line or tool, and from: %q", h.Call().Text())
		}
		return nil
	})
}

func read[T any](dir string, check func(*T, string) error) (all []T, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var list []T
		if err := yaml.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for i := range list {
			if err := check(&list[i], name); err != nil {
				return nil, fmt.Errorf("%s: entry %d: %w", file, i+1, err)
			}
		}
		all = append(all, list...)
	}
	return all, nil
}

// path is the absolute form of a path of a proof or a tool.
func path(text string) string {
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		return Home + text[1:]
	case filepath.IsAbs(text):
		return filepath.Clean(text)
	}
	return filepath.Join(Project, text)
}
