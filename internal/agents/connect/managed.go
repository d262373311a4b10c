package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/hookd/hookd/internal/base/readfile"
)

// managed is the file of the settings that root writes for all users. root stands before
// it, "" but in tests.
func (a *agent) managed(root string) (string, error) {
	path := a.Managed.Linux
	if runtime.GOOS == "darwin" {
		path = a.Managed.MacOS
	}
	if path == "" {
		return "", fmt.Errorf("%s has no settings that root writes for all users, or hookd does not know them", a.name)
	}
	return root + path, nil
}

// writeBeside adds to the plan the file that managed settings need. A file that is there is
// left alone.
func (t *target) writeBeside(p *Plan) error {
	b := t.agent.Managed.Beside
	if b == nil {
		return nil
	}
	path := t.root + b.Path
	switch have, err := readfile.Read(path, maxFile); {
	case errors.Is(err, fs.ErrNotExist):
		p.Changes = append(p.Changes, Change{Path: path, After: []byte(b.Text), New: true, Mode: 0o644, Dir: 0o755})
	case err != nil:
		return err
	case string(have) != b.Text:
		p.Notes = append(p.Notes, path+" is there already: "+b.Else)
	}
	return nil
}

// removeBeside adds to the plan that the file goes which writeBeside has written.
func (t *target) removeBeside(p *Plan) error {
	b := t.agent.Managed.Beside
	if b == nil {
		return nil
	}
	path := t.root + b.Path
	have, err := readfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && string(have) != b.Text {
		return nil
	}
	if err == nil {
		p.Changes = append(p.Changes, Change{Path: path, Before: have, Remove: true})
	}
	return err
}
