package hookd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reads are functions and methods whose error says that something could not be read or understood,
// by their last names.
var reads = []string{
	"ReadFile", "ReadDir", "Readdirnames", "Readlink", "ReadAt", "ReadAll", "ReadFull", "Stat", "Lstat", "Glob",
	"WalkDir", "EvalSymlinks", "Scan", "Unmarshal", "Err",
}

// An error of a read is not "there is nothing": the code that ignores one says beside it why that is
// right, or it is not ignored.
func TestNoErrorOfAReadIsIgnored(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test") || path == "bench"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		reasons := map[int]bool{} // lines with a comment, and the ones below
		for _, group := range file.Comments {
			for _, c := range group.List {
				line := files.Position(c.Pos()).Line
				reasons[line], reasons[line+1] = true, true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if name := ignoredRead(n); name != "" && !reasons[files.Position(n.Pos()).Line] {
				t.Errorf("%s: the error of %s is ignored: return it, or say in a comment on that line why not",
					files.Position(n.Pos()), name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ignoredRead returns the name of a read whose error a statement ignores; "" = it does not.
func ignoredRead(n ast.Node) string {
	var value ast.Expr
	switch s := n.(type) {
	case *ast.AssignStmt:
		last, is := s.Lhs[len(s.Lhs)-1].(*ast.Ident)
		if is && last.Name == "_" && len(s.Rhs) == 1 {
			value = s.Rhs[0]
		}
	case *ast.ExprStmt:
		value = s.X
	}
	call, is := value.(*ast.CallExpr)
	if !is {
		return ""
	}
	called, is := call.Fun.(*ast.SelectorExpr)
	if !is || !slices.Contains(reads, called.Sel.Name) {
		return ""
	}
	return called.Sel.Name
}
