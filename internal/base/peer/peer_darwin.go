package peer

import (
	"errors"
	"syscall"
	"unsafe"
)

// From <sys/un.h>.
const (
	solLocal  = 0
	peerCred  = 1
	peerPID   = 2
	xuVersion = 0
)

// xucred is struct xucred of <sys/ucred.h>.
type xucred struct {
	version uint32
	uid     uint32
	ngroups int16
	groups  [16]uint32
}

func credentials(fd int) (Process, error) {
	var cred xucred
	size := uint32(unsafe.Sizeof(cred))
	_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), solLocal, peerCred,
		uintptr(unsafe.Pointer(&cred)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return Process{}, errno
	}
	if cred.version != xuVersion || size != uint32(unsafe.Sizeof(cred)) {
		return Process{}, errors.New("the system answered with credentials of another form")
	}
	pid, err := syscall.GetsockoptInt(fd, solLocal, peerPID)
	return Process{UID: int(cred.uid), PID: pid}, err
}
