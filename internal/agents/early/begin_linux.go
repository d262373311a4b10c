//go:build amd64 || arm64

package early

import (
	"os"
	"syscall"
	"unsafe"

	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/wire"
)

// begin and its functions run without a goroutine, a heap and handlers of faults. Such code allocates nothing,
// stores no pointer in a variable of the package, and calls nothing of the runtime: its stack does not grow, and an
// index out of range would end the program. TestBeginStandsAlone looks at its machine code.

const (
	// lineBytes bounds the line of a call, which hookd reads at once, and its answer. The bridge has larger ones.
	lineBytes = 32 << 10
	// replyBytes bounds the plan of a box.
	replyBytes = wire.PlannedBytes
	// restBytes is the room in a line behind the payload, for arguments and variables.
	restBytes = 2 << 10
	// patience is how long begin waits for the agent or for hookd, in milliseconds. The bridge, which knows the
	// agent's deadline, waits for the rest.
	patience = 25
	// hangs is how long the file system of the socket may take, in seconds. Then the system ends the process without
	// an answer, or when the file system lets it.
	hangs = 5
)

// Constants of the system without a name in package syscall.
const (
	atCwd    = ^uintptr(99)
	pollIn   = 1
	pollOut  = 4
	noSignal = 0x4000
)

var (
	line    [lineBytes]byte // the call as it is sent, the payload in it as it was read
	used    int             // bytes of line
	had     int             // bytes of the payload in line
	reply   [replyBytes]byte
	replied int  // bytes of reply
	conn    int  // the connection to hookd
	handed  bool // hookd may have the call

	path    [110]byte // of a file, behind two bytes: as the system has the address of a socket
	pathEnd int
)

// thread is where the processor looks for Go's goroutine until Go starts: see start.
var thread [128]byte

// flags are left to hookd. With others the bridge starts: it alone denies where the file system of the socket
// hangs, as --fail-closed says.
var flags = [...]string{socketFlag, "--ask=", "--timeout="}

const socketFlag = "--socket="

func start() // in assembly

var _, _, _ = start, begin, &thread // assembly and the linker use them

func payload() []byte { return line[len(wire.HandedPrefix):][:had] }

func sent() (*os.File, []byte, bool) {
	if !handed {
		return nil, nil, false
	}
	return os.NewFile(uintptr(conn), "hookd.sock"), reply[:replied], true
}

// begin answers the call and ends the process, or returns. stack is as the kernel left it.
//
//go:nosplit
func begin(stack unsafe.Pointer) {
	args := unsafe.Add(stack, 8)
	env := unsafe.Add(args, 8*(*(*int)(stack)+1))
	if at(args, 1) != nil && begins(at(args, 1), "box\x00") {
		beginBox(args, env)
		return
	}
	if !isUsual(args) || isGuarded() || !dial(socketOf(args), env) {
		return
	}
	if handed = readPayload() && compose(args, env, false) && send(); handed {
		exchange()
	}
	if !handed {
		call(syscall.SYS_CLOSE, uintptr(conn), 0, 0)
	}
}

// isUsual reports whether the arguments are an agent, perhaps an event, and flags.
//
//go:nosplit
func isUsual(args unsafe.Pointer) bool {
	if at(args, 1) == nil {
		return false
	}
	for i := range len(Left) {
		if begins(at(args, 1), Left[i]) {
			return false
		}
	}
	for i := 2; at(args, i) != nil; i++ {
		known := !begins(at(args, i), "-")
		for f := range len(flags) {
			known = known || begins(at(args, i), flags[f])
		}
		if !known {
			return false
		}
	}
	return true
}

// isGuarded reports whether the machine has a system daemon, in doubt too: see system.Look.
//
//go:nosplit
func isGuarded() bool {
	pathEnd = 2
	if !addPath(system.Folder()) || !addPath("/hookd.yaml") {
		return true
	}
	name := uintptr(unsafe.Pointer(&path)) + 2
	// The call fails for all files but links, and with this error only where there is no file.
	return call6(syscall.SYS_READLINKAT, atCwd, name, uintptr(unsafe.Pointer(&reply)), 1, 0) != -int(syscall.ENOENT)
}

