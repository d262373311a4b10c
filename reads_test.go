package hookd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reads are functions and methods whose error says that something could not be read or understood,
// by their last names.
var reads = []string{
	"ReadFile", "ReadDir", "Readdirnames", "Readlink", "ReadAt", "ReadAll", "ReadFull", "Stat", "Lstat", "Glob",
	"WalkDir", "EvalSymlinks", "Scan", "Unmarshal", "Err", "Open", "OpenFile", "OpenRoot", "Read", "ReadString",
	"ReadBytes", "Pread", "Fstat", "Seek", "Decode", "Query", "QueryContext", "Token",
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
		for at, fault := range faultsOfReads(files, file, strings.HasPrefix(filepath.ToSlash(path), "internal/record/")) {
			t.Errorf("%s: %s: return it, or say in a comment on that line why not", at, fault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The test above finds each way in which a read's error is lost.
func TestIgnoredReadsAreFound(t *testing.T) {
	for body, want := range map[string]string{
		"text, _ := os.ReadFile(p); use(text)":   "the error of ReadFile is ignored",
		"dec.Decode(&v)":                         "the error of Decode is ignored",
		"_ = f.Read(b)":                          "the error of Read is ignored",
		"defer rows.Scan(&v)":                    "the error of Scan is ignored",
		"var text, _ = os.ReadFile(p)":           "the error of ReadFile is ignored",
		"for lines.Scan() { use(lines.Text()) }": "lines ends at an error, and Err is not asked",
		"for rows.Next() { use(rows) }":          "rows ends at an error, and Err is not asked",
		"n, err := f.ReadAt(b, 0); if err != nil { return nil }; use(n)":              "the error of ReadAt is dropped",
		"if n, err := f.ReadAt(b, 0); err != nil || n < 7 { return nil }":             "the error of ReadAt is dropped",
		"if text, err := os.ReadFile(p); err == nil { use(text) }":                    "the error of ReadFile is dropped",
		"text, err := os.ReadFile(p); if err != nil { return err }; use(text)":        "",
		"text, err := os.ReadFile(p); if err == nil { use(text) }; return err":        "",
		"if text, err := os.ReadFile(p); err == nil { use(text) } else { use(err) }":  "",
		"for lines.Scan() { use(lines.Text()) }; return lines.Err()":                  "",
		"text, _ := os.ReadFile(p) // \"\" is as good\n use(text)":                    "",
		"// it has no file then\n if _, err := os.Stat(p); err != nil { return nil }": "",
		"if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) { return nil }":      "",
	} {
		files := token.NewFileSet()
		text := "package p\nfunc f() error {\n" + strings.ReplaceAll(body, `\n`, "\n") + "\n}"
		file, err := parser.ParseFile(files, "p.go", text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Collect(maps.Values(faultsOfReads(files, file, true)))
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// faultsOfReads returns the places at which a file loses the error of a read, without a comment there or
// above, and which. In strict code, which holds what was accepted, also an error that is looked at and
// then goes nowhere is lost.
func faultsOfReads(files *token.FileSet, file *ast.File, strict bool) map[string]string {
	reasons := map[int]bool{} // lines with a comment, and the ones below
	for _, group := range file.Comments {
		for _, c := range group.List {
			line := files.Position(c.Pos()).Line
			reasons[line], reasons[line+1] = true, true
		}
	}
	faults := map[string]string{}
	note := func(n ast.Node, fault string) {
		if fault == "" {
			return
		}
		if at := files.Position(n.Pos()); !reasons[at.Line] {
			faults[at.String()] = fault
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		note(n, ignoredRead(n))
		switch s := n.(type) {
		case *ast.FuncDecl:
			if s.Body != nil {
				unfinishedReads(s.Body, note)
			}
		case *ast.BlockStmt:
			if strict {
				droppedErrors(s, note)
			}
		}
		return true
	})
	return faults
}

// ignoredRead says which error of a read a statement ignores; "" = none.
func ignoredRead(n ast.Node) string {
	var value ast.Expr
	switch s := n.(type) {
	case *ast.AssignStmt:
		value = blank(s.Lhs[len(s.Lhs)-1], s.Rhs)
	case *ast.ValueSpec:
		value = blank(s.Names[len(s.Names)-1], s.Values)
	case *ast.ExprStmt:
		value = s.X
	case *ast.DeferStmt:
		value = s.Call
	case *ast.GoStmt:
		value = s.Call
	}
	if name := readIn(value); name != "" {
		return "the error of " + name + " is ignored"
	}
	return ""
}

// blank returns the only value of an assignment whose last name is _; else nil.
func blank(last ast.Expr, values []ast.Expr) ast.Expr {
	if isNamed(last, "_") && len(values) == 1 {
		return values[0]
	}
	return nil
}

// readIn returns the name of the read that a value is a call of; "" = of none.
func readIn(value ast.Expr) string {
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

// unfinishedReads notes the loops over lines of a scanner, or rows of a query, that end at an error as
// they do at the end.
func unfinishedReads(body *ast.BlockStmt, note func(ast.Node, string)) {
	asked := map[string]bool{} // names whose Err is
	ast.Inspect(body, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is && s.Sel.Name == "Err" {
			asked[types.ExprString(s.X)] = true
		}
		return true
	})
	ast.Inspect(body, func(n ast.Node) bool {
		loop, is := n.(*ast.ForStmt)
		if !is || loop.Cond == nil {
			return true
		}
		ast.Inspect(loop.Cond, func(n ast.Node) bool {
			s, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			name := types.ExprString(s.X)
			if (s.Sel.Name == "Scan" || s.Sel.Name == "Next" && strings.HasSuffix(name, "rows")) && !asked[name] {
				note(loop, name+" ends at an error, and Err is not asked")
			}
			return true
		})
		return true
	})
}

// droppedErrors notes the errors of reads that a block compares with nil and then forgets.
func droppedErrors(block *ast.BlockStmt, note func(ast.Node, string)) {
	for i, statement := range block.List {
		branch, is := statement.(*ast.IfStmt)
		if !is {
			continue
		}
		from, rest := branch.Init, []ast.Stmt(nil)
		if from == nil && i > 0 {
			from, rest = block.List[i-1], block.List[i+1:]
		}
		read, is := from.(*ast.AssignStmt)
		if !is || len(read.Rhs) != 1 || readIn(read.Rhs[0]) == "" {
			continue
		}
		name := types.ExprString(read.Lhs[len(read.Lhs)-1])
		kept := mentions(branch.Body, name) || branch.Else != nil && mentions(branch.Else, name)
		switch compares(branch.Cond, name) {
		case token.NEQ:
		case token.EQL:
			kept = kept || slices.ContainsFunc(rest, func(s ast.Stmt) bool { return mentions(s, name) })
		default:
			continue
		}
		if !kept {
			note(branch, "the error of "+readIn(read.Rhs[0])+" is dropped")
		}
	}
}

// compares returns how a condition compares an error with nil; 0 = it looks closer.
func compares(cond ast.Expr, err string) (op token.Token) {
	closer := false
	ast.Inspect(cond, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.CallExpr:
			closer = closer || slices.ContainsFunc(e.Args, func(a ast.Expr) bool { return mentions(a, err) })
		case *ast.BinaryExpr:
			if op == 0 && isNamed(e.X, err) && isNamed(e.Y, "nil") {
				op = e.Op
			}
		}
		return true
	})
	if closer {
		return 0
	}
	return op
}

func isNamed(e ast.Expr, name string) bool {
	id, is := e.(*ast.Ident)
	return is && id.Name == name
}

// mentions reports whether code has a name.
func mentions(code ast.Node, name string) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && id.Name == name {
			found = true
		}
		return !found
	})
	return found
}
