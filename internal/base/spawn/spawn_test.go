package spawn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary is its own program: with helperVar set it acts as that variable says.
const helperVar = "SPAWN_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVar); name != "" {
		os.Exit(helpers[name]())
	}
	os.Exit(m.Run())
}

var helpers = map[string]func() int{
	"strings": func() int { // arguments and environment, each with a NUL at its end
		for _, s := range slices.Concat(os.Args[1:], os.Environ()) {
			fmt.Print(s, "\x00")
		}
		return 0
	},
}

type starter func(context.Context, *Spec) (Process, error)

// eachWay runs f with both ways to start, as far as there are two here.
func eachWay(t *testing.T, f func(t *testing.T, start starter)) {
	t.Run("start", func(t *testing.T) { f(t, Start) })
	t.Run("fork", func(t *testing.T) { f(t, Fork) })
}

// output starts s with its output in a file, and returns that and the exit code.
func output(t testing.TB, start starter, s Spec) (text string, code int, err error) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.Files = [3]int{int(null.Fd()), int(out.Fd()), int(out.Fd())}
	p, err := start(context.Background(), &s)
	if err != nil {
		return "", -1, err
	}
	status := end(t, p)
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b), status.ExitStatus(), nil
}

// end waits for the end of a process and releases it.
func end(t testing.TB, p Process) (status unix.WaitStatus) {
	t.Helper()
	if p.PID <= 0 {
		t.Fatalf("got %+v, want a process", p)
	}
	for {
		if _, err := unix.Wait4(p.PID, &status, 0, nil); err == nil {
			break
		} else if err != unix.EINTR {
			t.Fatalf("wait for %d: %v", p.PID, err)
		}
	}
	if p.PIDFD >= 0 {
		unix.Close(p.PIDFD)
	}
	return status
}

func script(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProcessGetsWhatTheSpecSays(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	eachWay(t, func(t *testing.T, start starter) {
		text, code, err := output(t, start, Spec{
			Path: "/bin/sh", Args: []string{"-c", `printf '%s|' "$0" "$@" "$A" "${B-unset}" "$(pwd)"; cat; echo err >&2; exit 7`, "zero", "", "a b"},
			Env: []string{"A=x=y", "B="}, Dir: dir,
		})
		if want := "zero||a b|x=y||" + dir + "|err\n"; err != nil || code != 7 || text != want {
			t.Errorf("got %q, code %d, %v, want %q and 7", text, code, err, want)
		}
		text, code, err = output(t, start, Spec{Path: "/bin/sh"})
		if text != "" || code != 0 || err != nil {
			t.Errorf("got %q, code %d, %v for the least Spec", text, code, err)
		}
	})
}

func TestProcessLeadsASession(t *testing.T) {
	eachWay(t, func(t *testing.T, start starter) {
		hold, held, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer hold.Close()
		fd := int(hold.Fd())
		p, err := start(context.Background(), &Spec{Path: "/bin/cat", Files: [3]int{fd, int(held.Fd()), int(held.Fd())}})
		if err != nil {
			t.Fatal(err)
		}
		sid, errSid := unix.Getsid(p.PID)
		pgid, errPgid := unix.Getpgid(p.PID)
		if sid != p.PID || pgid != p.PID || errSid != nil || errPgid != nil {
			t.Errorf("got session %d and group %d of %d (%v, %v)", sid, pgid, p.PID, errSid, errPgid)
		}
		held.Close()
		unix.Kill(p.PID, unix.SIGKILL)
		if status := end(t, p); status.Signal() != unix.SIGKILL {
			t.Errorf("got %v", status)
		}
	})
}

// The first files of a program can be among its descriptors 0 to 2, in any order.
func TestDescriptorsThatTheChildReplaces(t *testing.T) {
	if os.Getenv("SPAWN_TEST_LOW") == "" { // in a process of its own, whose 0 to 2 may change
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		text, code, err := output(t, Start, Spec{
			Path: exe, Args: []string{"-test.run", "^" + t.Name() + "$"}, Env: []string{"SPAWN_TEST_LOW=1", "GORACE=atexit_sleep_ms=0"},
		})
		if code != 0 || err != nil {
			t.Errorf("code %d, %v: %s", code, err, text)
		}
		return
	}
	eachWay(t, func(t *testing.T, start starter) {
		dir := t.TempDir()
		for i := range 3 {
			f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := unix.FcntlInt(uintptr(i), unix.F_DUPFD_CLOEXEC, 50+i); err != nil {
				t.Fatal(err)
			}
			if err := unix.Dup2(int(f.Fd()), i); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		p, err := start(context.Background(), &Spec{Path: "/bin/sh", Args: []string{"-c", "echo zero >&0; echo one; echo two >&2"}, Files: [3]int{2, 0, 1}})
		for i := range 3 {
			unix.Dup2(50+i, i)
			unix.Close(50 + i)
		}
		if err != nil {
			t.Fatal(err)
		}
		end(t, p)
		for i, want := range []string{"one\n", "two\n", "zero\n"} {
			if b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i))); string(b) != want {
				t.Errorf("descriptor %d of the parent: got %q, %v, want %q", i, b, err, want)
			}
		}
	})
}

