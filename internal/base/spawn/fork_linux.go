package spawn

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// forkAttr asks for the attributes of a process that Start makes.
func forkAttr(s *Spec, pidfd *int) *syscall.SysProcAttr {
	SealDescriptors()
	return &syscall.SysProcAttr{
		Setsid: true, PidFD: pidfd, Credential: s.As,
		UseCgroupFD: s.Cgroup != 0, CgroupFD: s.Cgroup,
	}
}

// SealDescriptors marks every descriptor but 0, 1 and 2 close-on-exec: one may come
// from the parent, or from code that opened it without. It needs close_range (Linux
// 5.11); without it, all that Go opens is marked anyway.
func SealDescriptors() {
	unix.CloseRange(3, lastDescriptor, unix.CLOSE_RANGE_CLOEXEC)
}

const lastDescriptor = 1<<32 - 1
