//go:build amd64 || arm64

package early

import (
	"syscall"
	"unsafe"

	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/wire"
)

const (
	// planTime is how long hookd may plan a box, in patiences: as long as the bridge waits for a box's profile.
	planTime = 40
	// variablesMost is how many variables a program in a box may have.
	variablesMost = 1000
)

var (
	planned   bool // hookd has planned a box: the rest of the plan is in reply, from restAt
	restAt    int
	filterAt  int
	boxBegan  box.Begun
	ways      [2]int32 // pipe for a failure: to read and to write
	plan      box.Early
	variables [variablesMost + 1]uintptr
)

// beginBox begins the box that hookd plans; Go, which starts then, does the rest. Without a plan Go does everything.
//
//go:nosplit
func beginBox(args, env unsafe.Pointer) {
	socket, program := boxArgs(args)
	if program == 0 || isGuarded() || !dial(socket, env) {
		return
	}
	texts, filter := 0, 0
	if add(wire.HandedPrefix) && add("null") && compose(args, env, true) && send() {
		texts, filter, planned = receivePlan()
	}
	call(syscall.SYS_CLOSE, uintptr(conn), 0, 0)
	if !planned {
		return
	}
	filterAt = restAt - filter
	plan.Argv = uintptr(unsafe.Add(args, 8*program))
	plan.Filter, plan.FilterSize = uintptr(unsafe.Pointer(&reply))+uintptr(filterAt), uintptr(filter)
	pipe := uintptr(unsafe.Pointer(&ways))
	if !placeTexts(filterAt-texts, filterAt) || call(syscall.SYS_PIPE2, pipe, syscall.O_CLOEXEC, 0) != 0 {
		return
	}
	plan.Rules, plan.Report = boxBegan.Listener, int(ways[1])
	boxBegan.Report = int(ways[0])
	boxBegan.PID = plan.Begin()
	call(syscall.SYS_CLOSE, uintptr(ways[1]), 0, 0)
}

// boxArgs reads the arguments of a box: the socket, nil = none, and the place of its program, 0 = they are no such
// arguments.
//
//go:nosplit
func boxArgs(args unsafe.Pointer) (socket unsafe.Pointer, program int) {
	for i := 2; at(args, i) != nil && at(args, i+1) != nil; i += 2 {
		switch {
		case begins(at(args, i), "--\x00"):
			return socket, i + 1
		case begins(at(args, i), "--socket\x00"):
			socket = at(args, i+1)
		case !begins(at(args, i), "--"):
			return nil, 0
		}
	}
	return nil, 0
}

// receivePlan reads hookd's plan into reply: how many bytes its texts have, and the filter.
//
//go:nosplit
func receivePlan() (texts, filter int, ok bool) {
	head, rest := 0, 0
	for tries := 0; replied < replyBytes; {
		if !can(conn, pollIn) {
			if tries++; tries == planTime {
				return 0, 0, false
			}
			continue
		}
		n := receive(uintptr(unsafe.Pointer(&reply))+uintptr(replied), uintptr(replyBytes-replied))
		if n <= 0 {
			return 0, 0, false
		}
		replied += n
		if head == 0 {
			for head < replied && replyAt(head) != '\n' {
				head++
			}
			if head == replied {
				head = 0
				continue
			}
			if !begins(unsafe.Pointer(&reply), wire.PlannedWord) {
				return 0, 0, false
			}
			next := len(wire.PlannedWord)
			texts, next = number(next)
			filter, next = number(next)
			rest, _ = number(next)
			head++
		}
		if restAt = head + texts + filter; restAt+rest <= replied {
			return texts, filter, restAt+rest == replied && boxBegan.Lock > 2
		}
	}
	return 0, 0, false
}

// receive reads from hookd, and takes the descriptors that come with the first bytes.
//
//go:nosplit
func receive(to, size uintptr) int {
	const closeOnExec = 0x40000000 // MSG_CMSG_CLOEXEC
	part := [2]uintptr{to, size}
	var control struct {
		size        uint64
		level, kind int32
		files       [2]int32
	}
	message := syscall.Msghdr{Iov: (*syscall.Iovec)(unsafe.Pointer(&part)), Iovlen: 1}
	message.Control = (*byte)(unsafe.Pointer(&control))
	message.Controllen = uint64(unsafe.Sizeof(control))
	n := call(syscall.SYS_RECVMSG, uintptr(conn), uintptr(unsafe.Pointer(&message)), closeOnExec)
	if n > 0 && message.Controllen == uint64(unsafe.Sizeof(control)) && control.kind == syscall.SCM_RIGHTS {
		boxBegan.Listener, boxBegan.Lock = int(control.files[0]), int(control.files[1])
	}
	return n
}

// placeTexts finds the texts of a plan, each with a zero behind it: the program's file, its folder, its variables.
//
//go:nosplit
func placeTexts(from, to int) bool {
	n := -2
	for ; from < to; n++ {
		text := uintptr(unsafe.Pointer(&reply)) + uintptr(from)
		for from < to && replyAt(from) != 0 {
			from++
		}
		switch {
		case from == to || n == variablesMost:
			return false
		case n == -2:
			plan.Path = text
		case n == -1:
			plan.Cwd = text
		default:
			variables[uint(n)%variablesMost] = text
		}
		from++
	}
	plan.Envp = uintptr(unsafe.Pointer(&variables))
	return n >= 0
}

func begun() (rest []byte, b box.Begun, ok bool) {
	b = boxBegan
	b.Filter = reply[filterAt:restAt]
	return reply[restAt:replied], b, planned
}
