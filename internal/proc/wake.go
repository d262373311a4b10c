package proc

import (
	"context"

	"golang.org/x/sys/unix"
)

// waker has a descriptor that becomes readable when a context ends.
type waker struct {
	fd, raise int // -1: the context never ends; the same one or two ends of a pipe
	stop      func() bool
	raised    chan struct{}
}

func newWaker(ctx context.Context) (waker, error) {
	if ctx.Done() == nil {
		return waker{fd: -1}, nil
	}
	fd, raise, err := event()
	if err != nil {
		return waker{fd: -1}, err
	}
	w := waker{fd: fd, raise: raise, raised: make(chan struct{})}
	w.stop = context.AfterFunc(ctx, func() {
		defer close(w.raised)
		unix.Write(w.raise, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	return w, nil
}

// close gives the descriptors back, after the last write to them.
func (w *waker) close() {
	if w.fd < 0 {
		return
	}
	if !w.stop() {
		<-w.raised
	}
	unix.Close(w.fd)
	if w.raise != w.fd {
		unix.Close(w.raise)
	}
	w.fd = -1
}
