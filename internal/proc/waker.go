package proc

import (
	"context"

	"golang.org/x/sys/unix"
)

// waker has a descriptor that becomes readable when a context ends, and stays
// so. A nil waker has none.
type waker struct {
	fd, raise int // the same one or two ends of a pipe
	stop      func() bool
	raised    chan struct{}
}

// newWaker returns the waker of ctx, nil if ctx never ends. close must be called.
func newWaker(ctx context.Context) (*waker, error) {
	if ctx.Done() == nil {
		return nil, nil
	}
	fd, raise, err := event()
	if err != nil {
		return nil, err
	}
	w := &waker{fd: fd, raise: raise, raised: make(chan struct{})}
	w.stop = context.AfterFunc(ctx, func() {
		defer close(w.raised)
		unix.Write(w.raise, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	return w, nil
}

// descriptor returns the descriptor to poll, -1 for none.
func (w *waker) descriptor() int {
	if w == nil {
		return -1
	}
	return w.fd
}

// close closes the descriptors, after the last write to them.
func (w *waker) close() {
	if w == nil {
		return
	}
	if !w.stop() {
		<-w.raised
	}
	unix.Close(w.fd)
	if w.raise != w.fd {
		unix.Close(w.raise)
	}
}
