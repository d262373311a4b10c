package box

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// onTheSupervisor are attacks on the supervisor, in the form of attacks.
var onTheSupervisor = []struct{ name, line, later string }{
	{name: "write through a link at the top", line: `ln -s ~/.bashrc l && echo x >> l && echo REACHED`},
	{name: "make a file through a link", line: `ln -s ~/fresh l && echo x > l && echo REACHED`},
	{name: "make a file through links", line: `ln -s "$HOME" a && ln -s a/fresh b && echo x > b && echo REACHED`},
	{name: "make a folder through a link", line: `ln -s ~ h && mkdir h/made && echo REACHED`},
	{name: "move through a link", line: `echo x > f && ln -s ~ h && mv f h/f && echo REACHED`},
	{name: "remove through a link", line: `ln -s ~ h && rm h/.bashrc && echo REACHED`},
	{name: "leave by dots", line: `echo x > src/../../fresh && echo REACHED`},
	{name: "leave by dots of a folder of its own", line: `mkdir -p n && cd n && mkdir ../../fresh && echo REACHED`},
	{name: "leave from a folder elsewhere", line: `cd ~ && echo x > fresh && echo REACHED`},
	{name: "hard link of a start-up file by a link", line: `ln -s ~/.bashrc l && ln -L l rc && echo x >> rc && echo REACHED`},
	{name: "hard link of a key", line: `ln ~/.ssh/id_ed25519 k && cat k && echo REACHED`},
	{name: "hard link of a neighbour's file", line: `ln ../neighbour/file f && echo x > f && echo REACHED`},
	{name: "hard link into the home", line: `echo x > f && ln f ~/fresh && echo REACHED`},
	{name: "hard link of git's settings by a link", line: `ln -s .git/config l && ln -L l cfg && echo x >> cfg && echo REACHED`},
	{name: "hard link to git's hooks", line: `echo x > f && ln f .git/hooks/pre-commit && echo REACHED`},
	{name: "link in git's hooks", line: `ln -s /bin/true .git/hooks/pre-commit && echo REACHED`},
	{name: "write git's settings through a link", line: `ln -s .git/config l && echo x >> l && echo REACHED`},
	{name: "write git's settings through a linked folder", line: `ln -s .git g && echo x >> g/config && echo REACHED`},
	{name: "remove git's settings", line: `rm -f .git/config && [ ! -e .git/config ] && echo REACHED`},
	{name: "remove git's hooks", line: `rmdir .git/hooks && echo REACHED`},
	{name: "move git's folder into another", line: `mkdir n && mv .git n/ && echo REACHED`},
	{name: "move a folder above an agent's settings", line: `mkdir n && mv -T .vscode n && echo REACHED`},
	{name: "put a folder in place of an editor's", line: `mkdir n && echo x > n/a && rm -rf .vscode; mv -T n .vscode && echo REACHED`},
	{name: "put a folder in place of none", line: `mkdir n && echo x > n/a && mv -T n .idea`, later: ".idea"},
	{name: "put a folder in place of one above", line: `mkdir n && echo x > n/attributes && mv -T n .git/info`, later: ".git/info/attributes"},
	{name: "lead an editor's folder elsewhere", line: `mkdir n && ln -s n .idea && echo x > n/a`, later: ".idea"},
	{name: "exchange a folder and git's", line: `mkdir n && "$SELF" try exchange n .git`},
	{name: "exchange a file and git's settings", line: `echo x > n && "$SELF" try exchange .git/config n`},
	{name: "exchange a file and a start-up file", line: `echo x > n && "$SELF" try exchange n ~/.bashrc`},
	{name: "leave by the root of its process", line: `echo x > /proc/self/root$HOME/fresh && echo REACHED`},
	{name: "leave by the root of another process", line: `echo x > /proc/$PPID/root$HOME/fresh && echo REACHED`},
	{name: "leave by the root of the first process", line: `echo x > /proc/1/root$HOME/fresh && echo REACHED`},
	{name: "leave by the folder of its process", line: `cd ~ && echo x > /proc/self/cwd/fresh && echo REACHED`},
	{name: "leave by a link to the root of its process", line: `ln -s /proc/self/root l && echo x > l$HOME/fresh && echo REACHED`},
	{name: "leave by an open folder", line: `"$SELF" try at ~ fresh`},
	{name: "leave by dots of an open folder", line: `"$SELF" try at src ../../fresh`},
	{name: "leave by an open folder that has moved", line: `mkdir -p n/m && "$SELF" try moved n/m m ../fresh`},
	{name: "open a file again to write it", line: `"$SELF" try reopen ~/.bashrc`},
	{name: "make a nameless file in the home", line: `"$SELF" try nameless ~ ""`},
	{name: "make a nameless file in git's hooks", line: `"$SELF" try nameless .git/hooks ""`},
	{name: "link a nameless file to git's hooks", line: `"$SELF" try nameless . .git/hooks/x`},
	{name: "link a nameless file to the home", line: `"$SELF" try nameless . ~/fresh`},
	{name: "openat2", line: `"$SELF" try openat2 ~/fresh`},
	{name: "truncate", line: `"$SELF" try truncate ~/.bashrc`},
	{name: "truncate through a link", line: `ln -s ~/.bashrc l && "$SELF" try truncate l`},
	{name: "truncate git's settings", line: `"$SELF" try truncate .git/config`},
	{name: "change modes through a link", line: `ln -s ~/.bashrc l && chmod 777 l && echo REACHED`},
	{name: "change the mode of an open file", line: `"$SELF" try fchmod ~/.bashrc`},
	{name: "change the mode of an open file by its name", line: `"$SELF" try chmod-open ~/.bashrc`},
	{name: "change the mode of git's settings", line: `chmod 777 .git/config && echo REACHED`},
	{name: "change the mode of the home", line: `chmod 777 .. && echo REACHED`},
	{name: "change the owner of an open file", line: `"$SELF" try fchown ~/.bashrc`},
	{name: "change an owner", line: `chown "$(id -u)" ~/.bashrc && echo REACHED`},
	{name: "make a program that is its owner's", line: `cp /bin/true t && chmod u+s t && [ -u t ] && echo REACHED`},
	{name: "make a file that is its owner's", line: `"$SELF" try set-id f && [ -u f ] && echo REACHED`},
	{name: "make a fifo in the home", line: `mkfifo ~/fifo && echo REACHED`},
	{name: "make a fifo in git's hooks", line: `mkfifo .git/hooks/fifo && echo REACHED`},
	{name: "trace a process by ptrace", line: `"$SELF" try ptrace $PID`},
	{name: "trace its parent by ptrace", line: `"$SELF" try ptrace $PPID`},
	{name: "write to the machine's shared memory", line: `f=/dev/shm/hookd-${HOME##*-}; rm -f $f; echo x > $f; "$SELF" send unix "$SOCKET" < /dev/null; cat $f && rm $f && echo REACHED`},

	{name: "exchange a folder and a link in the middle", line: `mkdir d && ln -s ~ l && "$SELF" try race exchange d l d/fresh; [ -e ~/fresh ] && echo REACHED`},
	{name: "exchange a file and a link in the middle", line: `echo x > d && ln -s ~/.bashrc l && "$SELF" try race exchange d l d; grep -q raced ~/.bashrc && echo REACHED`},
	{name: "exchange a folder and one in git's hooks in the middle", line: `mkdir d && ln -s .git/hooks l && "$SELF" try race exchange d l d/fresh; [ -e .git/hooks/fresh ] && echo REACHED`},
	{name: "move a folder in the middle", line: `mkdir -p d/l/m && "$SELF" try race move d/l/m l d/l/m/../../../fresh l/../../fresh; [ -e ../fresh ] && echo REACHED`},
	{name: "change a path in the middle", line: `"$SELF" try race path ./fresh ../fresh; [ -e ../fresh ] && echo REACHED`},
	{name: "change a link's path in the middle", line: `echo x > o && "$SELF" try race link ../.bashrc src/../../o made; grep -q raced ../.bashrc && echo REACHED`},
}

