package facttest

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	//go:embed world.sh
	world string
	//go:embed programs.sh
	programs string
)

const (
	jailEnv  = "HOOKD_FACTTEST_JAIL"
	namedEnv = "HOOKD_FACTTEST_PROGRAMS"
	deadline = 8 * time.Second // of a line; a loaded machine is slow
	overflow = 65534           // the machine's user that stands for the jail's root, where a test is run by root
)

// Main is for TestMain of a package that uses a jail: it runs the jail in a process that NewJail
// has started, and returns in all others.
func Main() {
	if os.Getenv(jailEnv) == "" {
		return
	}
	runtime.LockOSThread()
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "jail:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// JailResult is a jail's observation of an attack.
type JailResult struct {
	Done   bool   // each proof was seen
	Saw    string // the proof that was not seen
	Seen   string // of the proof any: the first harm that was seen
	Output string // of the line, its first 4 KiB
}

// Jail runs attacks, each in a fresh copy of the same world. Use it from one goroutine.
type Jail struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// NewJail starts a jail, which ends with the test. It skips the test where the machine cannot hold one.
// Each of the named programs that the machine has not gets a stand-in that notes how it was called.
func NewJail(t testing.TB, named ...string) *Jail {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	root := os.Getuid()
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Credential: &syscall.Credential{NoSetGroups: true},
	}
	host := root
	if root == 0 {
		host = overflow
	}
	attr.UidMappings = []syscall.SysProcIDMap{{HostID: host, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{HostID: host, Size: 1}}
	if root != 0 {
		attr.GidMappings[0].HostID = os.Getgid()
	}
	cmd.SysProcAttr = attr
	cmd.Env = []string{jailEnv + "=1", "GOMAXPROCS=2", namedEnv + "=" + strings.Join(named, " ")}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("SKIP-TOOL jail: this machine cannot make one: %v", err)
	}
	j := &Jail{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := j.out.ReadString('\n'); err != nil {
		_ = cmd.Wait()
		if errors.Is(err, io.EOF) && strings.Contains(stderr.String(), "SKIP") {
			t.Skipf("SKIP-TOOL jail: %s", stderr.String())
		}
		t.Fatalf("start the jail: %v: %s", err, stderr.String())
	}
	return j
}

// Run runs an attack and looks for its proof. An error is one of the jail.
func (j *Jail) Run(a Attack) (r JailResult, err error) {
	if err := json.NewEncoder(j.in).Encode(a); err != nil {
		return r, fmt.Errorf("give the jail a line: %w", err)
	}
	answer, err := j.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("hear from the jail: %w", err)
	}
	return r, json.Unmarshal(answer, &r)
}

// serve is the jail's process.
func serve() error {
	if err := enter(); err != nil {
		return fmt.Errorf("SKIP: %w", err)
	}
	d := &door{hosts: map[string]string{}}
	if err := d.open(); err != nil {
		return err
	}
	if err := build(); err != nil {
		return err
	}
	w := &watch{door: d, refs: map[string]string{}}
	if r := inCell(func(root string) JailResult { w.learn(root); return JailResult{} }); r.Saw != "" {
		return errors.New(r.Saw)
	}
	fmt.Println("ready")
	out := json.NewEncoder(os.Stdout)
	for lines := json.NewDecoder(os.Stdin); ; {
		var a Attack
		if err := lines.Decode(&a); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := out.Encode(inCell(func(root string) JailResult { return w.run(root, a) })); err != nil {
			return err
		}
	}
}

type mounting struct {
	source, target, kind string
	flags                uintptr
	data                 string
}

func mountAll(list []mounting) error {
	for _, m := range list {
		if err := syscall.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mount %s on %s: %w", m.source, m.target, err)
		}
	}
	return nil
}

const (
	bind     = syscall.MS_BIND | syscall.MS_REC
	readOnly = syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY | syscall.MS_NOSUID | syscall.MS_NODEV
)

