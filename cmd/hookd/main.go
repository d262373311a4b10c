// Package main is hookd's command line: flags and text for people and, with
// -o json, for programs. It promises the exit codes 0 ok, 1 failed or denied,
// 2 usage, 3 daemon not running, 4 no answer in time, 5 rejected
// configuration; that every error ends with the command to type next; and
// that text which came from an agent or a hook reaches a terminal only with
// its control characters escaped. It decides nothing about hooks: the printed
// text comes from the daemon, or from the same code read without one.
package main

import (
	"context"
	"os"
	"runtime/debug"
)

func main() {
	collectSeldom()
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	os.Exit(a.run(context.Background(), os.Args[1:]))
}

// collectSeldom makes Go collect garbage less often than it does in so small a heap: most commands end
// before they collect, and the daemon sets a limit of its own. GOGC in the environment wins.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
