package hook

import (
	"regexp"
	"testing"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/facts"
)

func TestConditionIsShown(t *testing.T) {
	command, err := facts.ParsePattern("git push --force -f origin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := facts.ParsePattern("  "); err == nil {
		t.Error("a command without a program is accepted")
	}
	fold := func(text string) pattern.Fold {
		f, err := pattern.CompileFold(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	c := Condition{
		Tools: []pattern.Fold{fold("Bash"), fold("Edit")}, Commands: []facts.CommandPattern{command}, Paths: []pattern.Fold{fold("*.env")},
		Prompts: []*regexp.Regexp{regexp.MustCompile("(?i)deploy")},
		Data:    []DataPattern{{Path: []string{"a", "b"}, Patterns: []pattern.Fold{fold("x*")}}},
	}
	want := "tool: Bash or Edit, command: git push --force -f origin, path: *.env, prompt: (?i)deploy, data.a.b: x*"
	if got := c.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
