package proc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// From <linux/connector.h> and <linux/cn_proc.h>.
const (
	connectorProc = 1 // CN_IDX_PROC and CN_VAL_PROC
	procListen    = 1 // PROC_CN_MCAST_LISTEN

	procNone = 0 // the answer to procListen
	procFork = 1
	procExec = 2
	procExit = 0x80000000

	netlinkHead   = 16
	connectorHead = 20
	procHead      = 16 // event, processor and time
)

// answerTime is how long the kernel may take to say that it tells of processes: it says nothing to a
// process in a container, and nothing of events before Linux 6.6.
const answerTime = 2 * time.Second

// Run follows processes until ctx ends. The kernel's process connector tells of each start and end on
// this machine, since Linux 6.6 to every user; the error says why it does not. It is told nothing of
// processes in a container, and in a container nothing at all.
func (x *Executed) Run(ctx context.Context) error {
	f, err := listenToProcesses()
	if err != nil {
		return fmt.Errorf("follow the programs of agents: %w", err)
	}
	defer f.Close()
	x.begin()
	defer x.end()
	defer context.AfterFunc(ctx, func() { f.Close() })()
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, unix.ENOBUFS): // more than the kernel keeps for us: some were lost
			x.forgetEnded()
		case err != nil:
			return fmt.Errorf("follow the programs of agents: %w", err)
		default:
			x.take(buf[:n])
		}
	}
}

// take takes in one message.
func (x *Executed) take(message []byte) {
	what, about := processEvent(message)
	switch pid := func(i int) int { return int(binary.NativeEndian.Uint32(about[4*i:])) }; {
	case what == procFork && len(about) >= 16 && pid(2) == pid(3): // else a thread
		x.forked(pid(1), pid(3))
	case what == procExec && len(about) >= 8:
		x.executed(pid(1))
	case what == procExit && len(about) >= 8 && pid(0) == pid(1):
		x.mu.Lock()
		x.ended(pid(1))
		x.mu.Unlock()
	}
}

// processEvent returns what a message tells, and the numbers that follow.
func processEvent(message []byte) (what uint32, about []byte) {
	if len(message) < netlinkHead+connectorHead+procHead {
		return procNone, nil
	}
	event := message[netlinkHead+connectorHead:]
	return binary.NativeEndian.Uint32(event), event[procHead:]
}

// listenToProcesses returns a socket on which the kernel tells of forks, programs and ends.
func listenToProcesses() (*os.File, error) {
	const kind = unix.SOCK_DGRAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	fd, err := unix.Socket(unix.AF_NETLINK, kind, unix.NETLINK_CONNECTOR)
	if err != nil {
		return nil, fmt.Errorf("the kernel has no process connector here (in a container it has none): %w", err)
	}
	f := os.NewFile(uintptr(fd), "process connector")
	err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: connectorProc})
	if err == nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20) // as much as the system allows
		err = ask(fd, procListen)
	}
	if err == nil {
		err = answered(f)
	}
	if err == nil { // this one gets no answer: the kernel leaves it out, as it leaves out other events
		err = ask(fd, procListen, procFork|procExec|procExit)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("the process connector tells nothing (it wants Linux 6.6, or root): %w", err)
	}
	return f, nil
}

// ask sends numbers to the kernel.
func ask(fd int, numbers ...uint32) error {
	var b []byte
	add := func(n uint32) { b = binary.NativeEndian.AppendUint32(b, n) }
	add(uint32(netlinkHead + connectorHead + 4*len(numbers)))
	b = binary.NativeEndian.AppendUint16(b, unix.NLMSG_DONE)
	b = append(b, 0, 0) // flags
	add(0)              // sequence
	add(0)              // port: the kernel's choice
	add(connectorProc)
	add(connectorProc)
	add(0)
	add(0)
	b = binary.NativeEndian.AppendUint16(b, uint16(4*len(numbers))) // bytes that follow the head
	b = append(b, 0, 0)
	for _, n := range numbers {
		add(n)
	}
	return unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// answered waits for the kernel's yes.
func answered(f *os.File) error {
	if err := f.SetReadDeadline(time.Now().Add(answerTime)); err != nil {
		return err
	}
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(buf)
		if err != nil {
			return err
		}
		if what, about := processEvent(buf[:n]); what == procNone && len(about) >= 4 {
			if errno := binary.NativeEndian.Uint32(about); errno != 0 {
				return unix.Errno(errno)
			}
			return f.SetReadDeadline(time.Time{})
		}
	}
}
