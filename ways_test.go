package hookd

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
		if name == backUp {
			continue
		}
		if steps < 3 || len(files) > mostFiles {
			t.Errorf("%s goes through %d files in %d steps, want %d files at most", name, len(files), steps, mostFiles)
		}
		t.Logf("%s: %d files", name, len(files))
	}
}

// backUp is the section of the functions that a room gets when it is made.
const backUp = "Calls that go back up"

// TestCallsBackUp holds that section to the code: a step of a way calls no other function of its options.
func TestCallsBackUp(t *testing.T) {
	text, err := os.ReadFile("docs/design/ways.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+\\.\\w+)` \\| `([^`]+\\.go)` `(\\w+)`").FindAllStringSubmatch(string(text), -1)
	marked := map[string]bool{}
	for _, m := range rows {
		marked[filepath.Dir(m[2])+" "+m[1]] = true
		if !slices.Contains(optionsCalled(t, m[2], m[3]), m[1]) {
			t.Errorf("%s of %s does not call %s", m[3], m[2], m[1])
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\d+\\. `([^`]+\\.go)` `(\\w+)`").FindAllStringSubmatch(string(text), -1) {
		for _, called := range optionsCalled(t, m[1], m[2]) {
			if !marked[filepath.Dir(m[1])+" "+called] {
				t.Errorf("%s in %s calls %s, which has no row under %q", m[2], m[1], called, backUp)
			}
		}
	}
	if len(rows) < 5 {
		t.Errorf("only %d rows were seen", len(rows))
	}
}

// optionsCalled lists the functions in a package's Options, or in a Spec, that the functions of a name in a file call.
func optionsCalled(t *testing.T, file, function string) (list []string) {
	t.Helper()
	fields := map[string]string{}
	eachType(t, filepath.Dir(file), func(_ string, typ *ast.TypeSpec) {
		s, is := typ.Type.(*ast.StructType)
		if !is || typ.Name.Name != "Options" && typ.Name.Name != "Spec" {
			return
		}
		for _, f := range s.Fields.List {
			if _, is := f.Type.(*ast.FuncType); is {
				for _, name := range f.Names {
					fields[name.Name] = typ.Name.Name + "." + name.Name
				}
			}
		}
	})
	eachDecl(t, filepath.Dir(file), func(name string, d ast.Decl) {
		fn, is := d.(*ast.FuncDecl)
		if !is || name != file || fn.Name.Name != function {
			return
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				if s, is := call.Fun.(*ast.SelectorExpr); is && fields[s.Sel.Name] != "" {
					list = append(list, fields[s.Sel.Name])
				}
			}
			return true
		})
	})
	return list
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
