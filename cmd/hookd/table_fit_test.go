package main

import (
	"slices"
	"strings"
	"testing"
)

// Short columns stay as long as a longer one has room to give. Where there is little they go
// by their worth.
func TestColumnsShrinkByWorth(t *testing.T) {
	header := []column{{title: "TIME"}, asideColumn("AGENT"), textColumn("SUBJECT"), textColumn("REASON"), {title: "EVENT"}}
	for _, tt := range []struct {
		name         string
		width        int
		widths, want []int
	}{
		{"it fits", 80, []int{8, 11, 20, 20, 6}, []int{8, 11, 20, 20, 6}},
		{"two long texts", 120, []int{8, 11, 100, 200, 6}, []int{8, 11, 43, 44, 6}},
		{"one long text", 120, []int{8, 11, 10, 200, 6}, []int{8, 11, 10, 77, 6}},
		{"a long name beside long texts", 120, []int{8, 60, 100, 100, 6}, []int{8, 24, 37, 37, 6}},
		{"little room", 60, []int{8, 11, 100, 200, 6}, []int{8, 10, 14, 14, 6}},
		{"no room", 20, []int{8, 11, 100, 200, 6}, []int{8, 8, 8, 8, 6}},
	} {
		widths := slices.Clone(tt.widths)
		shrink(header, widths, tt.width)
		if !slices.Equal(widths, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, widths, tt.want)
		}
	}
}

// A column that another column or command repeats goes where the texts have no room. The column with the
// least worth goes where nothing has any. A name of a hook is cut at its beginning.
func TestColumnsGo(t *testing.T) {
	row := []cell{text("gallery/command-guard"), text("PreToolUse"), text("git push --force origin main"),
		text("a forced push overwrites what others have pushed")}
	for _, tt := range []struct {
		event column
		width int
		want  string
	}{
		{spareColumn("EVENT"), 0,
			"gallery/command-guard  PreToolUse  git push --force origin main  a forced push overwrites what others have pushed\n"},
		{spareColumn("EVENT"), 100,
			"gallery/command-guard  PreToolUse  git push --force origin main  a forced push overwrites what othe…\n"},
		{spareColumn("EVENT"), 80, "gallery/command-guard  PreToolUse  git push --force ori…  a forced push overwri…\n"},
		{spareColumn("EVENT"), 55, "gallery/command-guard  git push --for…  a forced push …\n"},
		{spareColumn("EVENT"), 50, "…ery/command-guard  git push --fo…  a forced push…\n"},
		{asideColumn("EVENT"), 40, "…and-guard  PreTool…  git pus…  a force…\n"},
		{asideColumn("EVENT"), 30, "…and-guard  git pus…  a force…\n"},
	} {
		var b strings.Builder
		header := []column{hookColumn("HOOK"), tt.event, textColumn("SUBJECT"), textColumn("REASON")}
		(&printer{w: &b, width: tt.width}).table(header, [][]cell{row})
		if _, line, _ := strings.Cut(b.String(), "\n"); line != tt.want {
			t.Errorf("at %d columns:\n%swant:\n%s", tt.width, line, tt.want)
		}
	}
}
