package box

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Strongest is the strongest level of this system.
const Strongest = Namespaces

// Run runs the program of s in a box and returns when it, and all that it has started, has ended. A *CannotError
// means that nothing has run. The box ends with the thread that made it. That is not locked, which would start one
// more: Go ends no thread, except with a goroutine that has locked it, and a wrapper has none.
func Run(s *Spec) (Ended, error) {
	var whys []string
	for _, level := range []Level{Namespaces, Landlock} {
		if s.Level != "" && s.Level != level {
			continue
		}
		end, err := runAt(level, *s)
		var no *CannotError
		if errors.As(err, &no) && no.less {
			s.Overlay, s.alone = "", true
			end, err = runAt(level, *s)
		}
		if !errors.As(err, &no) {
			return end, err
		}
		whys = append(whys, string(level)+": "+no.Why)
	}
	return Ended{}, cannot("%s", strings.Join(whys, "; "))
}

func runAt(level Level, of Spec) (Ended, error) {
	p, s, links := &program{to: -1}, &of, of.links()
	defer p.closeAll()
	tmp := "/tmp" // its own
	if level == Landlock {
		own, err := temporary(s)
		if err != nil {
			return Ended{}, err
		}
		defer own.release()
		tmp = own.dir
	} else if s.Overlay != "" {
		s.CacheHome, s.Links = "", nil
	}
	err := p.executes(s, tmp)
	if err != nil {
		return Ended{}, err
	}
	if level == Namespaces {
		err = p.namespaces(s)
	} else {
		err = p.landlock(s, tmp)
	}
	if err != nil {
		return Ended{}, err
	}
	stop := handSignals(0)
	defer stop()
	pid, err := p.begin()
	if err != nil {
		return Ended{}, err
	}
	if s.Proxy != nil {
		if l, err := p.proxySocket(); err == nil { // else the box has failed
			go s.Proxy(l)
		}
	}
	return p.finish(level, s, links, pid)
}

// finish waits until the box has ended, and clears up behind it.
func (p *program) finish(level Level, s *Spec, links [][2]string, pid int) (Ended, error) {
	status, err := p.end(pid)
	atomic.StoreInt32(&handTo, noProcess) // files are still to be set aside: no signal may end this
	p.readable()
	if err != nil {
		return Ended{}, err
	}
	if level == Landlock {
		endOrphans()
		p.closeAll() // a program that is left has no supervisor
	}
	end := Ended{Level: level, Exit: status}
	kept, keepErr := quarantine(s.Watch, links)
	end.Kept = kept
	return end, keepErr
}

// executes notes the program, its environment and its folder.
func (p *program) executes(s *Spec, tmp string) error {
	path, env, err := s.executed(tmp)
	if err != nil {
		return err
	}
	p.name = path
	p.path, p.cwd, p.argv, p.envp = p.text(path), p.text(s.Cwd), p.texts(s.Argv), p.texts(env)
	return nil
}

// executed returns the program's file and its environment, without a zero byte in them and in the arguments.
func (s *Spec) executed(tmp string) (path string, env []string, err error) {
	env = environment(s, tmp)
	if path, err = lookPath(s.Argv[0], value(env, "PATH")); err != nil {
		return "", nil, err
	}
	for _, list := range [][]string{s.Argv, env, {path, s.Cwd}} {
		for _, text := range list {
			if strings.IndexByte(text, 0) >= 0 {
				return "", nil, cannot("the command has a zero byte")
			}
		}
	}
	return path, env, nil
}

// begin starts the child.
func (p *program) begin() (pid int, err error) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return 0, os.NewSyscallError("pipe2", err)
	}
	p.closes(pipe[0])
	p.tells, p.report = pipe[0], uintptr(pipe[1])
	pid, err = p.start()
	syscall.Close(pipe[1])
	syscall.Close(p.to)
	if err != nil {
		return 0, cannot("clone: %v%s", err, hint(err))
	}
	return pid, nil
}

// left are programs whose first process has this process's memory, and may still have to end itself.
var left []*program

// end waits until the program, and all that it has started, has ended, and returns its exit code. The first process
// of a pid namespace says so before it ends itself: the system then takes its mounts down.
func (p *program) end(pid int) (int, error) {
	var said [8]byte
	n, err := syscall.Read(p.tells, said[:])
	for err == syscall.EINTR {
		n, err = syscall.Read(p.tells, said[:])
	}
	what, errno := binary.NativeEndian.Uint32(said[:]), syscall.Errno(binary.NativeEndian.Uint32(said[4:]))
	if n == sizeOfStatus {
		left = append(left, p)
		return int(what), nil
	}
	if n == 0 && p.supervisor != nil {
		p.supervisor.serve(pid)
	}
	status, err := wait(pid)
	if n <= 0 {
		return status, err
	}
	switch {
	case n < len(said):
		return 0, cannot("the box ended while it was made")
	case what == failedFork:
		return 0, cannot("fork: %v", errno)
	case what == failedCwd:
		return 0, cannot("enter the working directory: %v", errno)
	case what == failedExec:
		return 0, fmt.Errorf("execute %s: %w", p.name, errno)
	}
	return 0, &CannotError{
		Why:  fmt.Sprintf("%s: %v%s", p.says[what], errno, hint(errno)),
		less: p.says[what] == overlaying || p.says[what] == filtering && p.supervisor != nil,
	}
}

