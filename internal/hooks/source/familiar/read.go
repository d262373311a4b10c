// Package familiar reads the hooks in the front matter of Familiar's AGENT.md files,
// and makes their scripts safe to run: a value of an event never becomes shell text,
// wherever in the script its placeholder is.
//
// It ignores the rest of the front matter and the body, which is the agent's prompt.
// Hooks are in file order and belong to the agent that the file names. One error
// rejects the whole file; the caller retains the last good version. The package
// executes nothing.
package familiar

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
	"gopkg.in/yaml.v3"
)

// SourceType is the type of this source in hookd.yaml and in hook.Source.
const SourceType = "familiar"

// maxHooks bounds the hooks of one file: aliases can multiply them.
const maxHooks = 1000

// Options say how hooks run. The zero value works.
type Options struct {
	Shell string // absolute path; "" = /bin/sh
	Home  string // what ~ in a workspace filter stands for; "" = the user's

	AgentTimeout time.Duration // deadline of agent actions that set none; 0 = as of scripts
}

// Parse returns the hooks of the text of the AGENT.md file at path, in file
// order. It also returns their problems. path is absolute. If any of the
// problems is not a warning, there are no hooks. A file without front matter or
// without hooks has neither.
func Parse(path string, text []byte, opt Options) ([]*hook.Hook, []hook.Problem) {
	if opt.Shell == "" {
		opt.Shell = "/bin/sh"
	}
	if opt.Home == "" {
		opt.Home, _ = os.UserHomeDir() // without one, ~ stays ~ and matches nothing
	}
	r := &reader{opt: opt, lines: strings.Split(string(text), "\n")}
	r.Path, r.Lines = path, len(r.lines)
	if root := r.document(text); root != nil {
		r.file(root)
	}
	if hook.Rejects(r.Problems) {
		return nil, r.Problems
	}
	return r.hooks, r.Problems
}

// reader collects the hooks and problems of one file.
type reader struct {
	yamlnode.Reader
	opt   Options
	lines []string // of the file
	name  string   // of the agent
	hooks []*hook.Hook
}

func (r *reader) warnf(n *yaml.Node, hint, format string, args ...any) {
	r.Problem(n, hook.Problem{Message: fmt.Sprintf(format, args...), Hint: hint, Warning: true})
}

// document returns the root of the front matter; nil without any, or after a
// problem.
func (r *reader) document(text []byte) *yaml.Node {
	matter, line, found := frontMatter(text)
	if !found {
		if line > 0 {
			r.Problems = append(r.Problems, hook.Problem{File: r.Path, Line: line, Column: 1,
				Message: "the front matter has no end", Hint: "close it with a line that holds only ---"})
		}
		return nil
	}
	return r.Document(matter, "", "a second YAML document in the front matter")
}

// frontMatter returns the text between the first two lines ---, after an empty line
// in place of the first, so that line numbers stay right. If found is false, a line
// that is not 0 is where a front matter begins that does not end.
func frontMatter(text []byte) (matter []byte, line int, found bool) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	first, rest, more := bytes.Cut(text, []byte("\n"))
	if !fence(first) || !more {
		return nil, 0, false
	}
	for at := 0; at < len(rest); {
		next := bytes.IndexByte(rest[at:], '\n') + 1
		if next == 0 {
			next = len(rest) - at
		}
		if fence(rest[at : at+next]) {
			return append([]byte("\n"), rest[:at]...), 1, true
		}
		at += next
	}
	return nil, 1, false
}

func fence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r\n")) == "---" }

// file reads the agent's name and its hooks.
func (r *reader) file(root *yaml.Node) {
	if yamlnode.IsNull(root) {
		return
	}
	if root.Kind != yaml.MappingNode {
		r.Errorf(root, "the front matter must be a mapping")
		return
	}
	hooks := r.Lookup(root, "hooks")
	if hooks == nil || yamlnode.IsNull(hooks) {
		return
	}
	if hooks.Kind != yaml.SequenceNode {
		r.Errorf(hooks, "hooks must be a list")
		return
	}
	if len(hooks.Content) > maxHooks {
		r.Errorf(hooks, "more than %d hooks", maxHooks)
		return
	}
	r.agent(root, hooks)
	for i, item := range hooks.Content {
		r.hook(i, yamlnode.Resolve(item))
	}
}

// agent reads the name that the file's hooks are bound to.
func (r *reader) agent(root, hooks *yaml.Node) {
	name := r.Lookup(root, "name")
	switch {
	case len(hooks.Content) == 0:
	case name == nil || yamlnode.IsNull(name):
		r.Problem(hooks, hook.Problem{
			Message: "name is required in the front matter",
			Hint:    "hooks run for the agent of that name only",
		})
	case name.Kind != yaml.ScalarNode || strings.TrimSpace(name.Value) == "":
		r.Errorf(name, "name must be the agent's name")
	default:
		r.name = name.Value
	}
}

// at turns a place in a script or prompt into one in the file. In a block of lines
// (|) it is exact; elsewhere it is the beginning of the text.
func (r *reader) at(n *yaml.Node, script string, p hook.Problem) hook.Problem {
	line := n.Line + p.Line // the text begins in the line after the |
	if n.Style&yaml.LiteralStyle != 0 && line <= len(r.lines) && p.Line > 0 {
		inFile := strings.TrimRight(r.lines[line-1], "\r")
		inScript := strings.Split(script, "\n")[p.Line-1]
		if indent, ok := strings.CutSuffix(inFile, inScript); ok {
			p.Line, p.Column = line, p.Column+len(indent)
			return p
		}
	}
	p.Line, p.Column = n.Line, n.Column
	return p
}
