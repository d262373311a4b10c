package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// THIRD_PARTY names the modules of the programs on all systems, with today's
// versions, and has their licences as the module cache has them.
func TestThirdPartyIsCompleteAndCurrent(t *testing.T) {
	text, err := os.ReadFile("../../THIRD_PARTY")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	want := heading("The Go standard library", "")
	cached := true
	for _, m := range modules {
		want += heading(m.Path, m.Version)
		cached = cached && m.Dir != ""
	}
	dir, err := pageDir()
	if err != nil {
		t.Fatal(err)
	}
	packages, err := pagePackages(dir)
	if err != nil || len(packages) < 4 {
		t.Fatalf("the page has the packages %q, %v", packages, err)
	}
	for _, p := range packages {
		name, version, _ := strings.Cut(p, " ")
		want += heading("npm "+name, version)
	}
	got := ""
	for _, title := range regexp.MustCompile(`\n={80}\n([^\n]+)\n`).FindAllString(string(text), -1) {
		got += title
	}
	if got != want {
		t.Errorf("THIRD_PARTY has other modules than the programs, type make notices:\ngot %s\nwant %s", got, want)
	}
	if !cached {
		t.Skip("SKIP-TOOL module cache: it lacks modules, so their licences are not compared")
	}
	if fresh, err := thirdParty(); err != nil || !bytes.Equal(fresh, text) {
		t.Errorf("THIRD_PARTY has not the licences of today's modules, type make notices (%v)", err)
	}
}

// A module without a licence is not passed over.
func TestAModuleWithoutALicenceIsAnError(t *testing.T) {
	dir := t.TempDir()
	if files, err := (module{Path: "x/y", Dir: dir, packages: []string{dir}}).notices(); err == nil {
		t.Errorf("no error, but %q", files)
	}
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LICENSE-3RD", "a/NOTICE", "a/b/COPYING.txt", "a/license.go", "a/main.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := (module{Path: "x/y", Dir: dir, packages: []string{inner}}).notices()
	got := strings.ReplaceAll(strings.Join(files, " "), dir+"/", "")
	if err != nil || got != "LICENSE-3RD a/NOTICE a/b/COPYING.txt" {
		t.Errorf("got %q, %v", got, err)
	}
}

// The SBOM of a program has its modules and its sum, the fields that CycloneDX
// requires, and the same bytes each time.
func TestSBOM(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "hookd-bridge")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", program, "../../cmd/hookd-bridge")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	var texts [2][]byte
	for i := range texts {
		file := filepath.Join(dir, "sbom")
		if err := writeSBOM(file, "1.2.3", []string{program, self}); err != nil {
			t.Fatal(err)
		}
		if texts[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("the same programs gave other bytes")
	}
	var b bom
	dec := json.NewDecoder(bytes.NewReader(texts[0]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		t.Fatal(err)
	}
	serial := regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if b.Format != "CycloneDX" || b.Spec != "1.6" || b.Version != 1 || !serial.MatchString(b.Serial) {
		t.Errorf("head is %q %q %d %q", b.Format, b.Spec, b.Version, b.Serial)
	}
	if at, err := time.Parse(time.RFC3339, b.Metadata.Timestamp); err != nil || at.Unix() != 1700000000 {
		t.Errorf("made at %q", b.Metadata.Timestamp)
	}
	main := b.Metadata.Component
	if main.Type != "application" || main.Name == "" || main.Version != "1.2.3" || len(main.Components) != 2 {
		t.Fatalf("it describes %+v", main)
	}
	refs := map[string]bool{}
	for _, c := range append(append([]component{main}, main.Components...), b.Components...) {
		if c.Type == "" || c.Name == "" || c.Version == "" && c.Type == "library" || c.Ref == "" || refs[c.Ref] {
			t.Errorf("component %+v lacks a field, or its bom-ref is another's", c)
		}
		refs[c.Ref] = true
	}
	for _, d := range b.Dependencies {
		for _, ref := range append([]string{d.Ref}, d.DependsOn...) {
			if !refs[ref] {
				t.Errorf("%q is used and not described", ref)
			}
		}
	}
	bridge := main.Components[0]
	if len(bridge.Hashes) != 1 || bridge.Hashes[0].Alg != "SHA-256" || len(bridge.Hashes[0].Content) != 64 {
		t.Errorf("the program's sum is %+v", bridge.Hashes)
	}
	if used := b.Dependencies[0].DependsOn; len(used) != 1 || !strings.HasPrefix(used[0], "pkg:golang/stdlib@") {
		t.Errorf("the bridge, which has the standard library alone, uses %q", used)
	}
}

// The SBOM names the npm packages whose files the page is served with, each with its version,
// licence and the sums of its files: of a program that has the page, and of no other.
func TestSBOMNamesThePage(t *testing.T) {
	dir, err := pageDir()
	if err != nil {
		t.Fatal(err)
	}
	files, err := pageFiles(dir)
	if err != nil || len(files) < 5 {
		t.Fatalf("the page has the files %v of other authors, %v", files, err)
	}
	program := []byte("the program begins")
	for _, f := range files {
		text, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		program = append(append(program, text...), 0)
	}
	list, err := npmPackages(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		at := slices.IndexFunc(list, func(c component) bool { return c.Name == f.pack && c.Version == f.version })
		if at < 0 {
			t.Errorf("%s %s is not named", f.pack, f.version)
			continue
		}
		c := list[at]
		sum := slices.IndexFunc(c.Components, func(c component) bool { return c.Name == f.inPack && c.Hashes[0].Content == f.sum })
		if len(c.Licences) != 1 || c.Licences[0].License.ID != f.licence || sum < 0 || c.PURL != c.Ref || strings.Count(c.PURL, "@") != 1 {
			t.Errorf("%s is described as %+v", f.pack, c)
		}
	}
	if list, err := npmPackages([]byte("another program")); err != nil || len(list) != 0 {
		t.Errorf("a program without the page has %v, %v", list, err)
	}
}

func TestSBOMRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sbom")
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if err := writeSBOM(file, "1", []string{"x"}); err == nil {
		t.Error("a time that is no number was taken")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	for _, programs := range [][]string{nil, {"main.go"}, {"missing"}} {
		if err := writeSBOM(file, "1", programs); err == nil {
			t.Errorf("no error for %q", programs)
		}
	}
}
