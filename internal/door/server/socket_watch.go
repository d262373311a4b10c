package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"
)

// How often the socket's file is looked at: seldom where the system reports changes to
// it, for then only a folder above it can have been moved unnoticed.
const (
	lookWatched   = 10 * time.Minute
	lookUnwatched = 2 * time.Second
)

// watchSocket sees to it that the socket stays where clients look for it. A socket that was removed or
// replaced is bound again, and serve gets the new listener. The error says why it cannot be
// bound; it is nil when the server ends.
func (s *Server) watchSocket(ctx context.Context, serve func(net.Listener)) error {
	var changes <-chan fsnotify.Event
	var troubles <-chan error
	watcher, err := newWatcher()
	if err == nil {
		defer watcher.Close()
		changes, troubles = watcher.Events, watcher.Errors
	}
	for {
		every := s.watchFile(watcher)
		if !s.reachable() {
			l, err := s.bindAgain()
			if err != nil {
				return fmt.Errorf("the socket %s was removed while hookd listened on it: %w", s.opt.Socket, err)
			}
			if l == nil {
				return nil
			}
			s.log.Warn("the socket was removed: it is bound again", zap.String("socket", s.opt.Socket))
			serve(l)
			continue
		}
		look := time.NewTimer(every)
		select {
		case <-look.C:
		case <-changes:
		case <-troubles: // changes were missed
		case <-s.quit:
			return nil
		case <-ctx.Done():
			return nil
		}
		look.Stop()
	}
}

// watchFile has watcher report changes of the file that is at the socket's path now, and returns
// how often to look at it besides. watcher may be nil.
func (s *Server) watchFile(watcher *fsnotify.Watcher) (every time.Duration) {
	every = lookUnwatched
	if watcher != nil {
		_ = watcher.Remove(s.opt.Socket) // of the file before
		if watcher.Add(s.opt.Socket) == nil {
			every = lookWatched
		}
	}
	return cmp.Or(s.opt.lookAgain, every)
}

// reachable reports whether the file at the socket's path is the file that was
// bound. Not to be able to look is no reason to bind another.
func (s *Server) reachable() bool {
	info, err := os.Lstat(s.opt.Socket)
	s.mu.Lock()
	defer s.mu.Unlock()
	return err != nil && !os.IsNotExist(err) || err == nil && s.bound != nil && os.SameFile(info, s.bound)
}

// bindAgain puts a listener of our own in the place of the listener that no client
// finds any more; nil when the server ends.
func (s *Server) bindAgain() (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns.isDraining() {
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
	s.bound, _ = os.Lstat(s.opt.Socket) // nil differs from each: it is bound again
	return l, nil
}
