package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd/hookd/wire"
)

// vendorFile is a line of VENDOR.
type vendorFile struct{ file, pack, version, licence, inPack, sum string }

func vendorFiles(t *testing.T) (list []vendorFile) {
	t.Helper()
	text, err := os.ReadFile("assets/vendor/VENDOR")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" {
			if len(f) != 6 {
				t.Fatalf("VENDOR: %q has %d words, want 6", line, len(f))
			}
			list = append(list, vendorFile{f[0], f[1], f[2], f[3], f[4], f[5]})
		}
	}
	return list
}

// The page has the words of a decision in the order of wire.Outcomes.
func TestOutcomesOfThePage(t *testing.T) {
	text, err := os.ReadFile("assets/words.js")
	if err != nil {
		t.Fatal(err)
	}
	var quoted []string
	for _, o := range wire.Outcomes() {
		quoted = append(quoted, "'"+string(o)+"'")
	}
	if want := "export const outcomes = [" + strings.Join(quoted, ", ") + "];"; !strings.Contains(string(text), want) {
		t.Errorf("words.js does not have the line\n%s", want)
	}
}

// Each file of another author is as it was published, and its licence is here.
func TestVendoredFilesAreAsPublished(t *testing.T) {
	named := map[string]bool{"VENDOR": true}
	for _, v := range vendorFiles(t) {
		text, err := os.ReadFile(filepath.Join("assets/vendor", v.file))
		if err != nil {
			t.Error(err)
			continue
		}
		named[v.file] = true
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != v.sum {
			t.Errorf("%s is not the %s of %s %s: its sha256 is %x", v.file, v.inPack, v.pack, v.version, sum)
		}
		licence := "licences/" + strings.ReplaceAll(strings.TrimPrefix(v.pack, "@"), "/", "-")
		if strings.Contains(v.file, "testdata/") {
			licence = "testdata/axe.LICENSE"
		}
		words := map[string]string{"MIT": "Permission is hereby granted, free of charge", "Apache-2.0": "Apache License", "MPL-2.0": "Mozilla Public License"}
		if text, err := os.ReadFile(licence); err != nil || !strings.Contains(string(text), words[v.licence]) {
			t.Errorf("%s does not have the licence %s of %s (%v)", licence, v.licence, v.pack, err)
		}
	}
	files, err := os.ReadDir("assets/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !named[f.Name()] && !strings.HasSuffix(f.Name(), ".d.ts") { // types of ours, for the checker
			t.Errorf("VENDOR does not name %s", f.Name())
		}
	}
}

// The most that the files of the first view may weigh together, compressed, and the editor, which is read when one
// is opened.
const (
	maxAssets = 150_000
	maxEditor = 150_000
)

func TestAssetsAreSmall(t *testing.T) {
	all, editor := 0, 0
	for name, text := range assets() {
		if strings.HasSuffix(name, packed) {
			editor += len(text)
			continue
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(text)
		w.Close()
		all += b.Len()
	}
	if all > maxAssets || editor > maxEditor {
		t.Errorf("compressed, the page has %d bytes and the editor %d, more than %d and %d", all, editor, maxAssets, maxEditor)
	}
	t.Logf("%d files, %d bytes, compressed; the editor %d", len(assets()), all, editor)
}

// Lines of the page's modules are short, but the table of hidden characters. And a text that ends in a line has its
// blank before the element of the next line in an expression: the templates drop a blank beside a line's end.
func TestModulesReadWell(t *testing.T) {
	const most = 120
	glued := regexp.MustCompile("[a-z,:;.”)]\n\\s*<(b|a|code|span|i|kbd|small|strong|time)\\b")
	for name, text := range assets() {
		if path.Ext(name) != ".js" || strings.HasPrefix(name, "vendor/") {
			continue
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > most && !strings.HasPrefix(line, "const hidden = /[") {
				t.Errorf("%s:%d: more than %d columns", name, n, most)
			}
		}
		for _, found := range glued.FindAllString(string(text), -1) {
			t.Errorf("%s: no blank is between %q", name, found)
		}
	}
}

// The page asks for all of its modules at once: it names each module that another one imports,
// so that none waits for the module that names it. And the page shows its bar
// before any of them is there.
func TestThePageNamesAllThatItNeeds(t *testing.T) {
	page := string(assets()["index.html"])
	imports := regexp.MustCompile(`(?:\bfrom|\bimport)\s*['"]([^'" ]+)['"]`)
	seen := map[string]bool{"page.js": true}
	todo := []string{"page.js"}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		text, ok := assets()[name]
		if !ok {
			t.Errorf("%s is imported and not there", name)
			continue
		}
		for _, m := range imports.FindAllStringSubmatch(string(text), -1) {
			target := m[1]
			if !strings.HasPrefix(target, "./") && !strings.HasPrefix(target, "../") {
				t.Errorf("%s imports %q, which no browser finds", name, target)
				continue
			}
			if to := path.Join(path.Dir(name), target); !seen[to] {
				seen[to] = true
				todo = append(todo, to)
				if !strings.Contains(page, `<link rel="modulepreload" href="`+to+`">`) {
					t.Errorf("index.html does not name %s, which %s imports", to, name)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(assets())) {
		if path.Ext(name) == ".js" && !seen[name] {
			t.Errorf("nothing imports %s", name)
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"#]+)"`).FindAllStringSubmatch(page, -1) {
		if assets()[m[1]] == nil {
			t.Errorf("index.html names %s, which is not there", m[1])
		}
	}
	if !strings.Contains(page, `class="brand">hookd<`) {
		t.Error("index.html shows nothing before its modules are there")
	}
}

// The page has nothing that its policy forbids, and no way from text to markup.
func TestAssetsKeepThePolicy(t *testing.T) {
	bad := regexp.MustCompile(`(?i)innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|\beval\(|new Function|srcdoc|createContextualFragment|DOMParser`)
	inline := regexp.MustCompile(`(?i)<script(?:>|[^>]*>[^<])|<style|\sstyle=|\son[a-z]+=|https?://`)
	err := fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/vendor/") {
			return err
		}
		text, err := fs.ReadFile(embedded, name)
		if m := bad.Find(text); m != nil {
			t.Errorf("%s has %q", name, m)
		}
		if m := inline.Find(text); path.Ext(name) == ".html" && m != nil {
			t.Errorf("%s has %q, which the policy forbids", name, m)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
