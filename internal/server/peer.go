package server

import (
	"errors"
	"net"
	"strconv"

	"github.com/hookd/hookd/internal/peer"
)

// identify asks the kernel who is at the other end of c, and takes hold of its
// socket.
func (s *Server) identify(c *conn) (Peer, error) {
	uc, ok := c.raw.(*net.UnixConn)
	if !ok {
		return Peer{}, errors.New("not a unix socket")
	}
	raw, err := uc.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	c.wire.socket = raw
	process, err := peer.Of(raw)
	if err != nil {
		return Peer{}, err
	}
	from := Peer{UID: process.UID, PID: process.PID, Sender: "uid:" + strconv.Itoa(process.UID)}
	if from.welcome() {
		from.Origin = s.opt.Origin(from.PID)
	}
	return from, nil
}

// welcome reports whether the peer is the daemon's own user or root.
func (p Peer) welcome() bool { return peer.Process{UID: p.UID}.Trusted() }
