package box

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// A wrapper hands signals on by a handler of its own. Package os/signal starts threads for it, which took half a
// millisecond of each box.

// handTo is the process that signals are handed on to; 0 = none yet. The kernel writes it when it makes the process.
var handTo int32

const noProcess = 1 << 30 // no process has so high a number

// handler returns the addresses of handOn and handedOn.
func handler() (handle, restore uintptr)

// handed are the signals that are sent to one process. Those of a terminal reach the box itself.
var handed = [...]uintptr{
	uintptr(syscall.SIGTERM), uintptr(syscall.SIGHUP), uintptr(syscall.SIGINT), uintptr(syscall.SIGQUIT),
	uintptr(syscall.SIGUSR1), uintptr(syscall.SIGUSR2),
}

// action is the kernel's struct sigaction.
type action struct{ handle, flags, restore, mask uintptr }

// handSignals hands signals on to a process, 0 = the child that is made next, until stop is called.
func handSignals(to int) (stop func()) {
	const onStack, restart, restorer = 0x08000000, 0x10000000, 0x04000000
	next := action{flags: onStack | restart | restorer, mask: ^uintptr(0)}
	next.handle, next.restore = handler()
	var before [len(handed)]action
	atomic.StoreInt32(&handTo, int32(to))
	for i, sig := range handed {
		_ = setAction(sig, &next, &before[i])
	}
	return func() {
		for i, sig := range handed {
			_ = setAction(sig, &before[i], nil)
		}
	}
}

func setAction(sig uintptr, next, before *action) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig,
		uintptr(unsafe.Pointer(next)), uintptr(unsafe.Pointer(before)), sigSetSize, 0, 0)
	return errno
}
