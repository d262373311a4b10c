package box

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// The test program stands for hookd-bridge, and for programs that make system calls, when it is
// started with one of these words.
const (
	asBridge = "run-in-box"
	asCaller = "system-call"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asBridge {
		os.Exit(bridge(os.Args[2], Level(os.Args[3]), os.Args[4:]))
	}
	if len(os.Args) > 2 && os.Args[1] == asCaller {
		os.Exit(systemCall(os.Args[2]))
	}
	if len(os.Args) > 2 && os.Args[1] == "try" {
		os.Exit(try(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "wrong" {
		os.Exit(wrong())
	}
	if len(os.Args) > 3 && os.Args[1] == "send" {
		os.Exit(send(os.Args[2], os.Args[3]))
	}
	if len(os.Args) > 1 && (os.Args[1] == "own-socket" || os.Args[1] == "own-port") {
		os.Exit(talk(os.Args[1:]))
	}
	code := m.Run()
	if copyOfProgram != "" {
		os.Remove(copyOfProgram)
	}
	os.Exit(code)
}

// copyOfProgram is this program where boxes see it; "" = there is none yet.
var copyOfProgram string

func copied(t *testing.T) string {
	t.Helper()
	if copyOfProgram != "" {
		return copyOfProgram
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(hooktest.HomeDir(t)) + "/scratch-program-" + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	copyOfProgram = path
	return path
}

// talk connects to a socket or a port of its own.
func talk(args []string) int {
	network, address := "tcp", "127.0.0.1:0"
	if args[0] == "own-socket" {
		network, address = "unix", args[1]
	}
	l, err := net.Listen(network, address)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer l.Close()
	return send(network, l.Addr().String())
}

// send writes to a socket, and says whether something took it.
func send(network, address string) int {
	c, err := net.Dial(network, address)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer c.Close()
	if _, err := c.Write([]byte("x")); err != nil {
		return 1
	}
	fmt.Println(reached)
	return 0
}

func bridge(profile string, level Level, argv []string) int {
	cwd, err := os.Getwd()
	if err != nil {
		return 124
	}
	home := os.Getenv("HOME")
	s, err := Resolve(Profile{Name: profile, Base: profile}, Surroundings{
		Cwd: cwd, Homes: []string{home}, Own: []string{filepath.Join(home, ".librefang")},
		Private: []string{".agent"}, Later: []string{".agent", ".mcp.json", ".github/hooks"},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot:", err)
		return exitFailed
	}
	s.Argv, s.Env, s.Level = argv, os.Environ(), level
	if dir := os.Getenv("LAYER"); dir != "" {
		s.Overlay = dir
	}
	if profile == ProjectNet {
		s.Proxy = toRegistry().ServeFile
	}
	if dir := os.Getenv("SWAP"); dir != "" { // a program of another box makes a link of it
		if os.Rename(dir, dir+".was") != nil || os.Symlink(home, dir) != nil {
			return 124
		}
	}
	run := Run
	if level == planned {
		run = runPlanned
	}
	end, err := run(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot:", err)
		return exitFailed
	}
	for _, path := range end.Kept {
		fmt.Fprintln(os.Stderr, "kept:", path)
	}
	return end.Exit
}

// planned stands for Landlock by a plan, as hookd and the first code of hookd-bridge make such a box together.
const planned Level = "planned"

func runPlanned(s *Spec) (Ended, error) {
	s.Level = Landlock
	p, err := NewPlan(*s, os.Getpid())
	if err != nil {
		return Ended{}, err
	}
	text, err := json.Marshal(p.Rest)
	if err != nil {
		return Ended{}, err
	}
	var rest Rest
	if err := json.Unmarshal(text, &rest); err != nil {
		return Ended{}, err
	}
	rest.Spec.Argv, rest.Spec.Env = s.Argv, s.Env
	memory := &program{}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return Ended{}, err
	}
	e := &Early{
		Rules: p.Files[0], Report: pipe[1], Path: memory.text(p.Path), Cwd: memory.text(p.Cwd),
		Argv: memory.texts(s.Argv), Envp: memory.texts(p.Env), Filter: memory.bytes(p.Filter), FilterSize: uintptr(len(p.Filter)),
	}
	pid := e.Begin()
	runtime.KeepAlive(memory)
	syscall.Close(pipe[1])
	return Finish(&rest, Begun{PID: pid, Report: pipe[0], Listener: p.Files[0], Lock: p.Files[1], Filter: p.Filter})
}

// scene is a scratch home with a project, outside of the folders that a box has its own of.
type scene struct {
	home, project, self string
	env                 []string

	hits atomic.Int64 // connections to the host's services
	udp  net.PacketConn
}

func newScene(t *testing.T) *scene {
	t.Helper()
	home := hooktest.HomeDir(t)
	s := &scene{home: home, project: filepath.Join(home, "project"), self: copied(t)}
	for _, dir := range []string{
		".ssh", ".agent", ".librefang", ".cache", "bin", "neighbour", "project/.git/hooks", "project/src",
		"project/.agent", "project/.vscode", ".cache/zsh", ".cache/go-build", "go/pkg/mod/golang.org/toolchain@v1",
	} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		".ssh/id_ed25519": "a key\n", ".agent/credentials.json": "a token\n", ".netrc": "a password\n",
		".librefang/hookd.db": "history\n", ".bashrc": "# mine\n", "neighbour/file": "theirs\n",
		".cache/zsh/dump": "mine\n", "go/pkg/mod/golang.org/toolchain@v1/go": "a program\n",
		"project/.git/config": "[core]\n", "project/.git/HEAD": "ref: refs/heads/main\n", "project/src/a.txt": "a\n",
		"project/.agent/settings.json": "{}\n", "project/.vscode/settings.json": "{}\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(os.Environ(), "HOME="+home, "SELF="+s.self, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	return s
}

// result is the output of a line and how it ended.
type result struct {
	out, err string
	exit     int
}

// bare runs a line without a box.
func (s *scene) bare(t *testing.T, line string) result { return s.run(t, nil, "bash", "-c", line) }

// boxed runs a line in a box.
func (s *scene) boxed(t *testing.T, profile string, level Level, line string) result {
	return s.run(t, nil, s.self, asBridge, profile, string(level), "bash", "-c", line)
}

func (s *scene) run(t *testing.T, in io.Reader, argv ...string) result {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	var out, err bytes.Buffer
	for _, path := range []string{"", ".ssh/id_ed25519"} { // an agent may leave files open
		f, e := os.Open(filepath.Join(s.home, path))
		if e != nil {
			t.Fatal(e)
		}
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.project, s.env, in, &out, &err
	if e := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(e)
	}
	return result{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// can skips a test where the machine cannot make a box of a level, and says why.
func (s *scene) can(t *testing.T, level Level) {
	t.Helper()
	if r := s.boxed(t, Read, level, "true"); r.exit != 0 {
		t.Skipf("this machine makes no box by %s: %s", level, strings.TrimSpace(r.err))
	}
}
