package match

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/events"
)

// The neutral rooms know no system by its name: what differs is a value of the
// system's rules, its row or its folder.
func TestTheCoreNamesNoDialect(t *testing.T) {
	var names []string
	for _, d := range events.Dialects() {
		if d != events.Hookd {
			names = append(names, plain(string(d)))
		}
	}
	if len(names) < 15 || dialect.Rules(events.Familiar) == dialect.Rules("") {
		t.Fatalf("the index has %q", names)
	}
	for _, room := range strings.Fields(
		". ../daemon ../discovery ../dispatch ../doctor ../hook ../judge ../metrics ../proc ../runner ../server " +
			"../store ../stream ../trace ../trust ../worker",
	) {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", room, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				var text string
				switch n := n.(type) {
				case *ast.Ident:
					if n.Name != "cursor" { // a place in a list
						text = n.Name
					}
				case *ast.BasicLit: // import paths among them
					text, _ = strconv.Unquote(n.Value)
					text = text[strings.LastIndex(text, "/")+1:]
				}
				if slices.Contains(names, plain(text)) {
					t.Errorf("%s names a dialect: %s", set.Position(n.Pos()), text)
				}
				return true
			})
		}
	}
}

// plain is a name without what only spelling adds.
func plain(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
}
