package hookfiles

import (
	"fmt"
	"strings"
)

// Limits of the lines that are compared, and of the lines that are shown.
const (
	maxCompared = 2000
	maxShown    = 200
)

// Lines says how after differs from before: lines that begin with -, + or
// a blank, those far from any change left out.
func Lines(before, after string) []string {
	a, b := lines(before), lines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	for _, l := range a[max(0, head-3):head] {
		out = append(out, " "+l)
	}
	out = append(out, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, l := range a[len(a)-tail : min(len(a), len(a)-tail+3)] {
		out = append(out, " "+l)
	}
	if len(out) > maxShown {
		out = append(out[:maxShown], fmt.Sprintf(" … and %d lines more", len(out)-maxShown))
	}
	return out
}

// middle compares by the longest common subsequence; very long texts count as
// wholly different.
func middle(a, b []string) (out []string) {
	if len(a) > maxCompared || len(b) > maxCompared {
		return append(prefixed("-", a), prefixed("+", b)...)
	}
	long := make([][]int, len(a)+1)
	for i := range long {
		long[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, " "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && long[i+1][j] >= long[i][j+1]:
			out = append(out, "-"+a[i])
			i++
		default:
			out = append(out, "+"+b[j])
			j++
		}
	}
	return out
}

func prefixed(sign string, list []string) (out []string) {
	for _, l := range list {
		out = append(out, sign+l)
	}
	return out
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
