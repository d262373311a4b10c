package hookdir

import (
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// draft is a hook while its file is read.
type draft struct {
	valueReader
	opt  Options
	hook *hook.Hook
	keys map[string]*yaml.Node // the nodes of the keys that were set, by schema key
	args []string              // nil = no args: the command is split
}

func newDraft(dir string, opt Options) *draft {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	file := filepath.Join(dir, FileName)
	return &draft{
		valueReader: valueReader{file: file, schema: schema, strict: opt.Strict, given: map[string]*yaml.Node{}},
		opt:         opt,
		keys:        map[string]*yaml.Node{},
		hook: &hook.Hook{
			Source:  hook.Source{Type: SourceType, Path: dir},
			File:    file,
			Dir:     dir,
			Type:    hook.Command,
			Lane:    events.LaneDefault,
			OnError: hook.OnErrorWarn,
			Order:   hook.OrderSession,
			Enabled: true,
			Layer:   opt.Layer,
			Project: opt.Project,
		},
	}
}

// mapping reads the keys of a mapping by the rows of the schema that begin
// with prefix.
func (d *draft) mapping(n *yaml.Node, prefix string) {
	n = yamlnode.Resolve(n)
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, "a mapping")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		id := prefix + key.Value
		row, known := rowOf(d.schema, id)
		switch {
		case key.Kind != yaml.ScalarNode:
			d.reject(key, "", "a key must be a word, is %s", kind(key))
		case key.Value == "<<":
			d.reject(key, "write the fields out", "merge keys are not read")
		case !known || prefix == "" && strings.Contains(key.Value, "."):
			d.unknown(key, "key", keysUnder(prefix))
		case d.keys[id] != nil:
			d.reject(key, "", "duplicate key `%s`, first on line %d", key.Value, d.keys[id].Line)
		default:
			d.keys[id] = key
			if value = yamlnode.Resolve(value); !yamlnode.IsNull(value) { // nothing is as good as absent
				d.given[id] = value
				d.set(row, value)
			}
		}
	}
}

func (d *draft) set(r row, value *yaml.Node) {
	if r.set == nil {
		d.mapping(value, r.Key+".")
		return
	}
	r.set(d, value)
}
