package proc

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// orphanPause is how long an orphan that has ended stays until it is reaped: by then a child
// that another part of the program has started was reaped by that part.
const orphanPause = 5 * time.Second

// orphans are processes that lost their parents below this one, which has adopted them. A nil
// one adopts none.
type orphans struct {
	stop chan struct{}
	once sync.Once // for stop
	done chan struct{}

	mu       sync.Mutex
	children map[int]bool // of the Runner, which reaps them

	ended map[int]uint64 // owned by run: number and start of processes that wait to be reaped
}

// adopt makes this process the parent of all orphans below it, nil if the system cannot.
func adopt() *orphans {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return nil
	}
	o := &orphans{
		stop: make(chan struct{}), done: make(chan struct{}), children: map[int]bool{}, ended: map[int]uint64{},
	}
	go o.run()
	return o
}

// run reaps orphans some time after a child has ended.
func (o *orphans) run() {
	defer close(o.done)
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	defer signal.Stop(died)
	due := time.NewTimer(0)
	defer due.Stop()
	waits := true
	for {
		select {
		case <-o.stop:
			return
		case <-died:
			if !waits {
				due.Reset(orphanPause)
				waits = true
			}
		case <-due.C:
			if waits = o.reap(); waits {
				due.Reset(orphanPause)
			}
		}
	}
}

// reap reaps the orphans that had ended at its last call, and reports whether there are
// others.
func (o *orphans) reap() (more bool) {
	var first unix.Siginfo
	const look = unix.WEXITED | unix.WNOHANG | unix.WNOWAIT
	if unix.Waitid(unix.P_ALL, 0, &first, look, nil) != nil || first.Signo == 0 {
		clear(o.ended)
		return false
	}
	table, err := processes()
	if err != nil {
		return true
	}
	now := map[int]uint64{}
	for pid, r := range table {
		switch {
		case !r.dead || r.ppid != os.Getpid() || o.owns(pid):
		case o.ended[pid] == r.start:
			wait4(pid, nil, unix.WNOHANG)
		default:
			now[pid] = r.start
		}
	}
	o.ended = now
	return len(now) > 0
}

func (o *orphans) owns(pid int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.children[pid]
}

// started notes a child of the Runner, and reaped that it is one no longer.
func (o *orphans) started(pid int) { o.note(pid, true) }
func (o *orphans) reaped(pid int)  { o.note(pid, false) }

func (o *orphans) note(pid int, is bool) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if is {
		o.children[pid] = true
	} else {
		delete(o.children, pid)
	}
}

func (o *orphans) close() {
	if o == nil {
		return
	}
	o.once.Do(func() { close(o.stop) })
	<-o.done
}
