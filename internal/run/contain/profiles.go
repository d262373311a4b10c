package contain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/run/box"
)

// builtin are the profiles that need no file, the strictest first.
var builtin = []box.Profile{
	{Name: box.Read, Base: box.Read},
	{Name: box.Project, Base: box.Project},
	{Name: box.ProjectNet, Base: box.ProjectNet, Hosts: registries},
}

// registries are the hosts of package managers and of code.
var registries = []string{
	"registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org", "proxy.golang.org",
	"sum.golang.org", "static.crates.io", "index.crates.io", "crates.io", "rubygems.org", "repo.maven.apache.org",
	"github.com", "codeload.github.com", "gitlab.com",
}

// file is a profile as it is written.
type file struct {
	Like   string   `yaml:"like"`
	Hosts  []string `yaml:"hosts"`
	Write  []string `yaml:"write"`
	Hide   []string `yaml:"hide"`
	Show   []string `yaml:"show"`
	Caches *bool    `yaml:"caches"`
}

// Load returns the profile of that name: a file NAME.yaml in one of the folders, else a built-in one.
// A file in a later folder may only tighten an earlier one of the same name.
func Load(name string, folders []string, home string) (box.Profile, error) {
	p, known := builtinOf(name)
	fixed := false // an earlier folder has said it
	for _, dir := range folders {
		path := filepath.Join(dir, name+".yaml")
		text, err := readfile.Read(path, readfile.Limit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return p, fmt.Errorf("the profile %s cannot be read: %w", path, err)
		}
		next, err := parse(name, text, home)
		if err != nil {
			return p, fmt.Errorf("the profile %s is not right: %w", path, err)
		}
		if fixed {
			if err := looser(p, next); err != nil {
				return p, fmt.Errorf("the profile %s is less strict than that of the machine: %w", path, err)
			}
		}
		p, known, fixed = next, true, true
	}
	if !known {
		if near := spell.Near(name, Names(folders)); near != "" {
			return p, fmt.Errorf("there is no profile %q: did you mean %s?", name, near)
		}
		return p, fmt.Errorf("there is no profile %q", name)
	}
	return p, nil
}

func names() (list []string) {
	for _, p := range builtin {
		list = append(list, p.Name)
	}
	return list
}

func builtinOf(name string) (box.Profile, bool) {
	for _, p := range builtin {
		if p.Name == name {
			return p, true
		}
	}
	return box.Profile{Name: name}, false
}

func parse(name string, text []byte, home string) (box.Profile, error) {
	var f file
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return box.Profile{}, err
	}
	base, ok := builtinOf(f.Like)
	if !ok {
		return box.Profile{}, fmt.Errorf("like is %q: write read, project or project-net", f.Like)
	}
	p := box.Profile{Name: name, Base: base.Base, Hosts: base.Hosts, NoCache: f.Caches != nil && !*f.Caches}
	if f.Hosts != nil {
		if p.Hosts = f.Hosts; base.Base != box.ProjectNet {
			return p, errors.New("hosts are for a profile like project-net")
		}
	}
	for _, list := range []struct {
		from []string
		to   *[]string
	}{{f.Write, &p.Write}, {f.Hide, &p.Hide}, {f.Show, &p.Show}} {
		for _, path := range list.from {
			if path == "~" || strings.HasPrefix(path, "~/") {
				path = home + path[1:]
			}
			if !filepath.IsAbs(path) {
				return p, fmt.Errorf("%q is not absolute and does not begin with ~/", path)
			}
			*list.to = append(*list.to, filepath.Clean(path))
		}
	}
	return p, nil
}

// looser names a grant of next that p does not have; nil = there is none.
func looser(p, next box.Profile) error {
	if rank(next) > rank(p) {
		return fmt.Errorf("it is like %s, and may be like %s", next.Base, p.Base)
	}
	for _, g := range []struct {
		what     string
		has, may []string
	}{
		{"hosts", next.Hosts, p.Hosts}, {"write", next.Write, p.Write},
		{"show", next.Show, p.Show}, {"hide", p.Hide, next.Hide},
	} {
		for _, one := range g.has {
			if !slices.Contains(g.may, one) {
				return fmt.Errorf("%s: %s", g.what, one)
			}
		}
	}
	if p.NoCache && !next.NoCache {
		return errors.New("caches")
	}
	return nil
}

// rank orders profiles, the strictest first.
func rank(p box.Profile) int {
	return slices.IndexFunc(builtin, func(b box.Profile) bool { return b.Name == p.Base })
}

// profile returns the strictest of several.
func (k *Boxer) profile(names []string) (best box.Profile, err error) {
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, "/ ") {
			return best, fmt.Errorf("%q is no name of a profile", name)
		}
		p, err := Load(name, k.opts.Profiles, k.opts.Home)
		if err != nil {
			return best, err
		}
		if i == 0 || looser(best, p) == nil {
			best = p
		} else if looser(p, best) != nil {
			return best, fmt.Errorf("the profiles %s and %s each grant something that the other does not", best.Name, p.Name)
		}
	}
	return best, nil
}

// Names lists the profiles that there are.
func Names(folders []string) []string {
	list := names()
	for _, dir := range folders {
		files, _ := os.ReadDir(dir) // it may not be there
		for _, f := range files {
			name, ok := strings.CutSuffix(f.Name(), ".yaml")
			if ok && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}
