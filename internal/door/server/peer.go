package server

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/hookd/hookd/internal/base/peer"
	"github.com/hookd/hookd/wire"
)

// identify asks the kernel which process is at the other end of c, and takes hold of its
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
	c.incoming.socket = raw
	process, err := peer.Of(raw)
	if err != nil {
		return Peer{}, err
	}
	from := Peer{
		UID: process.UID, PID: process.PID, Sender: "uid:" + strconv.Itoa(process.UID), Handle: peer.HandleOf(raw),
	}
	if from.Owner = s.opt.isOwner(process); !s.welcome(from) {
		return from, nil
	}
	from.Origin = s.opt.Origin(from)
	if s.opt.Public {
		from.Program = s.opt.Program(from.PID)
	}
	return from, nil
}

// welcome reports whether the peer may connect.
func (s *Server) welcome(p Peer) bool { return p.Owner || s.opt.Public }

// access says which users may use a route. On a server that is not Public every peer is
// an owner.
type access string

const (
	everyUser access = "every user" // for an event of their own
	ownerOnly access = "the owner"  // root, and the user that the daemon runs as
)

// admits reports whether the peer is one of those users.
func (a access) admits(p Peer) bool { return a == everyUser || p.Owner }

// errOwner refuses a request that is not for the peer.
func errOwner(p Peer) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeForbidden,
		Message: fmt.Sprintf("this is not for uid %d: users may send events to the system daemon, all else is root's", p.UID),
		Hint:    "type it behind sudo, or ask your own daemon",
	}
}

// visible returns the part of an answer that the peer may see: a user of a Public server the
// verdict of its own event, and no hook, run or number of others.
func (p Peer) visible(a wire.Answer) wire.Answer {
	if p.Owner {
		return a
	}
	return wire.Answer{
		EventID: a.EventID, Duplicate: a.Duplicate, Verdict: a.Verdict, Warnings: []string{}, Matched: []string{},
	}
}
