package attack

import (
	"fmt"
	"net"

	"github.com/hookd/hookd/internal/peer"
)

// listener returns the process that listens on a socket.
func listener(path string) (pid int, err error) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	p, err := peer.Of(raw)
	if err != nil {
		return 0, fmt.Errorf("ask which process listens: %w", err)
	}
	return p.PID, nil
}
