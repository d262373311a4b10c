package main

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/verdict"
)

// A topic is short, and tells a model of no command that makes a guard weaker.
func TestTopicsAreForModels(t *testing.T) {
	for _, name := range topicNames() {
		text, err := topics.ReadFile("topics/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if less := verdict.WithoutWeakening(string(text)); less != string(text) {
			t.Errorf("%s names a command that weakens a guard:\n%s", name, less)
		}
		if lines := strings.Count(string(text), "\n"); lines > 20 || !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s has %d lines, at most 20 and a title are wanted", name, lines)
		}
	}
}
