package spawn

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hangfs"
	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestClone3IsUsedHere(t *testing.T) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	if way := Way(); way != "clone3" {
		t.Skipf("SKIP-TOOL clone3: Linux %s: %s", unix.ByteSliceToString(name.Release[:]), way)
	}
}

// Where a sandbox refuses clone3, processes are started by fork, and it is said why.
func TestClone3IsRefused(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, errno := range []unix.Errno{unix.ENOSYS, unix.EPERM} {
		text, code, err := output(t, Start, Spec{
			Path: exe, Env: []string{helperVar + "=refused", "ERRNO=" + strconv.Itoa(int(errno)), "GORACE=atexit_sleep_ms=0"},
		})
		if want := "fork: clone3 is refused: " + errno.Error() + "\nstarted\n"; text != want || code != 0 || err != nil {
			t.Errorf("got %q, code %d, %v, want %q", text, code, err, want)
		}
	}
}

func init() {
	helpers["refused"] = func() int {
		errno, _ := strconv.Atoi(os.Getenv("ERRNO"))
		if err := refuse(unix.SYS_CLONE3, errno); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(Way())
		p, err := Start(context.Background(), &Spec{Path: "/bin/echo", Args: []string{"started"}, Files: [3]int{0, 1, 2}})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		reap(p)
		return 0
	}
}

// refuse has the kernel refuse a system call of this process from now on.
func refuse(number, errno int) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}

// A process has the descriptors 0 to 2 alone, whatever this one has.
func TestNoOtherDescriptor(t *testing.T) {
	const leak = 60
	if err := unix.Dup3(0, leak, 0); err != nil { // not close-on-exec
		t.Fatal(err)
	}
	defer unix.Close(leak)
	const list = "i=0; while [ $i -lt 100 ]; do [ -e /proc/self/fd/$i ] && echo $i; i=$((i+1)); done"
	eachWay(t, func(t *testing.T, start starter) {
		if text, _, err := output(t, start, Spec{Path: "/bin/sh", Args: []string{"-c", list}}); text != "0\n1\n2\n" || err != nil {
			t.Errorf("got descriptors %q, %v", text, err)
		}
	})
}

// The signals that this thread blocks and that this program catches are nothing to the
// process, and the thread has its mask back.
func TestSignalsAreReset(t *testing.T) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGUSR1, unix.SIGTERM, unix.SIGPIPE)
	defer signal.Stop(caught)
	signal.Ignore(unix.SIGUSR2)
	defer signal.Reset(unix.SIGUSR2)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var blocked, before unix.Sigset_t
	blocked.Val[0] = 1<<(unix.SIGWINCH-1) | 1<<(unix.SIGCONT-1)
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &blocked, &before); err != nil {
		t.Fatal(err)
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	text, _, err := output(t, Start, Spec{Path: "/bin/cat", Args: []string{"/proc/self/status"}})
	if err != nil {
		t.Fatal(err)
	}
	var after unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, nil, &after); err != nil || after != blocked {
		t.Errorf("got mask %x of the thread after a start, want %x (%v)", after.Val[0], blocked.Val[0], err)
	}
	if Refused() != nil {
		return // Go's fork leaves blocked what the thread had blocked
	}
	got := masks(text)
	for name, want := range map[string]uint64{
		"SigBlk": 0, "SigCgt": 0, "SigPnd": 0, "ShdPnd": 0, "SigIgn": ignoredBefore | 1<<(unix.SIGUSR2-1),
	} {
		if mask, ok := got[name]; mask != want || !ok {
			t.Errorf("got %s %x, want %x", name, mask, want)
		}
	}
}

// ignoredBefore are the signals that were ignored when this program was started.
var ignoredBefore = func() uint64 {
	status, _ := os.ReadFile("/proc/self/status")
	return masks(string(status))["SigIgn"]
}()

// masks returns the masks of signals in a file /proc/PID/status.
func masks(status string) map[string]uint64 {
	found := map[string]uint64{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		if mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil {
			found[name] = mask
		}
	}
	return found
}

// Go raises the limit of open files; a process gets the limit that this program had.
func TestFileLimitIsPutBack(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"start", "fork"} {
		text, code, err := output(t, Start, Spec{
			Path: "/bin/sh", Args: []string{"-c", `ulimit -S -n 300 && exec "$EXE"`},
			Env: []string{"EXE=" + exe, helperVar + "=limit", "WAY=" + way, "GORACE=atexit_sleep_ms=0"},
		})
		if text != "300\n" || code != 0 || err != nil {
			t.Errorf("%s: got limit %q, code %d, %v, want 300", way, text, code, err)
		}
	}
}

func init() {
	helpers["limit"] = func() int {
		start := Start
		if os.Getenv("WAY") == "fork" {
			start = Fork
		}
		var own unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil || own.Cur <= 300 {
			fmt.Println("Go has not raised the limit:", own, err)
			return 1
		}
		p, err := start(context.Background(), &Spec{Path: "/bin/sh", Args: []string{"-c", "ulimit -S -n"}, Files: [3]int{0, 1, 2}})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		reap(p)
		return 0
	}
}

