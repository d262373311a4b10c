package server

import (
	"errors"
	"net"
	"os"
	"strconv"
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
	var peer Peer
	var asked error
	err = raw.Control(func(fd uintptr) { peer.UID, peer.PID, asked = credentials(int(fd)) })
	if err = errors.Join(err, asked); err != nil {
		return Peer{}, err
	}
	peer.Sender = "uid:" + strconv.Itoa(peer.UID)
	if peer.welcome() {
		peer.Origin = s.opt.Origin(peer.PID)
	}
	return peer, nil
}

// welcome reports whether the peer is the daemon's own user or root.
func (p Peer) welcome() bool { return p.UID == 0 || p.UID == os.Geteuid() }
