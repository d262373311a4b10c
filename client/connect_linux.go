package client

import (
	"os"
	"syscall"
)

// open connects to a socket. An agent starts a program of this package for each event, and
// package net, which does the same, would be up to a twentieth of its time: it has tables
// to make when a program starts, and names both ends of each connection.
func open(path string) (socket, error) {
	fd, err := connected(path, syscall.SOCK_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openBlocking connects to a socket for one goroutine.
func openBlocking(path string) (socket, error) {
	fd, err := connected(path, 0)
	if err != nil {
		return nil, err
	}
	return &blocking{fd: fd}, nil
}

func connected(path string, flags int) (fd int, err error) {
	if fd, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|flags, 0); err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	if err := connectTo(fd, path); err != nil {
		syscall.Close(fd)
		return 0, os.NewSyscallError("connect", err)
	}
	return fd, nil
}

// connectTo connects a Unix socket, which the system does at once, or not at all where the
// socket does not block.
func connectTo(fd int, path string) error {
	for {
		if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != syscall.EINTR {
			return err
		}
	}
}
