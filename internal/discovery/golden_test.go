package discovery

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The snapshot of each example hook, good and broken.
func TestGoldenHooks(t *testing.T) {
	for _, tree := range []string{"hooks", "broken-hooks"} {
		t.Run(tree, func(t *testing.T) {
			root, err := filepath.Abs(filepath.Join("../../testdata", tree))
			if err != nil {
				t.Fatal(err)
			}
			s := Scan(Options{Root: root, Read: hookdir.Options{
				Path:        "/bin:/usr/bin",
				KnownEvents: []string{"agent:end", "session:start"},
			}}, nil)
			got := strings.ReplaceAll(describe(s), root+"/", "")
			golden := filepath.Join("testdata", tree+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// describe renders a snapshot for people and golden files.
func describe(s *hook.Snapshot) string {
	var b strings.Builder
	for _, e := range s.Entries {
		fmt.Fprintf(&b, "%s %s\n", e.State, e.Name)
		if h := e.Hook; h != nil {
			var patterns []string
			for _, p := range h.Patterns {
				patterns = append(patterns, p.Text)
			}
			fmt.Fprintf(&b, "  on %s run %s %q within %s, %s\n", strings.Join(patterns, " "), h.Path, h.Args, h.Timeout, h.Order)
		}
		for _, p := range e.Problems {
			word := "error"
			if p.Warning {
				word = "warning"
			}
			fmt.Fprintf(&b, "  %s %s\n", word, p)
		}
	}
	return b.String()
}
