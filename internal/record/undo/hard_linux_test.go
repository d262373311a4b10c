package undo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

// inChild is the environment of a test that runs again in another process, with a folder for it.
const inChild = "HOOKD_TEST_UNDO_IN"

// smallDisk runs the rest of a test where a folder is a file system of 4 MiB, and returns that folder; "" = the
// test has run there.
func smallDisk(t *testing.T) string {
	if dir := os.Getenv(inChild); dir != "" {
		return dir
	}
	if err := exec.Command("unshare", "-Urm", "true").Run(); err != nil {
		t.Skipf("SKIP-TOOL unshare: this user may mount nothing: %v", err)
	}
	self, err := os.Executable()
	hooktest.Must(t, err)
	dir := t.TempDir()
	cmd := exec.Command("unshare", "-Urm", "sh", "-c",
		`mount -t tmpfs -o size=4m,mode=755 none "$1" && exec "$2" -test.v -test.run "^$3\$"`, "sh", dir, self, t.Name())
	cmd.Env = append(os.Environ(), inChild+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return ""
}

// fill leaves no room on a disk. The returned function makes room again.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	hooktest.Must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	return func() { hooktest.Must(t, os.Remove(path)) }
}

func TestAFullDiskWhileKeeping(t *testing.T) {
	disk := smallDisk(t)
	if disk == "" {
		return
	}
	v := &vaultTest{t, newKeeper(t, t.TempDir()), filepath.Join(disk, "work")}
	v.write("b", "b")
	old := strings.Repeat("old", 100_000)
	v.write("a", old)
	v.ran("s", "printf x > b") // makes the vault on the disk
	empty := sync.OnceFunc(fill(t, disk))
	c := v.ran("s", "printf new > a") // the copy goes to the vault in the home
	if a := v.undo(wire.UndoRequest{Calls: []string{c}}); a.Word == wire.UndoAll {
		v.want("a", old)
	} else if empty(); v.undo(wire.UndoRequest{Calls: []string{c}}).Word != wire.UndoAll {
		t.Error("a copy of a file on a full disk does not come back")
	}
	v.want("a", old)
	if halves, _ := filepath.Glob(filepath.Join(disk, "*", ".hookd-vault-*", "*", "0*")); len(halves) > 0 {
		t.Errorf("a half copy is left: %v", halves)
	}
	c = v.ran("s", "rm a") // a link needs no room
	if a := v.undo(wire.UndoRequest{Calls: []string{c}}); a.Word != wire.UndoAll {
		t.Errorf("undo of a deletion on a full disk: %+v", a)
	}
	v.want("a", old)
	empty()
}

// The vault's own disk is full: nothing is on record, and nothing is said to be kept.
func TestAFullVault(t *testing.T) {
	disk := smallDisk(t)
	if disk == "" {
		return
	}
	v := &vaultTest{t, newKeeper(t, disk), filepath.Join(disk, "work")}
	hooktest.Must(t, os.MkdirAll(filepath.Join(v.work, "d"), 0o755))
	for i := range 300 { // more than one block of a manifest
		v.write(fmt.Sprint("d/", i), "old")
	}
	empty := fill(t, disk)
	for _, line := range []string{"rm d/1", "rm -rf d", "mv d/1 d/2", "chmod 600 d/1", "echo new > d/1"} {
		c := call(v.work)
		r := v.k.Keep(c, factsOf(line, v.work))
		if r.Word != None || r.Files != 0 || r.Undoable() || len(r.Lost) == 0 {
			t.Errorf("%s: %+v", line, r)
		}
		v.k.Discard(c.ID)
	}
	v.want("d/1", "old")
	empty()
	c := v.ran("s", "rm -rf d")
	if a := v.undo(wire.UndoRequest{Calls: []string{c}}); a.Word != wire.UndoAll || a.Count[wire.UndoBack] != 300 {
		t.Errorf("undo once there is room: %s, %v", a.Word, a.Count)
	}
}

