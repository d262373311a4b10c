package proc

import (
	"context"
	"sync"

	"golang.org/x/sys/unix"
)

// waker has a descriptor that becomes readable when a context ends, and stays
// so. Runs of the same context share it.
type waker struct {
	fd, raise int // the same one or two ends of a pipe
	done      <-chan struct{}
	users     int // guarded by wakers.mu
	stop      func() bool
	raised    chan struct{}
}

// wakers are the wakers in use, by the Done channel of their context.
type wakers struct {
	mu  sync.Mutex
	all map[<-chan struct{}]*waker
}

// acquire returns the waker of ctx, nil if ctx never ends. release must be called.
func (ws *wakers) acquire(ctx context.Context) (*waker, error) {
	done := ctx.Done()
	if done == nil {
		return nil, nil
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.all[done]
	if w == nil {
		var err error
		if w, err = newWaker(ctx); err != nil {
			return nil, err
		}
		if ws.all == nil {
			ws.all = map[<-chan struct{}]*waker{}
		}
		ws.all[done] = w
	}
	w.users++
	return w, nil
}

// release closes the waker after its last user.
func (ws *wakers) release(w *waker) {
	if w == nil {
		return
	}
	ws.mu.Lock()
	w.users--
	last := w.users == 0
	if last {
		delete(ws.all, w.done)
	}
	ws.mu.Unlock()
	if last {
		w.close()
	}
}

func newWaker(ctx context.Context) (*waker, error) {
	fd, raise, err := event()
	if err != nil {
		return nil, err
	}
	w := &waker{fd: fd, raise: raise, done: ctx.Done(), raised: make(chan struct{})}
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
	if !w.stop() {
		<-w.raised
	}
	unix.Close(w.fd)
	if w.raise != w.fd {
		unix.Close(w.raise)
	}
}
