package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// decision is one record: its number, title, date and status, and all of its text.
var decision = regexp.MustCompile(`(?m)^## (\d{4}) (.+)\n\n(\d{4}-\d{2}-\d{2}), (accepted|superseded.*)\n`)

// Every record has its four parts and its line in the index, every line its
// record, and the numbers have neither gaps nor doubles.
func TestDecisions(t *testing.T) {
	index, err := os.ReadFile("decisions.md")
	if err != nil {
		t.Fatal(err)
	}
	topics, _ := filepath.Glob("decisions/*.md")
	var numbers, lines []string
	for _, topic := range topics {
		text, err := os.ReadFile(topic)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(index), "]("+topic+")") {
			t.Errorf("decisions.md does not link to %s", topic)
		}
		for _, record := range strings.Split(string(text), "\n## ")[1:] {
			m := decision.FindStringSubmatch("## " + record)
			if m == nil {
				t.Errorf("%s: want a number, a title, a date and a status at the top of %.60q", topic, record)
				continue
			}
			numbers = append(numbers, m[1])
			for _, part := range []string{"Context", "Decision", "Rejected", "Consequence"} {
				if !strings.Contains(record, "\n\n**"+part+".** ") {
					t.Errorf("%s: record %s has no %s", topic, m[1], part)
				}
			}
			title := m[2]
			if strings.HasPrefix(m[4], "superseded") {
				title += " (" + strings.SplitN(m[4], ":", 2)[0] + ")"
			}
			lines = append(lines, fmt.Sprintf("| %s | %s | %s |", m[1], title, m[3]))
		}
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != fmt.Sprintf("%04d", i+1) {
			t.Fatalf("record %04d is missing or there twice, near %s", i+1, n)
		}
	}
	for _, line := range lines {
		if !strings.Contains(string(index), line+"\n") {
			t.Errorf("decisions.md lacks the line\n%s", line)
		}
	}
	if got := strings.Count(string(index), "\n| 0"); got != len(numbers) {
		t.Errorf("decisions.md has %d lines for %d records", got, len(numbers))
	}
}