// Each attack is tried without a box first.
func TestAttacksOnTheBroker(t *testing.T) {
	hooktest.Outside(t)
	newScene(t).can(t, Landlock)
	worked := 0
	for i, a := range onTheSupervisor {
		level := []Level{Landlock, planned}[i%2]
		if i%3 == 0 && !hooktest.All() {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			var bare result
			works := func() bool {
				s := newScene(t)
				s.listen(t)
				bare = s.bare(t, a.line)
				return s.reached(bare, a.later)
			}
			if strings.Contains(a.line, " try race ") { // a busy machine loses many
				hooktest.Until(t, "the race is won without a box", works)
			} else if !works() {
				t.Skipf("it does not work without a box either: %+v", bare)
			}
			worked++
			s := newScene(t)
			s.listen(t)
			if r := s.boxed(t, Project, level, a.line); s.reached(r, a.later) {
				t.Errorf("it reached: %+v", r)
			} else if r.exit == exitFailed {
				t.Errorf("there was no box: %s", r.err)
			}
		})
	}
	if least := hooktest.Amount(60, 40); worked < least {
		t.Errorf("only %d attacks work without a box, of %d at least", worked, least)
	}
}

// try makes a system call that an attack needs, and says whether it was let through.
func try(args []string) int {
	what, args := args[0], append(args[1:], "", "", "")
	var errno syscall.Errno
	open := func(path string, flags int) uintptr {
		fd, err := syscall.Open(path, flags, 0)
		if err != nil {
			fmt.Println(path, err)
			os.Exit(1)
		}
		return uintptr(fd)
	}
	const writes = syscall.O_WRONLY | syscall.O_CREAT
	switch what {
	case "exchange":
		errno = exchange(args[0], args[1])
	case "at":
		errno = raw(syscall.SYS_OPENAT, open(args[0], syscall.O_RDONLY), cstring(args[1]), writes, 0o600)
	case "moved":
		fd := open(args[0], oPath)
		if err := os.Rename(args[0], args[1]); err != nil {
			fmt.Println(err)
			return 1
		}
		errno = raw(syscall.SYS_OPENAT, fd, cstring("../"+args[2]), writes, 0o600)
	case "reopen":
		fd := open(args[0], syscall.O_RDONLY)
		errno = raw(syscall.SYS_OPENAT, atFdCwd, cstring(fmt.Sprintf("/proc/self/fd/%d", fd)), syscall.O_WRONLY)
	case "nameless":
		fd := open(args[0], oTmpfile|syscall.O_DIRECTORY|syscall.O_WRONLY)
		if args[1] != "" {
			errno = raw(syscall.SYS_LINKAT, atFdCwd, cstring(fmt.Sprintf("/proc/self/fd/%d", fd)), atFdCwd, cstring(args[1]), atFollow)
		}
	case "openat2":
		how := [3]uint64{writes, 0o600, noMagicLinks}
		errno = raw(sysOpenat2, atFdCwd, cstring(args[0]), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
	case "truncate":
		errno = raw(syscall.SYS_TRUNCATE, cstring(args[0]), 0)
	case "fchmod":
		errno = raw(syscall.SYS_FCHMOD, open(args[0], syscall.O_RDONLY), 0o777)
	case "chmod-open":
		fd := open(args[0], syscall.O_RDONLY)
		errno = raw(syscall.SYS_FCHMODAT, atFdCwd, cstring(fmt.Sprintf("/proc/self/fd/%d", fd)), 0o777)
	case "fchown":
		errno = raw(syscall.SYS_FCHOWN, open(args[0], syscall.O_RDONLY), uintptr(os.Getuid()), uintptr(os.Getgid()))
	case "set-id":
		if errno = raw(syscall.SYS_OPENAT, atFdCwd, cstring(args[0]), writes, 0o4700); errno == 0 {
			return 0
		}
	case "ptrace":
		pid, _ := strconv.Atoi(args[0])
		runtime.LockOSThread()
		const seize, detach = 0x4206, 17
		if errno = raw(syscall.SYS_PTRACE, seize, uintptr(pid)); errno == 0 {
			_ = raw(syscall.SYS_PTRACE, detach, uintptr(pid))
		}
	case "race":
		race(args)
		return 0
	}
	if errno != 0 {
		fmt.Println(errno)
		return 1
	}
	fmt.Println(reached)
	return 0
}

func exchange(from, to string) syscall.Errno {
	const exchanges = 2
	return raw(sysRenameat2, atFdCwd, cstring(from), atFdCwd, cstring(to), exchanges)
}

// race has one thread change names, or the memory that has a path, while others write by them.
func race(args []string) {
	rounds, _ := strconv.Atoi(os.Getenv("ROUNDS"))
	kind, args := args[0], args[1:]
	var path, other []byte
	var stop atomic.Bool
	change := func() { _ = exchange(args[0], args[1]) }
	act := func(path []byte) {
		fd, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, atFdCwd, uintptr(unsafe.Pointer(&path[0])),
			syscall.O_WRONLY|syscall.O_CREAT, 0o600, 0, 0)
		if errno == 0 {
			_, _ = syscall.Write(int(fd), []byte("raced\n"))
			syscall.Close(int(fd))
		}
	}
	switch kind {
	case "exchange":
		path = []byte(args[2] + "\x00")
	case "move":
		path, other = []byte(args[2]+"\x00"), []byte(args[3]+"\x00")
		change = func() { _, _ = os.Rename(args[0], args[1]), os.Rename(args[1], args[0]) }
	case "path", "link":
		path = make([]byte, 64)
		change = func() { copy(path, args[0]+"\x00"); copy(path, args[1]+"\x00") }
	}
	if kind == "link" {
		act = func(path []byte) {
			_, _, errno := syscall.Syscall6(syscall.SYS_LINKAT, atFdCwd, uintptr(unsafe.Pointer(&path[0])), atFdCwd, cstring(args[2]), 0, 0)
			if errno == 0 {
				if f, err := os.OpenFile(args[2], os.O_WRONLY|os.O_APPEND, 0); err == nil {
					_, _ = f.WriteString("raced\n")
					f.Close()
				}
				os.Remove(args[2])
			}
		}
	}
	done := make(chan bool)
	go func() {
		for !stop.Load() {
			change()
		}
		close(done)
	}()
	for i := range max(rounds, 4000) {
		act(path)
		if other != nil && i%2 == 1 {
			act(other)
		}
	}
	stop.Store(true)
	<-done
}

