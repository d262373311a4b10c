package hook

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Environ returns Env as the hook gets it: ${env.NAME} in a value becomes the result of
// lookup for NAME now. $NAME and ${NAME} stay as they are, for the shell.
func (h *Hook) Environ(lookup func(string) string) []string {
	out := make([]string, len(h.Env))
	for i, e := range h.Env {
		name, value, _ := strings.Cut(e, "=")
		out[i] = name + "=" + ExpandEnv(value, lookup)
	}
	return out
}

// RunDir returns the directory that the hook runs in for an event with cwd ("" =
// unknown). A hook with InEventCwd runs in cwd when that is a directory, and a
// relative WorkingDir joins to it; ~, $NAME, ${NAME} and ${env.NAME} in WorkingDir
// expand by lookup, and an empty result counts as not set. The result need not exist.
func (h *Hook) RunDir(cwd string, lookup func(string) string) string {
	base, dir := h.Dir, h.WorkingDir
	if h.InEventCwd {
		if isDir(cwd) {
			base = cwd
		}
		dir = expandPath(dir, lookup)
	}
	switch {
	case dir == "":
		return base
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(base, dir)
}

func isDir(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

var envReference = regexp.MustCompile(`\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)

// ExpandEnv replaces ${env.NAME} in text, and nothing else, by the result of
// lookup for NAME.
func ExpandEnv(text string, lookup func(string) string) string {
	if !strings.Contains(text, "${env.") {
		return text
	}
	return envReference.ReplaceAllStringFunc(text, func(ref string) string {
		return lookup(ref[len("${env.") : len(ref)-1])
	})
}

// expandPath expands a leading ~ and every reference to a variable in path.
func expandPath(path string, lookup func(string) string) string {
	path = os.Expand(path, func(name string) string { return lookup(strings.TrimPrefix(name, "env.")) })
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(lookup("HOME"), strings.TrimPrefix(path, "~"))
	}
	return path
}
