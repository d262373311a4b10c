// Command hookd-bridge is the program that agents call as their own hook command. It
// passes their events to hookd and answers in their words. It is a program of
// its own so that it starts fast; `hookd bridge` is the same code. It keeps the promises
// of package bridge, and uses nothing but the standard library.
//
// Go need not look how many processors its cgroup grants, and not again: the bridge ends before that counts.
//
//go:debug updatemaxprocs=0
//go:debug containermaxprocs=0
package main

import (
	"os"

	"github.com/hookd/hookd/internal/agents/bridge"
)

// Set by the linker, as hookd's own: `hookd doctor AGENT` compares the two.
var version, commit string

func main() {
	if len(os.Args) == 2 && (os.Args[1] == "version" || os.Args[1] == "--version") {
		os.Stdout.WriteString("hookd-bridge " + version + " " + commit + "\n")
		return
	}
	bridge.Main()
}
