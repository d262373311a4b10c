package client

import (
	"os"
	"syscall"
)

// open connects to a socket. Package net, which does the same, looks up types of other
// networks when a program starts, and names both ends of each connection: a twentieth of
// the time that a program takes which an agent starts for one event.
func open(path string) (socket, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := connectTo(fd, path); err != nil {
		syscall.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// connectTo connects a Unix socket, which the system does at once or not at all.
func connectTo(fd int, path string) error {
	for {
		if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != syscall.EINTR {
			return err
		}
	}
}