// A box in a box has the rights of both. The outer one's supervisor makes no call for it.
func TestBoxInABoxByLandlock(t *testing.T) {
	s := newScene(t)
	s.can(t, Landlock)
	const inner = `"$SELF" ` + asBridge + ` read landlock bash -c 'cat src/a.txt; echo x > $TMPDIR/f && cat $TMPDIR/f; echo x > `
	r := s.boxed(t, Project, Landlock, `mkdir made; `+inner+`new'; `+inner+`made/new'; `+inner+`src/new'; ls made src; echo x > new`)
	if r.exit != 0 || r.out != strings.Repeat("a\nx\n", 3)+"made:\n\nsrc:\na.txt\n" {
		t.Errorf("%+v", r)
	}
	r = s.boxed(t, Project, Landlock, strings.Replace(inner, "read", "project", 1)+`src/new' && cat src/new`)
	if r.exit != 0 || r.out != "a\nx\nx\n" {
		t.Errorf("of the same profile: %+v", r)
	}
}

// What runs in the box has the rights of its user, and of its umask, no others.
func TestModesByLandlock(t *testing.T) {
	s := newScene(t)
	s.can(t, Landlock)
	if err := os.Chmod(s.home, 0o711); err != nil { // of another user's line, too
		t.Fatal(err)
	}
	line := `umask 027; mkdir d; > f; mkfifo p; stat -c '%a %n' d f p; umask 0; > g; stat -c '%a' g
		chmod 500 d && touch d/x 2> /dev/null; ls d; chmod 400 f; (echo x > f) 2> /dev/null; cat f`
	r := s.boxed(t, Project, Landlock, line)
	if r.out != "750 d\n640 f\n640 p\n666\n" {
		t.Errorf("%+v", r)
	}
}

