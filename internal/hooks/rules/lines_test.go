package rules_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/hooks/rules"
)

var linesFile = flag.String("lines", "", "a file of lines as in testdata/guards.txt, to be judged and counted")

// TestLines counts the answers of the gallery's guards to the lines of a file: how fresh lines are tried.
func TestLines(t *testing.T) {
	if *linesFile == "" {
		t.Skip("without -lines")
	}
	var all []*rules.Set
	for _, name := range galleryGuards {
		all = append(all, gallery(t, name))
	}
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
		s := subject(t, written(t, call))
		var worst rules.Decision
		reason := ""
		for _, set := range all {
			v := set.Judge(s)
			if v.Decision == rules.Deny || v.Decision == rules.Ask && worst != rules.Deny || worst == "" {
				worst, reason = v.Decision, v.Reason()
			}
		}
		counts[fmt.Sprintf("%s: %s", want, worst)]++
		if want == "stop" && worst == "" || want == "pass" && (worst == rules.Ask || worst == rules.Deny) || want == "pass" && worst != "" && testing.Verbose() {
			fmt.Printf("%-7s %-7s %s\t%s\n", want, worst, call, reason)
		}
	}
	fmt.Println(counts)
}
