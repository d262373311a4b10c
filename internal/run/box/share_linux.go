//go:build !race

package box

import "syscall"

// share is the flag of clone by which the child shares this process's memory.
const share = syscall.CLONE_VM