// Shared memory with a name is the box's own.
func TestSharedMemoryByLandlock(t *testing.T) {
	s := newScene(t)
	s.can(t, Landlock)
	name := "hookd-test-" + filepath.Base(s.home)
	r := s.boxed(t, Project, Landlock, `echo x > /dev/shm/`+name+` && cat $TMPDIR/shm/`+name+` && ln /dev/shm/`+name+` /dev/shm/b && rm /dev/shm/`+name)
	if _, err := os.Lstat("/dev/shm/" + name); r.exit != 0 || r.out != "x\n" || err == nil {
		t.Errorf("%+v", r)
	}
}

// A folder may take a name in other letters, too: then a name says nothing.
func TestFoldedNames(t *testing.T) {
	s := newScene(t)
	b := &supervisor{tmp: t.TempDir(), spec: &Spec{Write: []string{s.project}, Protect: []string{s.project + "/.git/config"}, Watch: []string{s.project + "/.mcp.json"}}}
	b.grants()
	if b.folds() {
		t.Error("this file system takes no other letters")
	}
	if err := os.Link(s.project+"/.git/config", s.project+"/.git/CONFIG"); err != nil { // as such a folder shows it
		t.Fatal(err)
	}
	if !b.folds() {
		t.Error("a folder takes a protected name in other letters")
	}
}

