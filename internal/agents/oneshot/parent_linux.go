package oneshot

import "syscall"

// endWithParent has a process asked to end when this one is killed.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
