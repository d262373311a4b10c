package hookd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parts are the types that a large one is made of, by folder. A part has references to later ones alone,
// so calls between them go one way. The last one is shared by all: each type that has it is a part.
var parts = map[string]string{
	"internal/daemon":               "Daemon meter persons vault inventory suspects",
	"internal/door/server":          "Server connections",
	"internal/hooks/source/hookdir": "checks draft valueReader",
	"internal/record/recorder":      "Recorder history newest waits",
	"internal/dispatch": "Dispatcher acceptor trials verdicts backlog resumer observers runs reader callTracker decisions " +
		"retries runRecords snapshots lifetime",
	"internal/record/store": "Store writeLoop maintenance healer opener transactions pendings aside mover merging acceptor " +
		"appender asks decisions archive deadLetters forwarding outbox sentIDs pendingRuns tables lossNotes auditing " +
		"manifestTable core",
	"internal/facts": "applier guesser emptying printing filler builtin use codeFollower toolScript powershell statement " +
		"makeReader xargs finder evaluation shell",
}

func TestPartsCallOneWay(t *testing.T) {
	for folder, names := range parts {
		order, seen := strings.Fields(names), 0
		shared := order[len(order)-1]
		eachType(t, folder, func(_ string, typ *ast.TypeSpec) {
			of, isStruct := typ.Type.(*ast.StructType)
			if !isStruct {
				return
			}
			from := slices.Index(order, typ.Name.Name)
			for _, field := range of.Fields.List {
				to := slices.Index(order, receiver(field.Type))
				switch {
				case to < 0:
				case from < 0 && receiver(field.Type) == shared && len(field.Names) == 0:
					t.Errorf("%s: %s is a part: put it into parts, in the order in which calls go", folder, typ.Name)
				case from >= to:
					t.Errorf("%s: %s refers to %s, which comes before it", folder, typ.Name, order[to])
				case from >= 0:
					seen++
				}
			}
		})
		if seen < len(order)-1 {
			t.Errorf("%s: only %d references between parts were seen", folder, seen)
		}
	}
}

// mostMethods is how many methods a type may have. A type that has more is in large, with its number,
// which only falls.
const mostMethods = 45

var large = map[string]int{
	"client Client":         72,
	"internal/facts finder": 57,
}

func TestTypesHaveFewMethods(t *testing.T) {
	methods := map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || path == "bench" || strings.HasPrefix(d.Name(), ".") && path != "." {
			return fs.SkipDir
		}
		eachDecl(t, path, func(_ string, d ast.Decl) {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[filepath.ToSlash(path)+" "+receiver(f.Recv.List[0].Type)]++
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range methods {
		if most := max(mostMethods, large[name]); n > most {
			t.Errorf("%s has %d methods, want %d at most: make it of parts, see internal/dispatch", name, n, most)
		}
	}
	for name, n := range large {
		if methods[name] < n {
			t.Errorf("%s has %d methods now: say so in large, or take it out", name, methods[name])
		}
	}
}

// verbs have one meaning in the whole tree; types of parts are nouns of the same list.
const verbs = "accept queue run start finish record drain back-off requeue evict expire reap kill release retain"

// nouns are words that two rooms could understand differently.
const nouns = "allow grant held permit slot lane layer policy judge effect settle strand door part call decision " +
	"outcome result ask"

// replaced are names of types that had another meaning of a word in the list of words.
var replaced = map[string]string{"lane": "strand", "permits": "slots"}

func TestWordsHaveOneMeaning(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Words\n")
	words := map[string]bool{}
	for line := range strings.Lines(table) {
		word, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if words[word] && isRow {
			t.Errorf("%s is in the list of words twice: give one of the two another word", word)
		}
		words[word] = true
	}
	for word := range strings.FieldsSeq(verbs + " " + nouns) {
		if !words[strings.ReplaceAll(word, "-", " ")] {
			t.Errorf("the list of words in ARCHITECTURE.md does not say what %s means", word)
		}
	}
	for folder := range parts {
		eachType(t, folder, func(file string, typ *ast.TypeSpec) {
			if replaced[typ.Name.Name] != "" {
				t.Errorf("%s: a %s is a %s", file, typ.Name, replaced[typ.Name.Name])
			}
		})
	}
}

// TestAWordIsOneType holds that a word of the list is one exported type in internal, beside its form on the wire.
func TestAWordIsOneType(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Words\n")
	folders := map[string]string{} // that have the type, by the word without spaces
	for line := range strings.Lines(table) {
		if word, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | "); isRow && word != "word" {
			folders[strings.ReplaceAll(word, " ", "")] = ""
		}
	}
	found := 0
	err = filepath.WalkDir("internal", func(folder string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" {
			return fs.SkipDir
		}
		eachType(t, folder, func(file string, typ *ast.TypeSpec) {
			other, isWord := folders[strings.ToLower(typ.Name.Name)]
			switch {
			case !isWord || !typ.Name.IsExported():
			case other != "" && other != folder:
				t.Errorf("%s: %s is a type of %s, too: a word of the list has one meaning", file, typ.Name, other)
			default:
				folders[strings.ToLower(typ.Name.Name)] = folder
				found++
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 10 {
		t.Errorf("only %d words are types", found)
	}
}

// eachType calls each with the types that a folder's files declare, tests apart.
func eachType(t *testing.T, folder string, each func(file string, typ *ast.TypeSpec)) {
	t.Helper()
	eachDecl(t, folder, func(file string, d ast.Decl) {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, spec := range g.Specs {
				if typ, isType := spec.(*ast.TypeSpec); isType {
					each(file, typ)
				}
			}
		}
	})
}

// eachDecl calls each with the declarations of a folder's files, tests apart.
func eachDecl(t *testing.T, folder string, each func(file string, d ast.Decl)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			each(name, d)
		}
	}
}

// receiver is the name of a type or of the type that a pointer is to; "" = it has none of its own.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
