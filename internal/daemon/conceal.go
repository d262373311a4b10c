package daemon

import "github.com/hookd/hookd/internal/proc"

// Conceal keeps this process's memory, environment and descriptors from the
// hooks that it starts and from the user's other processes. It is for a process
// that is a daemon and nothing else.
func Conceal() error { return proc.Conceal() }