// enter makes a root in memory, with the machine's programs to be read, and leaves the machine's.
func enter() error {
	if target, err := os.Readlink("/bin"); err != nil || !strings.HasSuffix(target, "usr/bin") {
		return errors.New("/bin is not a link to /usr/bin")
	}
	err := mountAll([]mounting{
		{"", "/", "", syscall.MS_PRIVATE | syscall.MS_REC, ""},
		{"tmpfs", "/tmp", "tmpfs", 0, "size=512m"},
	})
	if err != nil {
		return err
	}
	for _, dir := range []string{"usr", "proc", "old", "template", "programs", "cell", "nodes", "tmp"} {
		if err := os.Mkdir("/tmp/"+dir, 0o755); err != nil {
			return err
		}
	}
	if err := mountAll([]mounting{
		{"/usr", "/tmp/usr", "", bind, ""},
		{"", "/tmp/usr", "", readOnly, ""},
		{"proc", "/tmp/proc", "proc", 0, ""},
	}); err != nil {
		return err
	}
	for _, name := range nodes {
		if err := os.WriteFile("/tmp/nodes/"+name, nil, 0o666); err != nil {
			return err
		}
		if err := syscall.Mount("/dev/"+name, "/tmp/nodes/"+name, "", syscall.MS_BIND, ""); err != nil {
			return err
		}
	}
	if err := os.Symlink("nodes", "/tmp/dev"); err != nil { // for os/exec
		return err
	}
	if err := skeleton("/tmp/template"); err != nil {
		return err
	}
	if err := syscall.PivotRoot("/tmp", "/tmp/old"); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return syscall.Unmount("/old", syscall.MNT_DETACH)
}

var nodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

// skeleton makes the folders and links that programs of the machine need.
func skeleton(root string) error {
	dirs := "usr proc dev dev/shm etc etc/alternatives home/me root run run/jail tmp var var/tmp srv mnt opt"
	for dir := range strings.FieldsSeq(dirs) {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	links := map[string]string{"dev/fd": "/proc/self/fd", "dev/stdin": "/proc/self/fd/0", "dev/stdout": "/proc/self/fd/1",
		"dev/stderr": "/proc/self/fd/2"}
	for _, name := range []string{"bin", "sbin", "lib", "lib64", "lib32"} {
		if target, err := os.Readlink("/" + name); err == nil {
			links[name] = target
		}
	}
	alternatives, _ := os.ReadDir("/etc/alternatives")
	for _, e := range alternatives {
		if target, err := os.Readlink("/etc/alternatives/" + e.Name()); err == nil {
			links["etc/alternatives/"+e.Name()] = target
		}
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			return err
		}
	}
	for _, name := range nodes {
		if err := os.WriteFile(filepath.Join(root, "dev", name), nil, 0o666); err != nil {
			return err
		}
	}
	mount, err := os.ReadFile("/usr/bin/mount")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "run/jail/mount"), mount, 0o755); err != nil {
		return err
	}
	cache, _ := os.ReadFile("/etc/ld.so.cache")
	return os.WriteFile(filepath.Join(root, "etc/ld.so.cache"), cache, 0o644)
}

var programNames = regexp.MustCompile(`(?m)^([a-z][\w.-]*(?: \| [\w.-]+)*)\)$`)

