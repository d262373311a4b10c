package main

import "testing"

// A cell is whole, quoted where it must be, and never a formula of a spreadsheet.
func TestCSV(t *testing.T) {
	rows := [][]cell{{text("A"), text("B")}, {text(`say "x, y"`), text("=1+1")}, {text("-n"), text("@b")}}
	if got, want := csvOf(rows), "A,B\n\"say \"\"x, y\"\"\",'=1+1\n'-n,'@b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
