package dispatch

import (
	"testing"

	"github.com/hookd/hookd/wire"
)

// The cause of a failure is the last line with words, without the frame that programs draw around it.
func TestTheLastLineWithWordsIsTheCause(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "",
		"no such table\n\n": "no such table",
		"one\ntwo\n":        "two",
		"\x1b[31m╷\x1b[0m\n\x1b[31m│\x1b[0m \x1b[1mError: \x1b[0mmissing region\n\x1b[31m╵\x1b[0m\x1b[0m\n": "Error: missing region",
		"10 %\r100 %\rno space left\r\n": "no space left",
		"----\n====\n":                   "====",
		"\x1b[31m":                       "",
	} {
		if got := lastLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	colours := wire.Output{Head: "\x1b[31mguard: 4: jq: not found\x1b[0m\nok\n"}
	if got := lineWith(colours, brokenEnd, brokenLine); got != "guard: 4: jq: not found" {
		t.Errorf("%q", got)
	}
	for line, broken := range map[string]bool{
		"/bin/sh: 1: jq: Permission denied":          true,
		"run.sh: line 2: jq: Permission denied":      true,
		"cat: /etc/shadow: Permission denied":        false,
		"run.sh: line 2: /root/x: Permission denied": false,
	} {
		if got := lineWith(wire.Output{Head: line + "\nok\n"}, brokenEnd, brokenLine); (got != "") != broken {
			t.Errorf("%s: %q, want a cause: %v", line, got, broken)
		}
	}
}
