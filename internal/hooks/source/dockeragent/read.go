// Package dockeragent reads the hooks of a docker-agent configuration file: the
// hooks: block of every agent in it, in file order. It ignores the rest of the file;
// inside hooks: it is strict, as docker-agent is, because a misspelled guard guards
// nothing.
//
// One error rejects the whole file; the caller retains the last good version. A hook
// that this version cannot run is skipped with a warning. The package executes
// nothing and expands no variable.
package dockeragent

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
	"gopkg.in/yaml.v3"
)

// SourceType is the type of this source in hookd.yaml and in hook.Source.
const SourceType = "docker-agent"

// maxHooks bounds the hooks of one file: aliases can multiply them.
const maxHooks = 10_000

// Options say how hooks run. The zero value works.
type Options struct {
	Shell string // absolute path; "" = $SHELL, else /bin/sh
}

func (o Options) shell() string {
	if o.Shell != "" {
		return o.Shell
	}
	if sh := os.Getenv("SHELL"); filepath.IsAbs(sh) {
		return sh
	}
	return "/bin/sh"
}

// Parse returns the hooks of all agents in the text of the file at path, in
// file order. It also returns their problems. path is absolute. If any of the
// problems is not a warning, there are no hooks.
func Parse(path string, text []byte, opt Options) ([]*hook.Hook, []hook.Problem) {
	r := &reader{shell: opt.shell(), numbers: map[string]int{}}
	r.Path, r.Lines = path, bytes.Count(text, []byte("\n"))+1
	root := r.Document(text, "the file is empty", "a second YAML document: one file is one configuration")
	if root != nil {
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
	shell   string
	hooks   []*hook.Hook
	count   int            // hooks read, also those that were skipped
	numbers map[string]int // hooks made, by agent and event
}

// file reads agents.*.hooks.
func (r *reader) file(root *yaml.Node) {
	agents := r.Lookup(root, "agents")
	if agents == nil {
		r.Problem(root, hook.Problem{Message: "no agents in this file, so no hooks", Warning: true})
		return
	}
	if agents.Kind != yaml.MappingNode {
		r.Errorf(agents, "agents must be a mapping of names to agents")
		return
	}
	for _, agent := range r.pairs(agents, "agents") {
		r.hooksOf(agent)
		r.inject(agent.Value, agent.Name)
	}
}

// hooksOf reads the hooks: of one agent.
func (r *reader) hooksOf(agent yamlnode.Pair) {
	block := r.Lookup(agent.Value, "hooks")
	if block == nil || yamlnode.IsNull(block) {
		return
	}
	at := place{agent: agent.Name, path: "agents." + agent.Name + ".hooks"}
	if block.Kind != yaml.MappingNode {
		r.Errorf(block, "%s must be a mapping of events to hooks", at.path)
		return
	}
	r.block(block, at)
}
