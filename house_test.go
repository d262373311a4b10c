package hookd

import (
	"bytes"
	_ "embed"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const maxColumns = 120

// wordList has a word on each line that says less than the field's own: say what does it, or what is done.
//
//go:embed testdata/words.txt
var wordList string

var (
	words = strings.Split(strings.TrimSpace(wordList), "\n")
	word  = regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
)

// account is the user of that name, which is the right word for it.
var account = regexp.MustCompile("(?i)[\"'`=:( ](user |account |const |of )?`?nobody[\"'`:) ,]? ?(= 65534|user|account)|[\"'`]nobody[\"'`]|User=nobody")

// references to documents that are not in the repository.
var references = regexp.MustCompile(`\bSPEC\b|\bseed 0\d\d\b|shared/reference/`)

// TestHouseStyle looks at the lines of every file that is under version control.
func TestHouseStyle(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "--", "*.go", "*.md", "*.py", "*.sh", "*.ts", "*.txtar",
		"*.yaml", "Makefile", "packaging/systemd").Output()
	if err != nil {
		t.Skipf("SKIP-TOOL git: this is no checkout: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if err != nil || isFixture(name) || name == "house_test.go" {
			continue
		}
		suspect := has(bytes.ToLower(text), words...) // the expression is slow, and most files have no such word
		refers := has(text, "SPEC", "seed 0", "shared/reference/")
		isCode := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".py")
		for n, line := range bytes.Split(text, []byte("\n")) {
			line := string(line)
			complain := func(what string) {
				t.Errorf("%s:%d: %s: %s", name, n+1, what, strings.TrimSpace(line))
			}
			if isCode && columns(line) > maxColumns && !isLiteral(line) && !strings.HasPrefix(line, "_TABLES = ") {
				complain("more than 120 columns")
			}
			if suspect {
				if found := word.FindString(account.ReplaceAllString(line, "")); found != "" {
					complain("say it in plain words, not " + found)
				}
			}
			if strings.HasSuffix(name, "_test.go") && strings.Contains(line, sleeps) {
				complain("wait for the condition, see hooktest.Until")
			}
			if refers && references.MatchString(line) {
				complain("the document is not in the repository: state the rule")
			}
		}
	}
}

// mostLines is how many lines a function may have.
const mostLines = 100

// TestFunctionsAreShort counts the lines of each function outside of tests.
func TestFunctionsAreShort(t *testing.T) {
	files, seen := token.NewFileSet(), 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			seen++
			name := filepath.ToSlash(filepath.Dir(path)) + " " + fn.Name.Name
			n := files.Position(fn.End()).Line - files.Position(fn.Pos()).Line + 1
			if n > mostLines {
				t.Errorf("%s has %d lines, want %d at most: split it along the joints of its subject", name, n, mostLines)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 5000 {
		t.Errorf("only %d functions were seen", seen)
	}
}

// mostGo is how many lines of Go the tree may have without tests, see decision 0151. It falls with each deletion. A
// feature that needs more lines raises it in a commit of its own, which says why.
const mostGo = 178_560

func TestTreeIsLight(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "--", "*.go", ":!*_test.go").Output()
	if err != nil {
		t.Skipf("SKIP-TOOL git: this is no checkout: %v", err)
	}
	lines := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted, and not yet committed
			t.Fatal(err)
		}
		lines += bytes.Count(text, []byte{'\n'})
	}
	if lines > mostGo || lines < mostGo*9/10 {
		t.Errorf("%d lines of Go without tests, want %d at most: delete lines, or change mostGo", lines, mostGo)
	}
}

// leaning finds comments that lean on a word where the name of the thing says more.
var leaning = regexp.MustCompile(`(?i)\b(what|those that|one that|of it|by itself)\b`)

// mostLeaning is how many of a thousand comment lines may do so. The number only falls.
const mostLeaning = 5

// TestCommentsNameThings counts the lines of comments that lean on such words.
func TestCommentsNameThings(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "--", "*.go").Output()
	if err != nil {
		t.Skipf("SKIP-TOOL git: this is no checkout: %v", err)
	}
	lines, lean := 0, 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if err != nil || isFixture(name) {
			continue
		}
		for line := range strings.Lines(string(text)) {
			comment, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
			if !ok || strings.HasPrefix(comment, "go:") {
				continue
			}
			lines++
			if leaning.MatchString(comment) {
				lean++
			}
		}
	}
	if lean*1000 > mostLeaning*lines {
		t.Errorf("%d of %d lines of comments lean on what, those that, one that, of it or by itself: name the thing", lean, lines)
	}
}

// sleeps is a wait for a time, where a test should wait for a condition.
const sleeps = "time." + "Sleep("

func has(text []byte, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return bytes.Contains(text, []byte(p)) })
}

// topLevel is what a newcomer sees first. What a program has left there by mistake does not
// belong to it.
const topLevel = ".ci .editorconfig .gitattributes .github .gitignore .golangci.yml " +
	"ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md LICENSE Makefile README.md SECURITY.md THIRD_PARTY action.yml " +
	"bench client cmd demo docs go.mod go.sum house_test.go internal layers_test.go neutral_test.go packaging parts_test.go reads_test.go sdk testdata ways_test.go wire"

func TestTopLevel(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("SKIP-TOOL git: this is no checkout: %v", err)
	}
	wanted := map[string]bool{}
	for name := range strings.FieldsSeq(topLevel) {
		wanted[name] = true
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name, _, _ := strings.Cut(path, "/"); !wanted[name] {
			wanted[name] = true // said once
			t.Errorf("%s is under version control: remove it, or add %s to topLevel", path, name)
		}
	}
}

// isFixture reports whether a file is data of tests; their scripts are not.
func isFixture(name string) bool {
	return strings.Contains(name, "testdata/") && !strings.HasSuffix(name, ".txtar")
}

// columns is the width of a line; a tab has four.
func columns(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}

var (
	literal = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|https?://\\S+")
	opened  = regexp.MustCompile("`[^`]*$|^[^`]*`")
)

// isLiteral reports whether a line is mostly text: without its literals it is short.
func isLiteral(line string) bool {
	return columns(literal.ReplaceAllString(line, "")) <= maxColumns/2 || columns(opened.ReplaceAllString(line, "")) <= maxColumns/2
}