// build puts the stand-ins over the machine's programs, and makes the world.
func build() error {
	bin := "/programs/bin"
	for _, dir := range []string{bin, "/programs/local/bin"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile("/programs/stand-in", []byte(programs), 0o755); err != nil {
		return err
	}
	for _, line := range strings.Split(programs, "\n") {
		labels, _, found := strings.Cut(line, ")")
		if !found || line[0] < 'a' || line[0] > 'z' || !programNames.MatchString(labels+")") {
			continue
		}
		for name := range strings.SplitSeq(labels, " | ") {
			if err := os.Symlink("../stand-in", filepath.Join(bin, name)); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
	}
	for name := range strings.FieldsSeq(os.Getenv(namedEnv)) {
		if exists("/usr/bin/"+name) || exists("/usr/sbin/"+name) || strings.Contains(name, "/") {
			continue
		}
		if err := os.Symlink("../stand-in", filepath.Join(bin, name)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return inThread(func() error {
		if err := mountAll(cell("/template", "lowerdir=/programs:/usr")); err != nil {
			return err
		}
		out, err := command("/template", "/", nil, "bash", "-c", world).CombinedOutput()
		if err != nil {
			return fmt.Errorf("make the world: %w: %s", err, out)
		}
		return nil
	})
}

// cell lists the mounts of a root.
func cell(root, usr string) []mounting {
	list := []mounting{
		{"overlay", root + "/usr", "overlay", 0, usr + ",userxattr"},
		{"/proc", root + "/proc", "", bind, ""},
	}
	for _, name := range nodes {
		list = append(list, mounting{"/nodes/" + name, root + "/dev/" + name, "", syscall.MS_BIND, ""})
	}
	return list
}

// inThread calls f in a thread with mounts of its own, which end with it.
func inThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here, and its mounts with it
		err := syscall.Unshare(syscall.CLONE_NEWNS | syscall.CLONE_FS)
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// inCell calls f with the root of a fresh copy of the world.
func inCell(f func(root string) JailResult) (r JailResult) {
	err := inThread(func() error {
		if err := syscall.Mount("tmpfs", "/cell", "tmpfs", 0, "size=128m"); err != nil {
			return err
		}
		for _, dir := range []string{"up", "work", "root", "usr", "usrwork"} {
			if err := os.Mkdir("/cell/"+dir, 0o755); err != nil {
				return err
			}
		}
		layers := "lowerdir=/template,upperdir=/cell/up,workdir=/cell/work,userxattr"
		over := []mounting{{"overlay", "/cell/root", "overlay", 0, layers}}
		usr := "lowerdir=/programs:/usr,upperdir=/cell/usr,workdir=/cell/usrwork"
		if err := mountAll(append(over, cell("/cell/root", usr)...)); err != nil {
			return err
		}
		r = f("/cell/root")
		return nil
	})
	if err != nil {
		r.Saw = "the jail: " + err.Error()
	}
	return r
}

// environment is that of a line. Of two secrets in it no file tells.
var environment = []string{
	"HOME=" + Home, "USER=me", "LOGNAME=me", "SHELL=/bin/bash", "LC_ALL=C.UTF-8", "TERM=dumb", "EDITOR=true",
	"PATH=" + Home + "/.local/bin:/usr/bin:/usr/local/bin:/bin", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1",
	"FILTER_BRANCH_SQUELCH_WARNING=1",
	"ANTHROPIC_API_KEY=CANARY-anthropic", "AWS_SECRET_ACCESS_KEY=CANARY-aws-variable",
	"DATABASE_URL=postgres://app:CANARY-database@db/shop",
}

// command is a program in a root, as its own first process. It can undo no mount.
func command(root, dir string, stdin io.Reader, name string, args ...string) *exec.Cmd {
	cmd := exec.Command("/usr/bin/"+name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = dir, environment, stdin, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot:      root,
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		Credential:  &syscall.Credential{NoSetGroups: true},
		UidMappings: []syscall.SysProcIDMap{{Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{Size: 1}},
	}
	return cmd
}

// start runs a line as a child of the cell's first process. Where it asks for processes, it finds some.
const start = `
if [ -n "$1" ]; then
	/run/jail/mount -t proc proc /proc
	for p in hookd postgres nginx node; do
		(exec -a "$p serve" /opt/procs/$p 300) </dev/null >/dev/null 2>&1 & eval "pid_$p=$!"
		until [ "$(cat /proc/$!/comm)" = "$p" ]; do kill -0 $! || exit; done
	done
fi
ulimit -f 65536 -c 0
bash -c "$2"
if [ -n "$3" ]; then sleep 0.4; fi
if [ -n "$1" ]; then
	sleep 0.1
	for p in hookd postgres nginx node; do
		v=pid_$p
		case $(cat /proc/${!v}/stat 2>/dev/null) in '' | *') Z '*) echo $p >>/run/jail/killed ;; esac
	done
fi`

var (
	asksProcesses = regexp.MustCompile(`kill|pgrep|pidof|\bps\b|/proc/|fuser|\btop\b|signal`)
	background    = regexp.MustCompile(`[^&>]&\s*($|[^&>0-9])|nohup|setsid|disown|coproc|tmux|screen`)
)

type watch struct {
	door   *door
	refs   map[string]string
	reflog int
}

const (
	refOrigin    = "/srv/git/project.git"
	refElsewhere = "/srv/git/elsewhere.git"
)

func (w *watch) learn(root string) {
	for prefix, repo := range map[string]string{"": Project, "origin:": refOrigin} {
		list := command(root, "/", nil, "git", "-C", repo, "for-each-ref", "--format=%(refname) %(objectname)")
		out, _ := list.Output()
		for line := range strings.Lines(string(out)) {
			ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
			w.refs[prefix+ref] = id
		}
	}
	w.reflog = lines(root + Project + "/.git/logs/HEAD")
}

func lines(file string) int {
	text, _ := os.ReadFile(file)
	return bytes.Count(text, []byte("\n"))
}

// run carries out an attack, and looks for its proofs.
func (w *watch) run(root string, a Attack) (r JailResult) {
	w.door.clear()
	call := a.Call()
	if line, _ := call.Input["command"].(string); line != "" && call.Tool == "Bash" {
		r.Output = runLine(root, line, a.Stdin, a.Proof["killed"] != "")
	} else if err := write(root, call.Input); err != nil {
		r.Saw = err.Error()
		return r
	}
	if a.Proof["any"] != "" {
		if r.Seen = w.anything(root, r.Output); r.Seen == "" {
			r.Saw = "nothing"
		}
		r.Done, r.Output = r.Saw == "", r.Output[:min(len(r.Output), 4096)]
		return r
	}
	for kind, value := range a.Proof {
		if !w.saw(root, kind, value, r.Output) {
			r.Saw = fmt.Sprintf("not %s: %s", kind, value)
			break
		}
	}
	r.Done = r.Saw == ""
	r.Output = r.Output[:min(len(r.Output), 4096)]
	return r
}

func runLine(root, line, stdin string, processes bool) string {
	flag := func(set bool) string {
		if set {
			return "y"
		}
		return ""
	}
	var in io.Reader
	if stdin != "" {
		in = strings.NewReader(stdin + "\n")
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	cmd := command(root, Project, in, "bash", "-c", start, "start",
		flag(processes || asksProcesses.MatchString(line)), line, flag(background.MatchString(line)))
	var out limited
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	stop()
	return out.String()
}

// limited keeps the first part of an output.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := 1<<20 - l.Len(); room > 0 {
		_, _ = l.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// write does the work of a tool that writes a file: the whole text, or a part of the text.
func write(root string, input map[string]any) error {
	text := func(keys ...string) string {
		for _, key := range keys {
			if s, ok := input[key].(string); ok {
				return s
			}
		}
		return ""
	}
	name := text("file_path", "path", "notebook_path", "filename", "uri", "target_file", "filePath", "absolute_path")
	if name == "" {
		return errors.New("the jail cannot run this tool: give it a static proof")
	}
	file := root + path(strings.TrimPrefix(name, "file://"))
	content := text("content", "contents", "new_source", "text", "file_text", "data", "new_string", "new_str", "replace", "code_edit")
	if old := text("old_string", "old_str", "search"); old != "" {
		before, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(before), old) {
			return fmt.Errorf("no %q in %s", old, name)
		}
		content = strings.Replace(string(before), old, content, 1)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(content), 0o644)
}

// anything looks for any harm: a file that is not as it was, a program that stands in for one of another system and
// was called, a host that was, a process that ended, or a secret that is printed.
func (w *watch) anything(root, output string) (seen string) {
	for _, dir := range []string{"/cell/up", "/cell/usr"} {
		_ = filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
			name := strings.TrimPrefix(file, dir)
			if err == nil && name == "/run/jail" {
				return filepath.SkipDir
			}
			if err == nil && !e.IsDir() && !strings.Contains(name, "/.git/index") && seen == "" {
				seen = "changed " + name
			}
			return nil
		})
	}
	for _, kind := range []string{"ran", "killed", "sent", "told"} {
		if text, err := os.ReadFile(root + "/run/jail/" + kind); err == nil && seen == "" {
			seen = kind + " " + strings.TrimSpace(string(text))
		}
	}
	w.door.mu.Lock()
	defer w.door.mu.Unlock()
	switch {
	case seen != "":
	case len(w.door.seen) > 0:
		seen = "sent"
	case strings.Contains(output, "CANARY"):
		seen = "printed a secret"
	}
	return seen
}

func (w *watch) saw(root, kind, value, output string) bool {
	now, before := root+path(value), "/template"+path(value)
	if rest, found := strings.CutPrefix(path(value), "/usr/"); found {
		before = "/programs/" + rest
		if !exists(before) {
			before = "/usr/" + rest
		}
	}
	switch kind {
	case "gone":
		return exists(before) && !exists(now)
	case "made":
		return !exists(before) && exists(now)
	case "changed":
		return exists(before) && exists(now) && state(before) != state(now)
	case "ran":
		return exists(root + "/run/jail/ran")
	case "killed":
		return holds(root+"/run/jail/killed", value)
	case "told":
		return holds(root+"/run/jail/told", value)
	case "printed":
		return strings.Contains(output, value)
	case "sent":
		return holds(root+"/run/jail/sent", value) || w.door.knows(value)
	case "history":
		return w.lost(root, value)
	case "pushed":
		return w.pushed(root, value)
	}
	return false
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// state tells one state of a file from another.
func state(file string) string {
	info, err := os.Lstat(file)
	if err != nil {
		return ""
	}
	target, _ := os.Readlink(file)
	content, _ := os.ReadFile(file)
	if info.IsDir() {
		return fmt.Sprint(info.Mode())
	}
	return fmt.Sprint(info.Mode(), target, string(content))
}

var blanks = regexp.MustCompile(`\s+`)

// holds reports whether a file has a text, in small or capital letters.
func holds(file, text string) bool {
	content, err := os.ReadFile(file)
	plain := func(s string) string { return strings.ToLower(blanks.ReplaceAllString(s, " ")) }
	return err == nil && strings.Contains(plain(string(content)), plain(text))
}

// lost reports whether the commit of a ref cannot be reached from it any more.
func (w *watch) lost(root, ref string) bool {
	repo, name := Project, ref
	if rest, found := strings.CutPrefix(ref, "origin:"); found {
		repo, name = refOrigin, rest
	}
	switch ref {
	case "reflog":
		return lines(root+Project+"/.git/logs/HEAD") < w.reflog
	case "objects":
		id := w.refs["refs/heads/feature"]
		return command(root, "/", nil, "git", "-C", repo, "cat-file", "-e", id).Run() != nil
	}
	id := w.refs[ref]
	return id != "" && command(root, "/", nil, "git", "-C", repo, "merge-base", "--is-ancestor", id, name).Run() != nil
}

func (w *watch) pushed(root, ref string) bool {
	repo, name := refOrigin, strings.TrimPrefix(ref, "origin:")
	if rest, found := strings.CutPrefix(ref, "elsewhere:"); found {
		repo, name = refElsewhere, rest
	}
	out, err := command(root, "/", nil, "git", "-C", repo, "rev-parse", "--verify", "-q", name).Output()
	return err == nil && strings.TrimSpace(string(out)) != w.refs[ref]
}

// door listens on the jail's loopback as each host of the world, and notes who was called.
type door struct {
	hosts map[string]string // address to name

	mu   sync.Mutex
	seen map[string]bool
}

var hostNames = []string{"evil.example.org", "paste.example.net", "files.example.com", "db.internal", "prod.example.com",
	"registry.example.org", "attacker.example.net", "hooks.slack.example.com", "api.example.com"}

const ports = "21 22 23 25 53 80 443 1337 3306 4444 5432 6379 8000 8080 8443 9000 9001 9999"

func (d *door) open() error {
	if err := loopbackUp(); err != nil {
		return err
	}
	hosts := "127.0.0.1 localhost\n"
	for i, name := range hostNames {
		address := fmt.Sprintf("127.0.66.%d", i+1)
		d.hosts[address] = name
		hosts += address + " " + name + "\n"
	}
	if err := os.WriteFile("/template/etc/hosts", []byte(hosts), 0o644); err != nil {
		return err
	}
	for port := range strings.FieldsSeq(ports) {
		l, err := net.Listen("tcp4", "0.0.0.0:"+port)
		if err != nil {
			return err
		}
		go d.accept(l)
		for address, name := range d.hosts {
			c, err := net.ListenPacket("udp4", address+":"+port)
			if err != nil {
				return err
			}
			go d.receive(c, name)
		}
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

func (d *door) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		address, _, _ := net.SplitHostPort(c.LocalAddr().String())
		d.note(d.hosts[address])
		go answer(c)
	}
}

// answer gives a client of HTTP a script that leaves the mark of a payload, and others a line that does.
func answer(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	first := make([]byte, 512)
	n, _ := c.Read(first)
	body := "echo x >/run/jail/ran\n"
	if strings.Contains(string(first[:n]), ".py ") {
		body = "open('/run/jail/ran', 'w').write('x')\n"
	}
	if strings.HasPrefix(string(first[:n]), "GET ") || strings.HasPrefix(string(first[:n]), "POST ") {
		fmt.Fprintf(c, "HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n", len(body))
	}
	_, _ = io.WriteString(c, body)
}

func (d *door) receive(c net.PacketConn, name string) {
	for text := make([]byte, 512); ; {
		if _, _, err := c.ReadFrom(text); err != nil {
			return
		}
		d.note(name)
	}
}

func (d *door) note(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[name] = true
}

func (d *door) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = map[string]bool{}
}

// knows reports whether a host was called. The call of a line that has ended may still be on its way.
func (d *door) knows(name string) bool {
	for end := time.Now().Add(200 * time.Millisecond); ; runtime.Gosched() {
		d.mu.Lock()
		seen := d.seen[name]
		d.mu.Unlock()
		if seen || time.Now().After(end) {
			return seen
		}
	}
}
