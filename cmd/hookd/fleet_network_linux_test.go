package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// network is a network of namespaces. A switch in the test carries their packets: it delays, drops and
// blocks packets, since the kernel may have no netem. TCP is the kernel's own.
type network struct {
	t    *testing.T
	ends [nodes + 1]*node // the first is the test's own

	mu    sync.RWMutex  // guards the fields below
	delay time.Duration // of each packet
	loss  float64       // of 1
	apart [nodes + 1]bool

	passed, lost, cut atomic.Int64 // packets
}

// nodes is how many namespaces there are.
const nodes = 8

// node is one end of the switch.
type node struct {
	space string // "" = the test's own
	tun   *os.File
	to    chan packet
}

type packet struct {
	data []byte
	due  time.Time
}

// address is that of a node; node 0 is the test.
func address(n int) string { return fmt.Sprintf("10.213.77.%d", n+1) }

// newNetwork makes namespaces until the test ends. It needs root.
func newNetwork(t *testing.T) *network {
	t.Helper()
	hooktest.NeedTool(t, "ip")
	w := &network{t: t}
	for i := range w.ends {
		n := &node{to: make(chan packet, 1<<14)}
		name := fmt.Sprintf("hkt%d", i)
		if i > 0 {
			n.space = fmt.Sprintf("hookd-test-%d-%d", os.Getpid(), i)
			ip(t, "netns", "add", n.space)
			t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", n.space).Run() })
		}
		n.tun = openTUN(t, name)
		t.Cleanup(func() { n.tun.Close() })
		in := []string{}
		if i > 0 {
			ip(t, "link", "set", name, "netns", n.space)
			in = []string{"-n", n.space}
		}
		ip(t, append(in, "addr", "add", address(i)+"/24", "dev", name)...)
		ip(t, append(in, "link", "set", name, "up")...)
		ip(t, append(in, "link", "set", "lo", "up")...)
		w.ends[i] = n
	}
	for i, n := range w.ends {
		go w.read(i, n)
		go n.write()
	}
	return w
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func openTUN(t *testing.T, name string) *os.File {
	t.Helper()
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("SKIP-TOOL tun: %v", err)
	}
	ask, err := unix.NewIfreq(name)
	hooktest.Must(t, err)
	ask.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	hooktest.Must(t, unix.IoctlIfreq(fd, unix.TUNSETIFF, ask))
	return os.NewFile(uintptr(fd), "/dev/net/tun")
}

// read passes the packets of a node on, until its end is closed.
func (w *network) read(from int, n *node) {
	buf := make([]byte, 1<<16)
	for {
		size, err := n.tun.Read(buf)
		if err != nil {
			return
		}
		if size < 20 || buf[0]>>4 != 4 { // no IPv4
			continue
		}
		to := int(buf[19]) - 1
		if to < 0 || to >= len(w.ends) {
			continue
		}
		w.mu.RLock()
		delay, loss, cut := w.delay, w.loss, w.apart[from] != w.apart[to] && from != 0 && to != 0
		w.mu.RUnlock()
		if from == 0 || to == 0 { // the test itself
			delay, loss = 0, 0
		}
		switch {
		case cut:
			w.cut.Add(1)
		case loss > 0 && rand.Float64() < loss:
			w.lost.Add(1)
		default:
			w.passed.Add(1)
			select {
			case w.ends[to].to <- packet{append([]byte{}, buf[:size]...), time.Now().Add(delay)}:
			default: // as a router whose queue is full
				w.lost.Add(1)
			}
		}
	}
}

func (n *node) write() {
	for p := range n.to {
		<-time.After(time.Until(p.due))
		if _, err := n.tun.Write(p.data); err != nil {
			return
		}
	}
}

// far delays each packet, and drops the fraction loss.
func (w *network) far(delay time.Duration, loss float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay, w.loss = delay, loss
}

// part cuts nodes off from the others; none = all are together again.
func (w *network) part(nodes ...int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.apart[:])
	for _, n := range nodes {
		w.apart[n] = true
	}
}
