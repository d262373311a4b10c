package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// On a narrow terminal a line has some of the subject and some of the reason, and all
// between them.
func TestFitting(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for _, tt := range []struct {
		name                  string
		width                 int
		tool, subject, reason string
		want                  []string
	}{
		{"it fits", 80, "Bash", "ls", "no", []string{"guard", "PreToolUse", "Bash: ls", "9ms", "no"}},
		{"no width", 0, "Bash", long, "no", []string{"guard", "PreToolUse", "Bash: " + long, "9ms", "no"}},
		{"no tool", 80, "", long, "no", []string{"guard", "PreToolUse", long, "9ms", "no"}},
		{"long subject", 80, "Bash", long, "short", []string{"guard", "Bash: word word word word word w…", "9ms", "short"}},
		{"long both", 80, "Bash", long, long, []string{"guard", "Bash: word word wo…", "9ms", long}},
		{"short subject", 80, "Bash", "ls", long, []string{"guard", "Bash: ls", "9ms", long}},
		{"wide characters", 60, "Bash", strings.Repeat("界", 40), "不行", []string{"guard", "Bash: 界界界…", "9ms", "不行"}},
		{"too narrow", 10, "Bash", long, long, []string{"guard", "…", "9ms", long}},
	} {
		p := &printer{width: tt.width}
		got := fitEntry(p, "guard", "PreToolUse", tt.tool, tt.subject, tt.reason, "9ms")
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		line := entryHead + runewidth.StringWidth(strings.Join(got, "  "))
		if tt.reason == "short" && line > tt.width {
			t.Errorf("%s: %d columns", tt.name, line)
		}
	}
}
