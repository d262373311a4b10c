package main

import (
	"slices"
	"testing"
)

// Short columns stay as long as a longer one has room to give; where there is little they go
// by what they are worth.
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
		{"little room", 60, []int{8, 11, 100, 200, 6}, []int{8, 8, 15, 15, 6}},
		{"no room", 20, []int{8, 11, 100, 200, 6}, []int{8, 8, 8, 8, 6}},
	} {
		widths := slices.Clone(tt.widths)
		shrink(header, widths, tt.width)
		if !slices.Equal(widths, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, widths, tt.want)
		}
	}
}