// readable gives this process back the files of /proc that its child took from it: they share their memory.
func (p *program) readable() {
	if p.reaper {
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 1, 0)
	}
}

// hint says where a refusal usually comes from.
func hint(err error) string {
	switch {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES):
		return " (the machine restricts user namespaces, or this is a container)"
	case errors.Is(err, syscall.ENOSPC):
		return " (user.max_user_namespaces is reached)"
	case errors.Is(err, syscall.ENOSYS):
		return " (the kernel is too old)"
	}
	return ""
}

// wait returns the exit code of a child; 128 and the signal that ended it.
func wait(pid int) (int, error) {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(pid, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return exitFailed, os.NewSyscallError("wait4", err)
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		case status.Exited():
			return status.ExitStatus(), nil
		}
	}
}

// endOrphans ends the processes that a box without a pid namespace left behind: this process is its subreaper.
func endOrphans() {
	for range 100 { // each round ends a generation
		if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err == syscall.ECHILD {
			return // as nearly always
		}
		for _, pid := range childrenOf(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

func childrenOf(pid int) (list []int) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil // the pattern is right
	}
	for _, file := range tasks {
		names, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for name := range strings.FieldsSeq(string(names)) {
			if n, err := strconv.Atoi(name); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// privileges takes everything from the child of a box by namespaces that an exec could give back, and applies the
// filter.
func (p *program) privileges() {
	// A descriptor that the agent left open would lead out of the box.
	p.do("close other files", sysCloseRange, firstOther, ^uintptr(0)>>32, closeOnExec)
	for capability := range uintptr(lastCapability) {
		p.do("drop a capability", syscall.SYS_PRCTL, syscall.PR_CAPBSET_DROP, capability).any = true
	}
	header := p.bytes(binary.NativeEndian.AppendUint64(nil, capabilityVersion)) // of itself
	p.do("drop capabilities", syscall.SYS_CAPSET, header, p.bytes(make([]byte, 24)))
	p.do("refuse new privileges", syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0)
	filter := p.enforces(seccompOf(true, false))
	p.holds = append(p.holds, &filter)
	p.do(filtering, sysSeccomp, setModeFilter, 0, uintptr(unsafe.Pointer(&filter)))
}

// landlock is the plan of a box by Landlock and seccomp.
func (p *program) landlock(s *Spec, tmp string) error {
	rules, err := rulesOf(s, tmp, "self")
	if err != nil {
		return err
	}
	p.closes(rules.fd)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetSubreaper, 1, 0); errno != 0 {
		return cannot("become the subreaper: %v", errno)
	}
	p.says, p.rules, p.asks = confineSays, uintptr(rules.fd), !s.alone
	p.filter = p.enforces(seccompOf(false, p.asks))
	if p.asks {
		p.flags |= syscall.CLONE_FILES // until exec: the child's listener is this process's, too
		p.supervisor = &supervisor{spec: s, tmp: tmp, listener: rules.fd}
	}
	return nil
}

// rulesOf makes the rules of a box for a process, which /proc has by that name.
func rulesOf(s *Spec, tmp, process string) (*ruleset, error) {
	if s.Proxy != nil {
		return nil, cannot("a network with chosen hosts needs namespaces")
	}
	abi, err := landlockABI()
	if err != nil {
		return nil, cannot("%v", err)
	}
	if abi < leastABI {
		return nil, cannot("version %d of Landlock cannot keep signals in, %d can (Linux 6.12)", abi, leastABI)
	}
	rules, err := newRuleset()
	if err != nil {
		return nil, cannot("%v", err)
	}
	if err := rules.fill(s, tmp, process); err != nil {
		syscall.Close(rules.fd)
		return nil, cannot("%v", err)
	}
	return rules, nil
}

// fill gives the rights of a box: names everywhere, files but the hidden ones, and the written paths.
func (r *ruleset) fill(s *Spec, tmp, process string) error {
	if err := r.allow("/", fsReadDir); err != nil {
		return err
	}
	if err := r.allowBut("/", fsRead, append(s.Hide[:len(s.Hide):len(s.Hide)], "/dev")); err != nil {
		return err
	}
	for _, dev := range append(harmless[:len(harmless):len(harmless)], ownTerminals(process)...) {
		if err := r.allow(dev, fsReadFile|fsWriteFile|fsIoctlDev); err != nil {
			return err
		}
	}
	not := append(append([]string{}, s.Protect...), s.Watch...)
	not = append(not, s.Hide...)
	if real, err := filepath.EvalSymlinks(tmp); err == nil {
		tmp = real
	}
	for _, path := range append(s.Write[:len(s.Write):len(s.Write)], tmp) {
		if err := r.allowBut(path, fsWrite|fsReadFile, not); err != nil {
			return err
		}
	}
	return nil
}

// closes has descriptors of this process closed when the box has ended.
func (p *program) closes(fds ...int) { p.open = append(p.open, fds...) }

func (p *program) closeAll() {
	for _, fd := range p.open {
		syscall.Close(fd)
	}
	p.open = nil
}
