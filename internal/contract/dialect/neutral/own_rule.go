package neutral

import (
	"path/filepath"
	"strings"
)

// Looks reads the files in which an agent keeps its own rules.
type Looks struct {
	Read  func(file string) ([]byte, error)
	Names func(dir string) []string // of the files in a folder
}

// Texts returns the content of the files in a folder whose names end so. A file that cannot be read is left
// out: the agent cannot read it either.
func (l Looks) Texts(dir, suffix string) (list []string) {
	for _, name := range l.Names(dir) {
		if text, err := l.Read(filepath.Join(dir, name)); err == nil && strings.HasSuffix(name, suffix) {
			list = append(list, string(text))
		}
	}
	return list
}

// Upwards lists a folder and the folders above it.
func Upwards(dir string) (list []string) {
	for {
		list = append(list, dir)
		if dir == filepath.Dir(dir) {
			return list
		}
		dir = filepath.Dir(dir)
	}
}

// MayFit reports whether a pattern with stars may be about a line: the texts between its stars must all be
// somewhere in the line.
func MayFit(pattern, line string) bool {
	for part := range strings.SplitSeq(pattern, "*") {
		if !strings.Contains(line, strings.TrimSpace(part)) {
			return false
		}
	}
	return true
}
