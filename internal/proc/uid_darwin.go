package proc

import "golang.org/x/sys/unix"

// UIDOf returns the user that a process acts as; false when there is no such process.
func UIDOf(pid int) (uid int, known bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, false
	}
	return int(p.Eproc.Ucred.Uid), true
}
