package connect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// AllowOwn plans to write commands, each its words, into the agent's own list: in a file that is hookd's,
// or in its settings, with a note beside them of the entries that are hookd's, and a backup. A file of
// that name that hookd has not written is an error.
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
	var text string
	if list := t.agent.OwnList; list.At == nil {
		text = list.Text(commands)
	} else if text, err = allowEntries(t, &p, f, commands); err != nil {
		return p, err
	}
	p.Changes = append(p.Changes, Change{Path: f.real, Before: f.with(f.text), After: []byte(text), New: !f.exists,
		Mode: 0o600, Dir: 0o700})
	return p, nil
}

// LearnedSuffix ends the name of the file that keeps settings as they were before AllowOwn.
const LearnedSuffix = ".before-learn"

// allowEntries plans to replace hookd's entries in the settings' list, and returns a note with these
// entries. A person's own entries stay.
func allowEntries(t *target, p *Plan, note file, commands [][]string) (string, error) {
	text, err := withoutEntries(t, t.file.text, func([]string) bool { return true })
	if err != nil {
		return "", err
	}
	tree, err := t.agent.parse(t.path, text)
	if err != nil {
		return "", err
	}
	entries := []string{}
	for _, words := range commands {
		entries = append(entries, t.agent.OwnList.Entry(words))
	}
	slices.Sort(entries)
	leaves := missingLeaves(tree, entryLeaves(t, slices.Compact(entries)))
	for _, l := range leaves { // one by one: the first may make the list
		if text, err = t.agent.format.add(text, []leaf{l}); err != nil {
			return "", t.at(err)
		}
	}
	c := t.change(text)
	if c.Backup = c.Path + LearnedSuffix; c.New || note.exists {
		c.Backup = "" // it is that of the first time
	}
	p.Changes = append(p.Changes, c)
	ours := []string{}
	for _, l := range leaves {
		ours = append(ours, l.Value.(string))
	}
	list, err := json.MarshalIndent(ours, "", "  ")
	return neutral.OwnListMark + string(list) + "\n", err
}

// entryLeaves are entries as items of the list in the settings.
func entryLeaves(t *target, entries []string) (list []leaf) {
	at := t.agent.OwnList.At
	for _, entry := range entries {
		list = append(list, leaf{Path: at[:len(at)-1], Key: at[len(at)-1], Value: entry, List: true})
	}
	return list
}

// withoutEntries is a text of the settings without hookd's entries of the agent's own list, and without the
// objects and lists that hold nothing then, unless keep names them.
func withoutEntries(t *target, text []byte, keep func([]string) bool) ([]byte, error) {
	note, err := t.ownList()
	if err != nil || t.agent.OwnList == nil || t.agent.OwnList.At == nil || !isOurs(note) {
		return text, err
	}
	var entries []string
	if err := json.Unmarshal(note.text[len(neutral.OwnListMark):], &entries); err != nil {
		return nil, fmt.Errorf("read %s: %w", note.real, err)
	}
	for _, l := range entryLeaves(t, entries) { // one by one: one of them may be gone
		if text, err = (json5Format{}).drop(text, []leaf{l}, keep); err != nil {
			return nil, t.at(err)
		}
	}
	return text, nil
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

// removeOwnList plans to remove the list as AllowOwn wrote it. A plan that changes the settings has
// removed hookd's entries there already.
func (t *target) removeOwnList(p *Plan) error {
	f, err := t.ownList()
	if err != nil || !isOurs(f) {
		return err
	}
	c := Change{Path: f.real, Before: f.with(f.text), Remove: true}
	if t.agent.OwnList.At != nil {
		if backup := t.file.real + LearnedSuffix; exists(backup) {
			c.DropBackup = backup
		}
		if len(p.Changes) == 0 && t.file.exists {
			text, err := withoutEntries(t, t.file.text, func([]string) bool { return false })
			if err != nil {
				return err
			}
			p.Changes = append(p.Changes, t.change(text))
		}
	}
	p.Changes = append(p.Changes, c)
	return nil
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
