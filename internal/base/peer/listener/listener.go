// Package listener says which process listens on a Unix socket. It connects, asks the kernel
// and sends nothing, so a process that listens and never accepts answers as well. It is a
// room beside peer because the bridge has peer and is to have no package net.
//
// It does not wait: a socket whose queue of connections is full is EAGAIN.
package listener

import (
	"fmt"
	"net"

	"github.com/hookd/hookd/internal/base/peer"
)

// Of returns the process that began to listen at path. An error of the connection wraps the
// system's: ECONNREFUSED where nothing listens, ENOENT where there is no socket.
func Of(path string) (peer.Process, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return peer.Process{}, err
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer.Process{}, err
	}
	process, err := peer.Of(raw)
	if err != nil {
		return peer.Process{}, fmt.Errorf("ask which process listens on %s: %w", path, err)
	}
	return process, nil
}
