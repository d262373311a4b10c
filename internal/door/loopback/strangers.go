package loopback

import (
	"context"
	"net"
	"slices"
	"sync"
)

// maxStrangers is how many connections may be open that have not shown the
// token. An agent shows it with the first bytes, so a few are enough.
const maxStrangers = 16

// strangers are the connections that have not shown the token, oldest first.
type strangers struct {
	mu   sync.Mutex
	list []*guest // guarded by mu
}

// guest is an accepted connection.
type guest struct {
	net.Conn
	among *strangers
}

// Close closes the connection, which is a stranger no more.
func (g *guest) Close() error {
	g.among.remove(g)
	return g.Conn.Close()
}

// add adds a new connection. If that is one too many it closes the oldest: the newest
// may be an agent's, which shows its token at once.
func (s *strangers) add(g *guest) {
	s.mu.Lock()
	s.list = append(s.list, g)
	var oldest *guest
	if len(s.list) > maxStrangers {
		oldest = s.list[0]
	}
	s.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
}

// remove removes a connection that has shown the token, or is closed.
func (s *strangers) remove(g *guest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.list, g); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
	}
}

// welcoming is a listener whose connections are strangers at first.
type welcoming struct {
	net.Listener
	strangers *strangers
}

// Accept waits for the next connection.
func (w welcoming) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &guest{conn, w.strangers}
	w.strangers.add(g)
	return g, nil
}

type guestKey struct{}

// withGuest lets a handler find the connection of its request.
func withGuest(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, conn)
}

// guestOf returns the connection of a request; nil if it is not of this listener.
func guestOf(ctx context.Context) *guest {
	g, _ := ctx.Value(guestKey{}).(*guest)
	return g
}
