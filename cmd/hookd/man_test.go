package main

import (
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// Each command has a page with the text of its help.
func TestManPages(t *testing.T) {
	hooktest.Long(t) // it compiles hookd once more
	dir := filepath.Join(t.TempDir(), "man")
	write := exec.CommandContext(t.Context(), "go", "run", "-trimpath", "-tags", "man", ".", dir)
	write.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "CGO_ENABLED=0")
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("go run -tags man: %v\n%s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for path := range shownCommands(newRoot(newApp(os.Stdin, os.Stdout, os.Stderr))) {
		want = append(want, filepath.Join(dir, strings.ReplaceAll(path, " ", "-")+".1"))
	}
	slices.Sort(want)
	if !slices.Equal(pages, want) {
		t.Errorf("got pages %q\nwant %q", pages, want)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "Nov 2023") {
			t.Errorf("%s has not the date of the sources", page)
		}
		for _, section := range []string{".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"} {
			if !strings.Contains(string(text), "\n"+section) && !strings.HasPrefix(string(text), section) {
				t.Errorf("%s has no %s", page, section)
			}
		}
	}
	lintMan(t, pages)
}

// shownCommands yields the command and those below it that help shows, as they
// are typed.
func shownCommands(cmd *cobra.Command) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(cmd.CommandPath()) {
			return
		}
		for _, sub := range cmd.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			for path := range shownCommands(sub) {
				if !yield(path) {
					return
				}
			}
		}
	}
}

// lintMan has the pages rendered by the installed program, mandoc or groff.
func lintMan(t *testing.T, pages []string) {
	if mandoc, err := exec.LookPath("mandoc"); err == nil {
		if out, err := exec.Command(mandoc, append([]string{"-T", "lint", "-W", "error"}, pages...)...).CombinedOutput(); err != nil {
			t.Errorf("mandoc: %v\n%s", err, out)
		}
		return
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("SKIP-TOOL mandoc, groff: the pages are not rendered")
	}
	for _, page := range pages {
		out, err := exec.Command(groff, "-K", "utf8", "-man", "-Tutf8", "-ww", "-z", page).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", page, err, out)
		}
	}
}
