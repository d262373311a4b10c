package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/contract/verdict"
)

// Each command stands in the table of impacts, and nothing else does.
func TestEachCommandHasAnImpact(t *testing.T) {
	seen := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			path := pathOf(c)
			seen[path] = true
			switch impacts[path].kind {
			case looks, acts, answers, weakens:
			default:
				t.Errorf("hookd %s is not in the table of impacts: can a guard become weaker by it?", path)
			}
			for _, flag := range impacts[path].unless {
				if c.Flags().Lookup(flag) == nil {
					t.Errorf("hookd %s has no flag --%s", path, flag)
				}
			}
			walk(c)
		}
	}
	walk(newRoot(&app{}))
	for path, e := range impacts {
		if path == "undo" { // reasons name it, and never --purge
			continue
		}
		if name, _, _ := strings.Cut(path, " "); e.kind == weakens && !slices.Contains(verdict.WeakeningCommands, name) {
			t.Errorf("a model may be told to type hookd %s: add it to verdict.WeakeningCommands", name)
		}
	}
	for path := range impacts {
		if !seen[path] && path != "help" {
			t.Errorf("there is no command hookd %s", path)
		}
	}
}

func TestWeakeningLines(t *testing.T) {
	for _, tt := range []struct {
		line    []string
		weakens bool
	}{
		{[]string{"disable", "guard", "--yes"}, true},
		{[]string{"allow"}, false},
		{[]string{"allow", "guard"}, true},
		{[]string{"allow", "--gone", "guard"}, true},
		{[]string{"init", "--undo", "--yes"}, true},
		{[]string{"disconnect", "claude-code", "--dry-run"}, false},
		{[]string{"disconnect", "claude-code"}, true},
		{[]string{"trust", "--list"}, false},
		{[]string{"trust", "--revoke"}, true},
		{[]string{"policy", "unset"}, true},
		{[]string{"policy", "show"}, false},
		{[]string{"add", "gallery/command-guard"}, false},
		{[]string{"add", "--frozen"}, true},
		{[]string{"bridge", "claude-code"}, false},
		{[]string{"run", "--", "true"}, true},
		{[]string{"kill", "01J"}, true},
	} {
		cmd, rest, err := newRoot(&app{}).Find(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Fatal(err)
		}
		if got := weakensGuards(cmd, cmd.Flags().Args()); got != tt.weakens {
			t.Errorf("%q weakens a guard: %v", tt.line, got)
		}
	}
}
