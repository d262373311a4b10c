package undo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/facts"
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

// madeAgain reports whether a folder can be made again. The precious files in it are kept.
func (p *keeping) madeAgain(path string) bool {
	why, is := rebuilt(path, func(top string) bool { return p.ignoredByGit(top, path) })
	if !is {
		return false
	}
	p.lost.add(path, why)
	eachPrecious(path, 0, func(dir, name string) bool {
		path := filepath.Join(dir, name)
		if was, err := look(path); err == nil && was.Kind == kindFile {
			if of, err := look(dir); err == nil {
				p.one(target{path: dir, effect: effectDelete}, of)
			}
			p.one(target{path: path, effect: effectDelete}, was)
		}
		return !p.expired()
	})
	return true
}

// rebuilt reports whether a folder can be made again: it is in a cache of the user, or it is a build folder with its
// manifest beside it, and git ignores it where there is a repository.
func rebuilt(path string, ignored func(top string) bool) (why string, is bool) {
	home, _ := os.UserHomeDir() // "" = no cache is known
	if slices.ContainsFunc(facts.Caches(home), func(dir string) bool { return inside(path, dir) }) &&
		git.Top(path) == "" {
		return againWords, true
	}
	manifests, known := built[filepath.Base(path)]
	if !known {
		return "", false
	}
	name := recipe(path, manifests)
	if manifests != nil && name == "" {
		return "", false
	}
	if top := git.Top(filepath.Dir(path)); top != "" && !ignored(top) {
		return "", false
	}
	if name != "" {
		return againWords + ", by " + name, true
	}
	return againWords, true
}

// recipe returns the name of the file that says how a folder is made; "" = there is none.
func recipe(path string, names []string) string {
	for _, name := range names {
		for _, at := range []string{filepath.Join(filepath.Dir(path), name), filepath.Join(path, name)} {
			if strings.Contains(name, "*") {
				names, _ := namesIn(filepath.Dir(at))
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
func (p *keeping) ignoredByGit(top, path string) bool {
	key := top + "\x00" + filepath.Base(path)
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

// eachPrecious calls each with the precious files in a build folder, until that returns false.
func eachPrecious(dir string, depth int, each func(dir, name string) bool) {
	names, folders := namesIn(dir)
	for _, name := range names {
		switch {
		case slices.Contains(folders, name):
			if depth+1 < preciousDepth {
				eachPrecious(filepath.Join(dir, name), depth+1, each)
			}
		case slices.ContainsFunc(precious, func(glob string) bool { return fits(glob, name) }):
			if !each(dir, name) {
				return
			}
		}
	}
}
