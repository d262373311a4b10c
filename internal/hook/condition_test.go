package hook

import (
	"regexp"
	"slices"
	"testing"
)

func TestFold(t *testing.T) {
	f, err := CompileFold("/Home/*/.ENV", '/')
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"/Home/u/.ENV": true, "/home/U/.env": true, "/home/u/v/.env": false, "/home/u/.env2": false, "": false,
	} {
		if got := f.Match(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
	if (Fold{}).Match("") || MatchAny(nil, "a") || MatchAny([]Fold{f}) || !MatchAny([]Fold{{}, f}, "a", "/home/u/.env") {
		t.Error("nothing matches, or all does")
	}
	if _, err := CompileFold("[a"); err == nil {
		t.Error("a broken pattern is accepted")
	}
}

func TestConditionIsShown(t *testing.T) {
	command, err := CompileCommand("git push --force -f origin")
	if err != nil || len(command.Words) != 3 || !slices.Equal(command.Flags, []string{"--force", "-f"}) {
		t.Fatalf("got %+v, %v", command, err)
	}
	if _, err := CompileCommand("  "); err == nil {
		t.Error("a command without a program is accepted")
	}
	fold := func(text string) Fold {
		f, err := CompileFold(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	c := Condition{
		Tools: []Fold{fold("Bash"), fold("Edit")}, Commands: []CommandPattern{command}, Paths: []Fold{fold("*.env")},
		Prompts: []*regexp.Regexp{regexp.MustCompile("(?i)deploy")},
		Data:    []DataPattern{{Path: []string{"a", "b"}, Patterns: []Fold{fold("x*")}}},
	}
	want := "tool: Bash or Edit, command: git push --force -f origin, path: *.env, prompt: (?i)deploy, data.a.b: x*"
	if got := c.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
