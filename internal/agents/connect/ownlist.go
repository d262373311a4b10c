package connect

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// OwnListOf returns the agent's own list of calls that need no question; nil = it has none that
// hookd writes: it listens to a hook that allows, or how its list counts is not known.
func OwnListOf(agent string) *neutral.OwnList {
	if a := find(agent); a != nil {
		return a.OwnList
	}
	return nil
}

// AllowOwn plans to write commands, each its words, into the agent's own list, in a file that is
// hookd's. A file of that name that hookd has not written is an error.
func AllowOwn(o Options, commands [][]string) (Plan, error) {
	t, err := open(o)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Agent: o.Agent, File: t.path}
	f, err := t.ownList()
	if err != nil || f.real == "" {
		return p, err
	}
	if f.exists && !isOurs(f) {
		return p, fmt.Errorf("write %s: it is there, and hookd has not written it: move it away", f.real)
	}
	c := Change{Path: f.real, Before: f.with(f.text), After: []byte(t.agent.OwnList.Text(commands)), New: !f.exists,
		Mode: 0o600, Dir: 0o700}
	p.Changes = append(p.Changes, c)
	return p, nil
}

// DisallowOwn plans to remove the file that AllowOwn has written.
func DisallowOwn(o Options) (Plan, error) {
	t, err := open(o)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Agent: o.Agent, File: t.path}
	return p, t.removeOwnList(&p)
}

// ownList is the file of the agent's own list; its path is "" where the agent has none.
func (t *target) ownList() (f file, err error) {
	if t.agent.OwnList == nil || t.Project != "" || t.Managed {
		return file{}, nil
	}
	path := filepath.Join(filepath.Dir(t.path), t.agent.OwnList.File)
	return readFile(path)
}

// isOurs reports whether AllowOwn has written a list.
func isOurs(f file) bool { return f.exists && strings.HasPrefix(string(f.text), neutral.OwnListMark) }

// removeOwnList plans to remove the list as AllowOwn wrote it.
func (t *target) removeOwnList(p *Plan) error {
	f, err := t.ownList()
	if err != nil || !isOurs(f) {
		return err
	}
	p.Changes = append(p.Changes, Change{Path: f.real, Before: f.with(f.text), Remove: true})
	return nil
}