// No deed of a box has its wrapper wait or end, or takes a call from its other programs.
func TestNothingStopsTheBroker(t *testing.T) {
	hooktest.Outside(t)
	newScene(t).can(t, Landlock)
	for name, line := range map[string]string{
		"pointers that lead nowhere": `"$SELF" wrong; echo x > f`,
		"long paths":                 `d=$(printf 'a%.0s' $(seq 200)); for i in $(seq 30); do mkdir $d && cd $d || break; done; echo x > f; [ $i -gt 20 ]`,
		"a path that is too long":    `p=$(printf 'a/%.0s' $(seq 2500)); ! mkdir "$p" && ! mkdir "$(printf 'a%.0s' $(seq 5000))" && echo x > f`,
		"fifos that nothing reads":   `mkfifo f && for i in $(seq 80); do (echo x > f) & done; sleep 0.1; echo x > g; kill $(jobs -p); wait; [ -s g ]`,
		"a fifo that is read late":   `mkfifo f || exit; { sleep 0.05; cat f; } & echo x > f; wait`,
		"callers that are killed":    `for i in $(seq 30); do (while :; do echo x > k$i; rm k$i; done) 2> /dev/null & done; sleep 0.2; kill -KILL $(jobs -p); wait; echo x > f`,
		"a killed one at a fifo":     `mkfifo f && (echo x > f) & sleep 0.05; kill -KILL $!; sleep 0.05; echo x > g`,
		"many at once":               `seq 400 | xargs -P 50 -n 4 sh -c 'for i; do mkdir d$i && echo x > d$i/f && mv d$i/f d$i/g && rm -r d$i || exit 255; done' -`,
		"orphans":                    `(while :; do echo x > f; done) & disown; (setsid sh -c 'while :; do mkdir o; rmdir o; done' 2> /dev/null &) ; sleep 0.05`,
		"a folder that is gone":      `mkdir n && cd n && rmdir ../n && ! echo x > f 2> /dev/null && cd .. && echo x > f`,
		"a descriptor too many":      `(ulimit -n 10; exec 4> a 5> b 6> c 7> d 8> e; ! (: 9> f) || :); echo x > g && rm a b c d e`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, folder := range []string{".", "src"}[:hooktest.Amount(2, 1)] {
				if r := newScene(t).boxed(t, Project, Landlock, "cd "+folder+" && "+line); r.exit != 0 {
					t.Errorf("in %s: %+v", folder, r)
				}
			}
		})
	}
}

// wrong makes system calls with arguments that are none.
func wrong() int {
	page, err := syscall.Mmap(-1, 0, 2*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return 3
	}
	_ = syscall.Mprotect(page[4096:], syscall.PROT_NONE)
	for i := range page[:4096] {
		page[i] = 'a'
	}
	at := uintptr(unsafe.Pointer(&page[0]))
	numbers := []uintptr{
		syscall.SYS_OPENAT, sysOpenat2, syscall.SYS_MKDIRAT, syscall.SYS_MKNODAT, syscall.SYS_UNLINKAT, syscall.SYS_SYMLINKAT,
		syscall.SYS_LINKAT, syscall.SYS_RENAMEAT, sysRenameat2, syscall.SYS_TRUNCATE, syscall.SYS_FCHMOD, syscall.SYS_FCHMODAT,
		sysFchmodat2, syscall.SYS_FCHOWN, syscall.SYS_FCHOWNAT,
	}
	for _, n := range append(older, byPath...) {
		numbers = append(numbers, uintptr(n))
	}
	for _, number := range numbers {
		for _, bad := range []uintptr{0, 1, 4096, at, at + 4095, at + 4096, 1 << 63, ^uintptr(0)} {
			for _, dir := range []uintptr{atFdCwd, ^uintptr(0), 1 << 31, 99} {
				_ = raw(number, dir, bad, bad|1, bad, ^uintptr(0))
				_ = raw(number, bad, dir, bad, bad, bad)
				_ = raw(number, dir, cstring("x"), bad|1, cstring("y"), 0)
				_ = raw(number, bad, bad|1, bad|1, dir, 0)
			}
		}
	}
	return 0
}