// An exec that hangs holds its thread and nothing else: goroutines go on, and garbage is
// collected, also where there is one processor.
func TestAnExecThatHangs(t *testing.T) {
	if err := Refused(); err != nil {
		t.Skipf("SKIP-TOOL clone3: %v", err)
	}
	m := hangfs.New(t, map[string]string{"run": "#!/bin/sh\nexit 3\n"})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	m.Hang(hangfs.Read)
	started := make(chan Process)
	const starts = 3
	for range starts {
		go func() {
			p, err := Start(context.Background(), &Spec{Path: filepath.Join(m.Dir, "run"), Files: [3]int{0, 1, 2}})
			if err != nil {
				t.Error(err)
			}
			started <- p
		}()
	}
	m.Held()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 5 {
		runtime.GC()
	}
	if runtime.ReadMemStats(&after); after.NumGC < before.NumGC+5 {
		t.Errorf("garbage was collected %d times, want 5", after.NumGC-before.NumGC)
	}
	if text, code, err := output(t, Start, Spec{Path: "/bin/echo", Args: []string{"goes on"}}); text != "goes on\n" {
		t.Errorf("got %q, code %d, %v while others hang", text, code, err)
	}
	select {
	case p := <-started:
		t.Fatalf("%+v has started", p)
	default:
	}
	m.Answer()
	for range starts {
		if status := end(t, <-started); status.ExitStatus() != 3 {
			t.Errorf("got %v after it hung", status)
		}
	}
}

// A process that is killed before its program has begun never begins it.
func TestAnExecThatHangsIsKilled(t *testing.T) {
	if err := Refused(); err != nil {
		t.Skipf("SKIP-TOOL clone3: %v", err)
	}
	mark := filepath.Join(t.TempDir(), "mark")
	m := hangfs.New(t, map[string]string{"run": "#!/bin/sh\necho > " + mark + "\n"})
	m.Hang(hangfs.Read)
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan Process)
	go func() {
		p, err := Start(ctx, &Spec{Path: filepath.Join(m.Dir, "run"), Files: [3]int{0, 1, 2}})
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	m.Held()
	cancel()
	hooktest.Until(t, "the process to have its SIGKILL", func() bool { return pendingKill(t) })
	m.Answer()
	if status := end(t, <-started); !status.Signaled() || status.Signal() != unix.SIGKILL {
		t.Errorf("got %v, want it killed", status)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("its program has run")
	}
}

// pendingKill reports whether a child of this process has a SIGKILL that waits.
func pendingKill(t *testing.T) bool {
	t.Helper()
	list, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range list {
		pids, _ := os.ReadFile(file)
		for _, pid := range strings.Fields(string(pids)) {
			status, _ := os.ReadFile("/proc/" + pid + "/status")
			if got := masks(string(status)); (got["SigPnd"]|got["ShdPnd"])&(1<<(unix.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}

// Signals of the process, garbage collections and growing stacks do not disturb starts,
// and no signal is lost to them. SPAWN_TEST_STARTS sets how many starts there are:
// 1000000 starts have to hold.
func TestManyStarts(t *testing.T) {
	starts := 1000
	if !hooktest.All() {
		starts = 300
	}
	if n, err := strconv.Atoi(os.Getenv("SPAWN_TEST_STARTS")); err == nil {
		starts = n
	}
	eachWay(t, func(t *testing.T, start starter) {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		stop := disturb(t)
		defer stop()
		before := descriptors(t)
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		fd := int(null.Fd())
		var left, wrong atomic.Int64
		left.Store(int64(starts))
		var workers sync.WaitGroup
		for worker := range 4 {
			workers.Go(func() {
				for n := left.Add(-1); n >= 0; n = left.Add(-1) {
					deeper(int(n) % 50)
					s := &Spec{Path: "/bin/true", Env: os.Environ(), Dir: "/", Files: [3]int{fd, fd, fd}}
					if worker == 0 && n%5 == 0 {
						s.Path = "/nowhere"
					}
					p, err := start(context.Background(), s)
					switch {
					case s.Path == "/nowhere" && err == unix.ENOENT:
					case err != nil || end(t, p) != 0:
						wrong.Add(1)
					}
				}
			})
		}
		workers.Wait()
		if n := wrong.Load(); n > 0 {
			t.Errorf("%d of %d starts went wrong", n, starts)
		}
		if after := descriptors(t); after > before {
			t.Errorf("got %d descriptors, before %d", after, before)
		}
		if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
			t.Errorf("a child is left: %v", err)
		}
		var now runtime.MemStats
		runtime.GC()
		if runtime.ReadMemStats(&now); now.HeapInuse > memory.HeapInuse+8<<20 {
			t.Errorf("got %d bytes in use, before %d", now.HeapInuse, memory.HeapInuse)
		}
	})
}

// disturb sends this process signals, waits for each, and collects garbage, until stop.
func disturb(t *testing.T) (stop func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGUSR1)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			default:
			}
			if err := unix.Kill(os.Getpid(), unix.SIGUSR1); err != nil {
				t.Error(err)
			}
			<-caught
			runtime.GC()
		}
	}()
	return func() {
		close(over)
		<-done
		signal.Stop(caught)
	}
}

// deeper grows the stack.
func deeper(n int) byte {
	var frame [1024]byte
	if n > 0 {
		frame[n] = deeper(n - 1)
	}
	return frame[n/2]
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func BenchmarkStart(b *testing.B) { benchmark(b, Start) }
func BenchmarkFork(b *testing.B)  { benchmark(b, Fork) }

func benchmark(b *testing.B, start starter) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	fd, env := int(null.Fd()), os.Environ()
	for b.Loop() {
		p, err := start(context.Background(), &Spec{Path: "/bin/true", Env: env, Files: [3]int{fd, fd, fd}})
		if err != nil {
			b.Fatal(err)
		}
		end(b, p)
	}
}
