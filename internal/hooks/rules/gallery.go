package rules

import (
	"fmt"
	"io/fs"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/docs/gallery"
)

// GalleryText is the HOOK.yaml of a hook of the gallery.
func GalleryText(name string) ([]byte, error) {
	folder, err := gallery.Files(name)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(folder, "HOOK.yaml")
}

// Gallery reads the rules of hooks of the gallery, one behind the other, for a user's home.
func Gallery(home string, names ...string) (*Set, error) {
	set := &Set{}
	for _, name := range names {
		text, err := GalleryText(name)
		if err != nil {
			return nil, err
		}
		var doc struct {
			Rules yaml.Node `yaml:"rules"`
		}
		if err := yaml.Unmarshal(text, &doc); err != nil {
			return nil, fmt.Errorf("read the rules of %s: %w", name, err)
		}
		var problems []Problem
		if set, problems = Read(&doc.Rules, set, Options{Home: home, File: name}); len(problems) > 0 {
			return nil, fmt.Errorf("read the rules of %s: %s", name, problems[0].Message)
		}
	}
	return set, nil
}
