package docs

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// Tests that exist show the claims of the security model.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	var sources strings.Builder
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && (strings.HasSuffix(path, "_test.go") || strings.Contains(path, ".test.")) {
			sources.WriteString(read(t, path))
		}
		return err
	})
	hooktest.Must(t, err)
	known := sources.String()
	rows := 0
	for line := range strings.Lines(read(t, "reference/security.md")) {
		named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(line, -1)
		for _, name := range named {
			if !strings.Contains(known, "func "+name[1]+"(") && !strings.Contains(known, "'"+name[1]) {
				t.Errorf("security.md names %s, which is no test", name[1])
			}
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| who ") {
			continue
		}
		if rows++; len(named) == 0 {
			t.Errorf("no test shows: %s", line)
		}
	}
	if rows < 15 {
		t.Errorf("the model has %d lines", rows)
	}
}