func TestAFullDiskWhileUndoing(t *testing.T) {
	disk := smallDisk(t)
	if disk == "" {
		return
	}
	for name, before := range map[string]string{"alone": "", "with another name": "ln a b"} {
		work := filepath.Join(disk, name)
		hooktest.Must(t, os.Mkdir(work, 0o755))
		v := &vaultTest{t, newKeeper(t, t.TempDir()), work}
		old := strings.Repeat("old", 100_000)
		v.write("a", old)
		sh(t, work, before)
		was := treeOf(t, work)
		c := v.ran("s", "echo new > a")
		empty := fill(t, disk)
		ran := treeOf(t, work)
		a, bad := v.k.Undo(id(), wire.UndoRequest{Calls: []string{c}})
		if bad == nil && (a.Word != wire.UndoPart || a.Count[wire.UndoLeft] != 1 || a.Items[0].Why != errFull.Error()) {
			t.Errorf("%s: undo on a full disk: %s, %+v", name, a.Word, a.Items)
		}
		same(t, name+": after an undo without room", treeOf(t, work), ran)
		empty()
		if a := v.undo(wire.UndoRequest{Calls: []string{c}}); a.Word != wire.UndoAll {
			t.Errorf("%s: undo once there is room: %s, %+v", name, a.Word, a.Items)
		}
		same(t, name+": after an undo with room", treeOf(t, work), was)
		hooktest.Must(t, os.RemoveAll(work))
	}
}

func TestFilesOfAnotherOwner(t *testing.T) {
	dir := os.Getenv(inChild)
	if dir == "" {
		hooktest.NeedRoot(t)
		runAsOther(t)
		return
	}
	v := &vaultTest{t, newKeeper(t, dir), filepath.Join(dir, "work")}
	const line = "rm -f readable secret own; echo new > open"
	c := call(v.work)
	r := v.k.Keep(c, factsOf(line, v.work))
	lost := fmt.Sprint(r.Lost)
	for _, want := range []string{"secret hookd may not read it", "the owner of " + filepath.Join(v.work, "readable")} {
		if !strings.Contains(lost, want) {
			t.Errorf("before the call %q is not said: %+v", want, r)
		}
	}
	if r.Word != Part || r.Undoable() {
		t.Errorf("before the call: %+v", r)
	}
	own := withoutNames(treeOf(t, filepath.Join(v.work, "own")))
	sh(t, v.work, line)
	v.k.Ran(c.ID)
	v.k.waitClosed("s", time.Now().Add(time.Minute))
	a := v.undo(wire.UndoRequest{Calls: []string{c.ID}})
	if a.Word != wire.UndoPart || a.Count[wire.UndoLeft] != 1 {
		t.Errorf("undo: %s, %+v", a.Word, a.Items)
	}
	v.want("readable", "readable\n")
	v.want("open", "open\n")
	same(t, "the own file", withoutNames(treeOf(t, filepath.Join(v.work, "own"))), own)
	if is, err := look(filepath.Join(v.work, "secret")); err != nil || is.Kind != kindGone {
		t.Errorf("a file that is not kept is %+v, %v", is, err)
	}
}

// runAsOther runs the test as another user in a folder with files of root.
func runAsOther(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "undo") // the folders of t are root's
	hooktest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	sh(t, dir, `mkdir work; cd work; echo readable > readable; echo secret > secret; chmod 600 secret
		echo own > own; echo open > open; chmod 666 open`)
	for _, path := range []string{"", "work", "work/own"} {
		hooktest.Must(t, os.Chown(filepath.Join(dir, path), hooktest.OtherUser, hooktest.OtherUser))
	}
	self, err := os.Executable()
	hooktest.Must(t, err)
	text, err := os.ReadFile(self)
	hooktest.Must(t, err)
	program := filepath.Join(dir, "test")
	hooktest.Must(t, os.WriteFile(program, text, 0o755))
	cmd := exec.Command(program, "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), inChild+"="+dir, "HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: hooktest.OtherUser, Gid: hooktest.OtherUser}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// hanging mounts a file system whose server never answers, until it is closed.
func hanging(t *testing.T) (dir string, end func()) {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("SKIP-TOOL fuse: there is no file system that hangs: %v", err)
	}
	dir = t.TempDir()
	err = unix.Mount("hangs", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV,
		fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", fd, os.Geteuid(), os.Getegid()))
	if err != nil {
		unix.Close(fd)
		t.Skipf("SKIP-TOOL fuse: a file system that hangs cannot be mounted: %v", err)
	}
	end = sync.OnceFunc(func() {
		unix.Close(fd)
		_ = unix.Unmount(dir, unix.MNT_DETACH)
	})
	t.Cleanup(end)
	return dir, end
}

