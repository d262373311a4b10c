package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"go.uber.org/zap"
)

// watch looks each lookAgain whether the socket is still where clients look for
// it. One that was removed or replaced is bound again, which serve is told; the
// error says why it cannot be, and is nil when the server ends.
func (s *Server) watch(ctx context.Context, serve func(net.Listener)) error {
	look := time.NewTicker(s.opt.lookAgain)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-s.quit:
			return nil
		case <-ctx.Done():
			return nil
		}
		if s.reachable() {
			continue
		}
		l, err := s.bindAgain()
		if err != nil {
			return fmt.Errorf("the socket %s was removed while hookd listened on it: %w", s.opt.Socket, err)
		}
		if l != nil {
			s.log.Warn("the socket was removed: it is bound again", zap.String("socket", s.opt.Socket))
			serve(l)
		}
	}
}

// reachable reports whether the file at the socket's path is the one that was
// bound. Not to be able to look is no reason to bind another.
func (s *Server) reachable() bool {
	info, err := os.Lstat(s.opt.Socket)
	s.mu.Lock()
	defer s.mu.Unlock()
	return err != nil && !os.IsNotExist(err) || err == nil && s.bound != nil && os.SameFile(info, s.bound)
}

// bindAgain puts a listener of our own in the place of the one that no client
// finds any more; nil when the server ends.
func (s *Server) bindAgain() (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, nil
	}
	l, err := bind(s.opt.Socket, s.opt.socketMode(), 0)
	if err != nil {
		return nil, err
	}
	if old, ok := s.listener.(*net.UnixListener); ok {
		old.SetUnlinkOnClose(false) // the name is the new one's
	}
	s.listener.Close()
	s.listener, s.given = l, false
	s.bound, _ = os.Lstat(s.opt.Socket)
	return l, nil
}
