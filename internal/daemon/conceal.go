package daemon

import "github.com/hookd/hookd/internal/proc"

// Conceal hides this process's memory, environment and descriptors from the hooks that
// it starts and from the user's other processes. It is for a process that is nothing
// but a daemon.
func Conceal() error { return proc.Conceal() }
