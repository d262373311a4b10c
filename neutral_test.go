package hookd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// systemRooms may name a system: its own folders, the words of the contract, and the
// two lists of file formats, which a test of package catalog compares.
var systemRooms = []string{
	"internal/contract/dialect/", "internal/hooks/source/", "internal/agents/bridge/shims/", "internal/agents/transcripts/",
	"internal/events/dialects.go", "internal/base/config/config.go",
	"internal/discovery/catalog/options.go", // imports the formats
}

// All other rooms know no system by its name: every difference is a value of the
// system's rules, its row or its folder.
func TestNeutralRoomsNameNoDialect(t *testing.T) {
	var names []string
	for _, d := range events.Dialects() {
		if d != events.Hookd {
			names = append(names, plain(string(d)))
		}
	}
	if len(names) < 15 || dialect.Rules(events.Familiar) == dialect.Rules("") {
		t.Fatalf("the index has %q", names)
	}
	files := 0
	for _, root := range []string{"internal", "client", "cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			in := func(room string) bool { return strings.HasPrefix(path, room) }
			switch {
			case err != nil, d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"),
				strings.Contains(path, "testdata"), slices.ContainsFunc(systemRooms, in):
				return err
			}
			files++
			namesNone(t, path, names)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 200 {
		t.Errorf("only %d files were read", files)
	}
}

// namesNone fails the test where a file has one of names as an identifier, a text or
// the end of an import path.
func namesNone(t *testing.T, file string, names []string) {
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

var spelling = strings.NewReplacer("-", "", "_", "")

// plain is a name without the signs that only spelling adds.
func plain(name string) string { return spelling.Replace(strings.ToLower(name)) }
