package connect

import "path/filepath"

// manifest is the file beside the settings that makes the agent read them; its path is
// "" where the agent needs none.
func (t *target) manifest() (f file, err error) {
	name := t.agent.Manifest.Name
	if name == "" {
		return file{}, nil
	}
	return readFile(filepath.Join(filepath.Dir(t.path), name))
}

// writeManifest plans the manifest where there is none. A manifest that stands there stays:
// a person may have changed it.
func (t *target) writeManifest(p *Plan) error {
	f, err := t.manifest()
	if err != nil || f.real == "" || f.exists {
		return err
	}
	c := Change{Path: f.real, After: []byte(t.agent.Manifest.Text), New: true, Mode: 0o644, Dir: 0o755}
	p.Changes = append(p.Changes, c)
	return nil
}

// removeManifest plans to remove the manifest as connect wrote it, with the folders
// that are empty then.
func (t *target) removeManifest(p *Plan) error {
	f, err := t.manifest()
	if err != nil || !f.exists || string(f.text) != t.agent.Manifest.Text {
		return err
	}
	for i := range p.Changes {
		p.Changes[i].OwnDir = p.Changes[i].Remove
	}
	p.Changes = append(p.Changes, Change{Path: f.real, Before: f.with(f.text), Remove: true, OwnDir: true})
	return nil
}
