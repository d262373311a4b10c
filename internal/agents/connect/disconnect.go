package connect

import (
	"bytes"
	"os"
	"reflect"
)

// Disconnect plans to take out the calls that Connect put in, whatever the path of the
// bridge was then.
func Disconnect(o Options) (Plan, error) {
	t, err := open(o)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Agent: o.Agent, File: t.path}
	if t.agent.files != nil {
		err = t.disconnectFiles(&p)
	} else {
		err = t.disconnect(&p)
	}
	if err == nil && t.Managed {
		err = t.removeBeside(&p)
	}
	if err == nil {
		err = t.removeOwnList(&p)
	}
	if err == nil {
		err = t.insideProject(p)
	}
	return p, err
}

// disconnect takes our hooks out. Where the settings then say the same as the backup, the
// backup comes back.
func (t *target) disconnect(p *Plan) error {
	had, err := t.agent.registered(t.path, t.file.text)
	if err != nil || len(had) == 0 {
		return err
	}
	backup, before, err := t.backup()
	if err != nil {
		return err
	}
	was := map[string]any{}
	if before != nil {
		if was, err = t.agent.parse(backup, before); err != nil {
			return err
		}
	}
	keep := func(path []string) bool {
		return holds(was, path) || before == nil && len(path) == 1 && t.agent.hasBeside(path[0])
	}
	result, err := t.cutOut(keep)
	if err == nil {
		result, err = withoutEntries(t, result, keep)
	}
	if err != nil {
		return err
	}
	c := t.change(result)
	switch {
	case before == nil && t.agent.bare(result):
		c.After, c.Remove = nil, true
	case before != nil && (t.agent.same(result, before) || len(bytes.TrimSpace(before)) == 0 && t.agent.bare(result)):
		c.After, c.DropBackup = t.file.with(before), backup
		if info, err := os.Stat(backup); err == nil && t.showsToken(t.file.text) {
			c.Mode = info.Mode().Perm() // it was narrowed for the token
		}
	}
	p.Changes = []Change{c}
	if c.Remove {
		return t.removeManifest(p)
	}
	return nil
}

// cutOut is the settings file's text without our hooks, and without the
// objects and lists that only they needed: keep names the objects and lists that stay.
func (t *target) cutOut(keep func([]string) bool) ([]byte, error) {
	tree, err := t.agent.parse(t.path, t.file.text)
	if err != nil {
		return nil, err
	}
	ours := func(call) bool { return true }
	result, err := t.agent.format.remove(t.file.text, t.agent, ours, keep)
	if err != nil {
		return nil, t.at(err)
	}
	return result, t.checkWithout(tree, result)
}

// same reports whether two texts say the same, comments included: they differ
// in white space and commas that mean nothing.
func (a *agent) same(one, two []byte) bool {
	first, err := a.format.parse(one)
	second, err2 := a.format.parse(two)
	return sameText(one, two) && err == nil && err2 == nil && reflect.DeepEqual(first, second)
}

// backup returns the text from before the first connect; nil if there was no
// file. A backup that has hooks of ours in it is none.
func (t *target) backup() (path string, text []byte, err error) {
	path = t.file.real + BackupSuffix
	f, err := readFile(path)
	if err != nil || !f.exists {
		return "", nil, err
	}
	if had, err := t.agent.registered(path, f.text); err != nil || len(had) > 0 {
		return "", nil, nil
	}
	return path, append([]byte{}, f.text...), nil // not nil, even if empty
}
