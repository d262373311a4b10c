package main

import (
	"io"

	harmless "github.com/hookd/hookd/internal/base/escape"
)

// The characters that escape leaves alone.
const (
	keepNothing  = harmless.Nothing
	keepTabs     = harmless.Tabs
	keepNewlines = harmless.Newlines
)

// escape makes text harmless on a terminal.
func escape(s string, k harmless.Keep) string { return harmless.Text(s, k) }

// withoutColours is the output of a program without its colours.
func withoutColours(s string) string { return harmless.WithoutColours(s) }

// quote makes text a word of a command that a person is to type.
func quote(s string) string { return harmless.Quote(s) }

// escaper escapes the text that is written to a terminal, whole entries at a time.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, escape(string(p), keepNewlines)); err != nil {
		return 0, err
	}
	return len(p), nil
}