// dial connects to hookd, which must be this user's or root's. given is the socket of the command line; nil = none.
//
//go:nosplit
func dial(given, env unsafe.Pointer) bool {
	if !findSocket(given, env) {
		return false
	}
	conn = call(syscall.SYS_SOCKET, syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if conn <= 2 { // an error, or the process has no stdin, stdout or stderr
		return false
	}
	path[0] = syscall.AF_UNIX
	alarm(hangs)
	connected := call(syscall.SYS_CONNECT, uintptr(conn), uintptr(unsafe.Pointer(&path)), uintptr(pathEnd)+1)
	alarm(0)
	var listener syscall.Ucred
	size := uint32(syscall.SizeofUcred)
	if connected != 0 || call6(syscall.SYS_GETSOCKOPT, uintptr(conn), syscall.SOL_SOCKET, syscall.SO_PEERCRED,
		uintptr(unsafe.Pointer(&listener)), uintptr(unsafe.Pointer(&size))) != 0 ||
		listener.Uid != 0 && int(listener.Uid) != call(syscall.SYS_GETEUID, 0, 0, 0) {
		call(syscall.SYS_CLOSE, uintptr(conn), 0, 0)
		return false
	}
	return true
}

// socketOf returns the socket of the command line; nil = it has none.
//
//go:nosplit
func socketOf(args unsafe.Pointer) (given unsafe.Pointer) {
	for i := 2; at(args, i) != nil; i++ {
		if begins(at(args, i), socketFlag) {
			given = unsafe.Add(at(args, i), len(socketFlag))
		}
	}
	return given
}

// findSocket puts the socket's path into path: see client.DefaultSocket.
//
//go:nosplit
func findSocket(given, env unsafe.Pointer) bool {
	pathEnd = 2
	if given == nil || *(*byte)(given) == 0 {
		given = variable(env, "HOOKD_SOCKET=")
	}
	if given != nil {
		return *(*byte)(given) != '@' && addText(given)
	}
	if home := variable(env, "LIBREFANG_HOME="); home != nil {
		return addText(home) && addPath("/hookd.sock")
	}
	home := variable(env, "HOME=")
	return home != nil && addText(home) && addPath("/.librefang/hookd.sock")
}

// readPayload reads the agent's payload from stdin into line, up to a brace that may be the last: hookd sees whether it
// is. A payload of several lines is left to the bridge.
//
//go:nosplit
func readPayload() bool {
	add(wire.HandedPrefix)
	first := used
	for {
		n := 0
		if room := lineBytes - restBytes - used; room > 0 && can(0, pollIn) {
			n = call(syscall.SYS_READ, 0, uintptr(unsafe.Pointer(&line))+uintptr(used), uintptr(room))
		}
		if n <= 0 {
			return false
		}
		used += n
		had = used - first
		end := used
		for end > first && (lineAt(end-1) == ' ' || lineAt(end-1) == '\n' || lineAt(end-1) == '\r') {
			end--
		}
		if lineAt(end-1) == '}' {
			used, had = end, end-first
			break
		}
	}
	for i := first; i < used; i++ {
		if lineAt(i) == '\n' {
			return false
		}
	}
	return true
}

// compose adds the arguments and the variables to line: all variables, or the few that hookd reads.
//
//go:nosplit
func compose(args, env unsafe.Pointer, all bool) bool {
	ok := add(wire.HandedArgs)
	for i := 1; ok && at(args, i) != nil; i++ {
		ok = (i == 1 || add(",")) && quote("", at(args, i))
	}
	ok = ok && add(wire.HandedEnv)
	some := false
	for i := 0; all && ok && at(env, i) != nil; i++ {
		ok = (i == 0 || add(",")) && quote("", at(env, i))
	}
	if all {
		return ok && add(wire.HandedEnd)
	}
	for i := range len(Variables) {
		if value := variable(env, Variables[i]); ok && value != nil {
			ok = (!some || add(",")) && quote(Variables[i], value)
			some = true
		}
	}
	return ok && add(wire.HandedEnd)
}

//go:nosplit
func send() bool {
	return call6(syscall.SYS_SENDTO, uintptr(conn), uintptr(unsafe.Pointer(&line)), uintptr(used), noSignal, 0) == used
}

// exchange passes hookd's answer on and ends the process. It returns where the bridge is to wait for the answer, and
// with handed false where hookd has left the call to the bridge.
//
//go:nosplit
func exchange() {
	for replied < lineBytes && can(conn, pollIn) {
		free := uintptr(unsafe.Pointer(&reply)) + uintptr(replied)
		n := call(syscall.SYS_READ, uintptr(conn), free, uintptr(lineBytes-replied))
		if n <= 0 {
			return
		}
		replied += n
		head := 0
		for head < replied && replyAt(head) != '\n' {
			head++
		}
		if head == replied {
			continue
		}
		if !begins(unsafe.Pointer(&reply), wire.HandedWord) {
			handed = false
			return
		}
		exit, next := number(len(wire.HandedWord))
		out, next := number(next)
		fault, _ := number(next)
		body := uintptr(unsafe.Pointer(&reply)) + uintptr(head) + 1
		switch {
		case head+1+out+fault > lineBytes:
			return
		case head+1+out+fault <= replied:
			write(2, body+uintptr(out), fault)
			if write(1, body, out) {
				used = 0
				add(wire.WrittenLine)
				add("\n")
				send()
			} else if exit == 0 {
				exit = 1
			}
			call(syscall.SYS_EXIT_GROUP, uintptr(exit), 0, 0)
		}
	}
}

// number reads a number of the reply's first line, and returns where the next one begins. A number that is too large
// becomes replyBytes, which does not fit.
//
//go:nosplit
func number(i int) (n, next int) {
	for ; replyAt(i) >= '0' && replyAt(i) <= '9'; i++ {
		n = min(10*n+int(replyAt(i)-'0'), replyBytes)
	}
	return n, i + 1
}

// write reports whether all has been written.
//
//go:nosplit
func write(file int, text uintptr, size int) bool {
	for size > 0 {
		n := call(syscall.SYS_WRITE, uintptr(file), text, uintptr(size))
		switch {
		case n > 0:
			text, size = text+uintptr(n), size-n
		case n == -int(syscall.EAGAIN): // the agent reads slowly from a file that does not block
			can(file, pollOut)
		case n != -int(syscall.EINTR):
			return false
		}
	}
	return true
}

// can waits for patience at most, and reports whether a file can be read (pollIn) or written (pollOut).
//
//go:nosplit
func can(file int, do int16) bool {
	wait := syscall.Timespec{Nsec: patience * 1e6}
	look := struct {
		file         int32
		wanted, seen int16
	}{int32(file), do, 0}
	return call6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&look)), 1, uintptr(unsafe.Pointer(&wait)), 0, 8) == 1
}

