package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// decision is one record: its number, title, date and status, and all of its text.
var decision = regexp.MustCompile(`(?m)^## (\d{4}) (.+)\n\n(\d{4}-\d{2}-\d{2}), (accepted|superseded.*)\n`)

// Every record has its four parts and a number of its own, and the index links to its file.
func TestDecisions(t *testing.T) {
	index, err := os.ReadFile("design/decisions.md")
	if err != nil {
		t.Fatal(err)
	}
	topics, _ := filepath.Glob("design/decisions/*.md")
	known := map[string]string{}
	for _, topic := range topics {
		text, err := os.ReadFile(topic)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(index), "]("+strings.TrimPrefix(topic, "design/")+")") {
			t.Errorf("decisions.md does not link to %s", topic)
		}
		for _, record := range strings.Split(string(text), "\n## ")[1:] {
			m := decision.FindStringSubmatch("## " + record)
			if m == nil {
				t.Errorf("%s: want a number, a title, a date and a status at the top of %.60q", topic, record)
				continue
			}
			if other, ok := known[m[1]]; ok {
				t.Errorf("record %s is in %s and in %s", m[1], other, topic)
			}
			known[m[1]] = topic
			for _, part := range []string{"Context", "Decision", "Rejected", "Consequence"} {
				if !strings.Contains(record, "\n\n**"+part+".** ") {
					t.Errorf("%s: record %s has no %s", topic, m[1], part)
				}
			}
		}
	}
	if len(known) < 30 {
		t.Errorf("only %d records were read", len(known))
	}
}