// While a file system does not answer, each Keep returns, and files elsewhere are kept.
func TestAFileSystemThatHangs(t *testing.T) {
	dir, end := hanging(t)
	v := newVaultTest(t)
	s := DefaultSettings()
	v.k.Configure(s)
	v.write("a", "old")
	c := call(v.work)
	for _, line := range []string{"rm -rf " + dir + "/d", "echo new > " + dir + "/a"} { // the second is a rewrite
		if r := v.k.Keep(c, factsOf(line, v.work)); r.Word != None || !r.Late || r.Undoable() {
			t.Errorf("%s: %+v", line, r)
		}
	}
	s.Wait = 10 * time.Second
	v.k.Configure(s)
	mine := v.ran("s", "rm a")
	if a := v.undo(wire.UndoRequest{Calls: []string{mine}}); a.Word != wire.UndoAll {
		t.Errorf("a file elsewhere: %+v", a)
	}
	s.Wait = time.Millisecond
	v.k.Configure(s)
	for range mostHung + 2 {
		if r := v.k.Keep(call(v.work), factsOf("rm "+dir+"/a", v.work)); r.Word != None || !r.Late {
			t.Errorf("one of many: %+v", r)
		}
	}
	end()
	hooktest.Until(t, "the keepings that hung end", func() bool { return v.k.hung.Load() == 0 })
}

// A system call that does not return holds no verdict. It is the stand-in for a file system that hangs, for users
// that may mount none.
func TestASystemCallThatHangs(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil || exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "true").Run() != nil {
		t.Skip("SKIP-TOOL strace: it cannot be used")
	}
	for call, line := range map[string]string{"linkat": "rm a", "pwrite64": "echo new > a"} {
		v := newVaultTest(t)
		v.write("a", "old")
		v.write("d/b", "old")
		cmd := v.child(v.k.vaults.home, line, "strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace="+call,
			"-e", "inject="+call+":delay_enter=1000000000")
		cmd.Env = append(cmd.Env, "HOOKD_TEST_WAIT=50ms")
		out, err := cmd.StdoutPipe()
		hooktest.Must(t, err)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		hooktest.Must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		lines.Scan() // ready
		lines.Scan() // while the call hangs
		if got := lines.Text(); !strings.HasPrefix(got, None) {
			t.Errorf("%s, with a %s that hangs: %q", line, call, got)
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}
}

// A copy is of one moment, or the file is said to be lost.
func TestAFileThatChangesWhileItIsKept(t *testing.T) {
	v := newVaultTest(t)
	const size = 1 << 20 // more is not copied on a full disk
	v.write("a", strings.Repeat("\x00", size))
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		f, err := os.OpenFile(filepath.Join(v.work, "a"), os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				_, _ = f.WriteAt(bytes.Repeat([]byte{byte(i)}, size), 0)
			}
		}
	}()
	whole := 0
	for range 20 {
		c := call(v.work)
		r := v.k.Keep(c, factsOf("echo new > a", v.work))
		if r.Word == None && len(r.Lost) == 1 && r.Lost[0].Why == errChanged.Error() {
			continue
		}
		m, err := readManifest(v.k.dir(c.ID))
		if err != nil || r.Word != Kept {
			t.Fatalf("%+v, %v", r, err)
		}
		text, err := os.ReadFile(string(m.entries[0].At))
		hooktest.Must(t, err)
		if whole++; len(slices.Compact(text)) != 1 {
			t.Error("a copy has bytes of two moments, and is said to be kept")
		}
	}
	close(stop)
	<-ended
	t.Logf("%d of 20 copies are kept", whole)
}

// Files come and go while a folder is kept: what is said to be kept comes back.
func TestAFolderThatChangesWhileItIsKept(t *testing.T) {
	v := newVaultTest(t)
	for i := range 500 {
		v.write(fmt.Sprint("d/", i), fmt.Sprint(i))
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i = (i + 1) % 200 {
			select {
			case <-stop:
				return
			default:
				path := filepath.Join(v.work, "d", fmt.Sprint("n", i))
				_ = os.WriteFile(path, []byte("new"), 0o644)
				_ = os.Rename(path, path+"x")
				_ = os.Remove(path + "x")
			}
		}
	}()
	c := call(v.work)
	r := v.k.Keep(c, factsOf("rm -rf d", v.work))
	close(stop)
	<-ended
	if r.Word == None || r.Files < 500 {
		t.Errorf("before the call: %+v", r)
	}
	sh(t, v.work, "rm -rf d")
	v.k.Ran(c.ID)
	v.k.waitClosed("s", time.Now().Add(time.Minute))
	v.undo(wire.UndoRequest{Calls: []string{c.ID}})
	for i := range 500 {
		v.want(fmt.Sprint("d/", i), fmt.Sprint(i))
	}
}