// alarm has the system end the process in so many seconds; 0 = not any more.
//
//go:nosplit
func alarm(seconds int64) {
	timer := [4]int64{2: seconds}
	call(syscall.SYS_SETITIMER, 0, uintptr(unsafe.Pointer(&timer)), 0)
}

// at returns the text of that number in a list of the kernel; nil = the list has ended.
//
//go:nosplit
func at(list unsafe.Pointer, i int) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Add(list, 8*i)) }

// variable returns the value of the variable whose name and sign are given; nil = it has none.
//
//go:nosplit
func variable(env unsafe.Pointer, name string) unsafe.Pointer {
	for i := 0; at(env, i) != nil; i++ {
		if begins(at(env, i), name) {
			if value := unsafe.Add(at(env, i), len(name)); *(*byte)(value) != 0 {
				return value
			}
			return nil
		}
	}
	return nil
}

// begins reports whether a text of the kernel, which a zero ends, begins with prefix.
//
//go:nosplit
func begins(text unsafe.Pointer, prefix string) bool {
	for i := range len(prefix) {
		if *(*byte)(unsafe.Add(text, i)) != prefix[i] {
			return false
		}
	}
	return true
}

//go:nosplit
func lineAt(i int) byte { return *(*byte)(unsafe.Add(unsafe.Pointer(&line), i)) }

//go:nosplit
func replyAt(i int) byte { return *(*byte)(unsafe.Add(unsafe.Pointer(&reply), i)) }

// add adds text to line; false = there is no room.
//
//go:nosplit
func add(text string) bool {
	for i := range len(text) {
		if !addByte(text[i]) {
			return false
		}
	}
	return true
}

//go:nosplit
func addByte(b byte) bool {
	i := used
	if uint(i) >= uint(len(line)) {
		return false
	}
	line[i] = b
	used = i + 1
	return true
}

// quote adds a string of JSON: name, and a text of the kernel. A text that is not of ASCII is left to the bridge.
//
//go:nosplit
func quote(name string, text unsafe.Pointer) bool {
	const digits = "0123456789abcdef"
	ok := addByte('"') && add(name)
	for ; ok && *(*byte)(text) != 0; text = unsafe.Add(text, 1) {
		b := *(*byte)(text)
		switch {
		case b > '~':
			return false
		case b == '"' || b == '\\':
			ok = addByte('\\') && addByte(b)
		case b < ' ':
			ok = add(`\u00`) && addByte(digits[b>>4&15]) && addByte(digits[b&15])
		default:
			ok = addByte(b)
		}
	}
	return ok && addByte('"')
}

// addPath adds text to path, and a zero behind it; false = there is no room.
//
//go:nosplit
func addPath(text string) bool {
	for i := range len(text) {
		if !addToPath(text[i]) {
			return false
		}
	}
	return true
}

// addText is addPath of a text of the kernel.
//
//go:nosplit
func addText(text unsafe.Pointer) bool {
	for ; *(*byte)(text) != 0; text = unsafe.Add(text, 1) {
		if !addToPath(*(*byte)(text)) {
			return false
		}
	}
	return true
}

//go:nosplit
func addToPath(b byte) bool {
	i := pathEnd
	if uint(i) >= uint(len(path)-1) {
		return false
	}
	path[i], path[i+1] = b, 0
	pathEnd = i + 1
	return true
}

// call calls the system; a negative result is the number of an error.
//
//go:nosplit
func call(number, a, b, c uintptr) int { return call6(number, a, b, c, 0, 0) }

//go:nosplit
func call6(number, a, b, c, d, e uintptr) int {
	result, _, fault := syscall.RawSyscall6(number, a, b, c, d, e, 0)
	if fault != 0 {
		return -int(fault)
	}
	return int(result)
}
