package hookd

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// mostFiles is through how many files a way may go.
const mostFiles = 16

// TestWays holds docs/design/ways.md to the code: each step calls the next one of its list.
func TestWays(t *testing.T) {
	text, err := os.ReadFile("docs/design/ways.md")
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile("^\\d+\\. `([^`]+\\.go)` `(\\w+)`(?: as `(\\w+)`)?")
	for _, way := range strings.Split(string(text), "\n## ")[1:] {
		name, _, _ := strings.Cut(way, "\n")
		files, before := map[string]bool{}, map[string]bool(nil)
		steps := 0
		for line := range strings.Lines(way) {
			m := step.FindStringSubmatch(line)
			if m == nil {
				if strings.TrimSpace(line) != "" {
					before = nil // a sentence says how the way goes on
				}
				continue
			}
			steps++
			files[m[1]] = true
			names := namesIn(t, m[1], m[2])
			if names == nil {
				t.Errorf("%s: %s has no function %s", name, m[1], m[2])
			}
			if called := cmp.Or(m[3], m[2]); before != nil && !before[called] {
				t.Errorf("%s: the step before %s %s does not call %s", name, m[1], m[2], called)
			}
			before = names
		}
		if steps < 3 || len(files) > mostFiles {
			t.Errorf("%s goes through %d files in %d steps, want %d files at most", name, len(files), steps, mostFiles)
		}
		t.Logf("%s: %d files", name, len(files))
	}
}

// namesIn returns the names of functions and fields that functions of that name in a file call or hand on; nil = it has none.
func namesIn(t *testing.T, file, function string) (names map[string]bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}
		if names == nil {
			names = map[string]bool{}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				names[n.Sel.Name] = true
			case *ast.Ident:
				names[n.Name] = true
			}
			return true
		})
	}
	return names
}
