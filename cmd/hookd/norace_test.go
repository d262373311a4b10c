//go:build !race

package main

// raced tells that the race detector watches, which takes several times the memory.
const raced = false
