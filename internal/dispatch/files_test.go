package dispatch

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The package comment lists the files in the order in which an event comes through
// them. Each file is in the list, and calls functions of later ones alone.
func TestCallsGoOneWay(t *testing.T) {
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	var files []*ast.File
	place := map[string]int{}
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		for i, row := range regexp.MustCompile(`(?m)^\t(\w+(?:, \w+)*) `).FindAllStringSubmatch(f.Doc.Text(), -1) {
			for j, name := range strings.Split(row[1], ", ") {
				place[name+".go"] = 100*i + j
			}
		}
	}
	for _, name := range names {
		if _, ok := place[name]; !ok {
			t.Errorf("%s is not in the list of files in the package comment of dispatch.go", name)
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	inside := types.Config{Importer: noImports{}, Error: func(error) {}} // what others declare does not matter
	pkg, _ := inside.Check("dispatch", fset, files, &info)
	calls := 0
	for id, used := range info.Uses {
		if f, ok := used.(*types.Func); !ok || f.Pkg() != pkg {
			continue
		}
		from := filepath.Base(fset.Position(id.Pos()).Filename)
		to := filepath.Base(fset.Position(used.Pos()).Filename)
		if calls++; place[from] > place[to] {
			t.Errorf("%s: %s.%s is in a file that comes earlier: move one of the two", fset.Position(id.Pos()), to, id.Name)
		}
	}
	if calls < 100 {
		t.Errorf("only %d calls were seen: the package could not be read", calls)
	}
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }
