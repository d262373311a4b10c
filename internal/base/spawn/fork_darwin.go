package spawn

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// forkAttr asks for the attributes of a process that Start makes.
func forkAttr(s *Spec, _ *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Credential: s.As}
}

// SealDescriptors marks every descriptor but 0, 1 and 2 close-on-exec, should one have
// come from our parent. Go sees to the files that this program opens later.
func SealDescriptors() {
	entries, _ := os.ReadDir("/dev/fd") // an error leaves the entries before it
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
