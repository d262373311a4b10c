//go:build !linux

package facttest

import "testing"

// Main returns: there is no jail on this system.
func Main() {}

// JailResult is a jail's observation of an attack.
type JailResult struct {
	Done              bool
	Saw, Seen, Output string
}

// Jail is not on this system.
type Jail struct{}

// NewJail skips the test.
func NewJail(t testing.TB, _ ...string) *Jail {
	t.Helper()
	t.Skip("SKIP-TOOL jail: name spaces are of Linux")
	return nil
}

// Run is never called.
func (*Jail) Run(Attack) (JailResult, error) { return JailResult{}, nil }
