// Command hookd-bridge is what agents call as their own hook command: it
// passes their events to hookd and answers in their words. It is a program of
// its own so that it starts fast; `hookd bridge` is the same code. It promises
// what package bridge promises, and uses nothing but the standard library.
package main

import "github.com/hookd/hookd/internal/bridge"

func main() { bridge.Main() }
