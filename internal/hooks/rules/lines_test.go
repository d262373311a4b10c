package rules_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/facts/facttest"
)

var linesFile = flag.String("lines", "", "a file of lines as in testdata/guards.txt, to be judged and counted")

// TestLines counts the answers of the gallery's guards to the lines of a file: how fresh lines are tried.
func TestLines(t *testing.T) {
	if *linesFile == "" {
		t.Skip("without -lines")
	}
	judge := galleryJudge(t)
	text, err := os.ReadFile(*linesFile)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		want, call, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || want == "#" {
			continue
		}
		call = strings.TrimSpace(call)
		got, reason := judge(written(t, call))
		counts[fmt.Sprintf("%s: %s", want, got)]++
		if (want == "stop") == (got == facttest.Pass) {
			fmt.Printf("%-5s %-7s %s\t%s\n", want, got, call, reason)
		}
	}
	fmt.Println(counts)
}