func TestErrorsAreThoseOfTheSystem(t *testing.T) {
	plain := script(t, "text", 0o644)
	tests := []struct {
		name string
		spec Spec
		want error
	}{
		{"missing", Spec{Path: "/nowhere/hook"}, unix.ENOENT},
		{"below-a-file", Spec{Path: plain + "/x"}, unix.ENOTDIR},
		{"not-executable", Spec{Path: plain}, unix.EACCES},
		{"directory", Spec{Path: t.TempDir()}, unix.EACCES},
		{"no-format", Spec{Path: script(t, "echo\n", 0o755)}, unix.ENOEXEC},
		{"empty", Spec{Path: script(t, "", 0o755)}, unix.ENOEXEC},
		{"no-interpreter", Spec{Path: script(t, "#!/nowhere/sh\n", 0o755)}, unix.ENOENT},
		{"variable-too-long", Spec{Path: "/bin/sh", Env: []string{"A=" + strings.Repeat("v", 3<<20)}}, unix.E2BIG},
		{"no-directory", Spec{Path: "/bin/sh", Dir: "/nowhere"}, unix.ENOENT},
		{"directory-is-a-file", Spec{Path: "/bin/sh", Dir: plain}, unix.ENOTDIR},
		{"path-too-long", Spec{Path: "/" + strings.Repeat("p", 5000)}, unix.ENAMETOOLONG},
		{"nul-in-path", Spec{Path: "/bin/sh\x00"}, unix.EINVAL},
		{"nul-in-argument", Spec{Path: "/bin/sh", Args: []string{"a\x00b"}}, unix.EINVAL},
		{"nul-in-variable", Spec{Path: "/bin/sh", Env: []string{"A=\x00"}}, unix.EINVAL},
		{"nul-in-directory", Spec{Path: "/bin/sh", Dir: "/\x00"}, unix.EINVAL},
	}
	eachWay(t, func(t *testing.T, start starter) {
		for _, c := range tests {
			t.Run(c.name, func(t *testing.T) {
				_, _, err := output(t, start, c.spec)
				var errno syscall.Errno
				if !errors.As(err, &errno) || err != c.want {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
					t.Errorf("a child is left: %v", err)
				}
			})
		}
	})
}

func TestADescriptorThatIsNotOpen(t *testing.T) {
	eachWay(t, func(t *testing.T, start starter) {
		if p, err := start(context.Background(), &Spec{Path: "/bin/sh", Files: [3]int{0, 1, 9999}}); err != unix.EBADF {
			t.Errorf("got %+v, %v", p, err)
		}
	})
}

func TestAsAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIP-TOOL root: only root may start a process as another user")
	}
	eachWay(t, func(t *testing.T, start starter) {
		for _, c := range []struct {
			as   *syscall.Credential
			want string
		}{
			{&syscall.Credential{Uid: 65534, Gid: 65533, Groups: []uint32{65531, 65532}}, "65534 65533 65531 65532"},
			{&syscall.Credential{Uid: 65534, Gid: 65533}, "65534 65533"},
		} {
			text, code, err := output(t, start, Spec{Path: "/bin/sh", Args: []string{"-c", "echo $(id -u; id -G)"}, Env: []string{"PATH=/usr/bin:/bin"}, As: c.as})
			words := strings.Fields(text)
			slices.Sort(words[min(2, len(words)):])
			if got := strings.Join(words, " "); got != c.want || code != 0 || err != nil {
				t.Errorf("got %q, code %d, %v, want %q", text, code, err, c.want)
			}
		}
	})
}

// FuzzStrings: a program gets its arguments and its environment as they are, byte by
// byte, and a string that cannot be given is refused.
func FuzzStrings(f *testing.F) {
	exe, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("a\nb\n\n-x=1"), []byte("A=1\nB=\n=C"))
	f.Add([]byte{}, []byte{})
	f.Add([]byte("\n\n"), []byte("A=\xff\xfe\x01\n\u00e9=\u20ac"))
	f.Add([]byte("nul\x00"), []byte("A=1"))
	f.Add(bytes.Repeat([]byte("x\n"), 3000), bytes.Repeat([]byte("A=2\n"), 3000))
	f.Add(bytes.Repeat([]byte("x"), 200<<10), []byte(nil))
	f.Fuzz(func(t *testing.T, args, env []byte) {
		s := Spec{Path: exe, Env: []string{helperVar + "=strings", "GORACE=atexit_sleep_ms=0"}}
		if len(args) > 0 {
			s.Args = strings.Split(string(args), "\n")
		}
		for v := range strings.SplitSeq(string(env), "\n") {
			if name, _, ok := strings.Cut(v, "="); ok && name != "" && !strings.HasPrefix(name, "GO") && name != helperVar {
				s.Env = append(s.Env, v)
			}
		}
		text, _, err := output(t, Start, s)
		byFork, _, errFork := output(t, Fork, s)
		if err != errFork || text != byFork {
			t.Fatalf("got %q, %v, by fork %q, %v", text, err, byFork, errFork)
		}
		if err == nil && !strings.HasPrefix(text, strings.Join(append(slices.Clone(s.Args), ""), "\x00")) {
			t.Fatalf("got %q of arguments %q", text, s.Args)
		}
	})
}
