package undo

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/git"
)

// built are folders that programs make again, with the files beside them, or in them, that say
// how. A pattern in a name stands for any letters.
var built = map[string][]string{
	"node_modules": {"package.json"}, "bower_components": {"bower.json"},
	".next": {"package.json"}, ".nuxt": {"package.json"}, ".turbo": {"package.json"}, ".svelte-kit": {"package.json"},
	".parcel-cache": {"package.json"}, ".angular": {"package.json"},
	"dist":   {"package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "build.gradle*"},
	"build":  {"package.json", "pyproject.toml", "setup.py", "build.gradle*", "CMakeLists.txt", "meson.build", "Makefile"},
	"out":    {"package.json", "CMakeLists.txt"},
	"target": {"Cargo.toml", "pom.xml", "build.sbt"},
	".venv":  {"pyvenv.cfg", "requirements.txt", "pyproject.toml"}, "venv": {"pyvenv.cfg", "requirements.txt", "pyproject.toml"},
	".tox": {"tox.ini", "pyproject.toml"}, ".nox": {"noxfile.py"},
	".gradle": {"build.gradle*", "settings.gradle*"}, ".terraform": {"*.tf", ".terraform.lock.hcl"},
	"vendor": {"composer.json", "Gemfile", "go.mod"}, "Pods": {"Podfile"}, "DerivedData": {"*.xcodeproj", "*.xcworkspace"},
	"deps": {"mix.exs"}, "_build": {"mix.exs", "dune-project"}, ".dart_tool": {"pubspec.yaml"},
	"__pycache__": nil, ".pytest_cache": nil, ".mypy_cache": nil, ".ruff_cache": nil, ".ipynb_checkpoints": nil,
}

// precious are names of files that are kept also in a folder that can be made again.
var precious = []string{".env*", "*.sqlite*", "*.db", "*.pem", "*.key", "*.tfstate*", "id_*", "credentials*", "*.p12"}

// madeAgain reports whether a folder can be made again: it is a build folder with its manifest
// beside it, and git ignores it where there is a repository. The precious files in it are kept.
func (p *keeping) madeAgain(path string, depth int) bool {
	name := filepath.Base(path)
	manifests, known := built[name]
	if !known {
		return false
	}
	manifest := p.manifest(path, manifests)
	if manifests != nil && manifest == "" {
		return false
	}
	top := git.Top(filepath.Dir(path))
	if top != "" && !p.ignoredByGit(top, path, name) {
		return false
	}
	why := againWords
	if manifest != "" {
		why += ", by " + manifest
	}
	p.lost.add(path, why)
	p.keepPrecious(path, 0)
	return true
}

// manifest returns the name of the file that says how a folder is made; "" = there is none.
func (p *keeping) manifest(path string, names []string) string {
	for _, name := range names {
		for _, at := range []string{filepath.Join(filepath.Dir(path), name), filepath.Join(path, name)} {
			if strings.Contains(name, "*") {
				folder := filepath.Dir(at)
				names, _ := namesIn(folder)
				for _, name := range names {
					if fits(filepath.Base(at), name) {
						return name
					}
				}
			} else if is, err := look(at); err == nil && is.Kind == kindFile {
				return name
			}
		}
	}
	return ""
}

// ignoredByGit asks git once for each name in a repository: the folders of one name are alike.
func (p *keeping) ignoredByGit(top, path, name string) bool {
	key := top + "\x00" + name
	if is, asked := p.again[key]; asked {
		return is
	}
	r, err := p.limits.repository(top)
	is := false
	if err == nil {
		_, err = r.Output(context.Background(), 4096, "check-ignore", "-q", "--", path)
		is = err == nil
	}
	if p.again == nil {
		p.again = map[string]bool{}
	}
	p.again[key] = is
	return is
}

// preciousDepth is how deep in a build folder precious files are looked for.
const preciousDepth = 2

func (p *keeping) keepPrecious(dir string, depth int) {
	names, folders := namesIn(dir)
	for _, name := range names {
		if p.expired() {
			return
		}
		path := filepath.Join(dir, name)
		switch {
		case slices.Contains(folders, name):
			if depth+1 < preciousDepth {
				p.keepPrecious(path, depth+1)
			}
		case slices.ContainsFunc(precious, func(glob string) bool { return fits(glob, name) }):
			if was, err := look(path); err == nil && was.Kind == kindFile {
				if of, err := look(dir); err == nil {
					p.one(target{path: dir, effect: effectDelete}, of)
				}
				p.one(target{path: path, effect: effectDelete}, was)
			}
		}
	}
}
