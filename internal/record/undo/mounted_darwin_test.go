package undo

import "testing"

// mounted returns no more file systems: those of a Mac share blocks anyway.
func mounted(*testing.T) []volume { return nil }
