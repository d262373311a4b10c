package box

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// attacks print REACHED, or send something to the host, when they reach things that a box keeps from them.
var attacks = []struct {
	name, line string
	later      string // a file that the line makes, and that must not be there after the box; "" = none
	atRead     bool   // it is kept out by the profile read as well
}{
	{name: "make a program that is its owner's", line: `cp /bin/true t && chmod u+s t && [ -u t ] && echo REACHED`, atRead: true},
	{name: "make a file that is its owner's", line: `"$SELF" try set-id f && [ -u f ] && echo REACHED`, atRead: true},
	{name: "make a folder's files its owner's", line: `mkdir d && cp /bin/true d/t && chmod -R 4755 d; [ -u d/t ] && echo REACHED`, atRead: true},
	{name: "write to the home", line: `echo x > ~/new && echo REACHED`, atRead: true},
	{name: "append to a start-up file", line: `echo x >> ~/.bashrc && echo REACHED`, atRead: true},
	{name: "truncate a start-up file", line: `: > ~/.bashrc && echo REACHED`, atRead: true},
	{name: "remove a start-up file", line: `rm ~/.bashrc && echo REACHED`, atRead: true},
	{name: "move a start-up file", line: `mv ~/.bashrc ~/.bashrc2 && echo REACHED`, atRead: true},
	{name: "link a start-up file", line: `ln ~/.bashrc ./rc && echo y >> ./rc && echo REACHED`, atRead: true},
	{name: "change a start-up file's mode", line: `chmod 777 ~/.bashrc && echo REACHED`},
	{name: "put a program on the path", line: `cp /bin/true ~/bin/git && echo REACHED`, atRead: true},
	{name: "write to a neighbour", line: `echo x > ../neighbour/file && echo REACHED`, atRead: true},
	{name: "remove a neighbour", line: `rm -r ../neighbour && echo REACHED`, atRead: true},
	{name: "write through a link", line: `ln -sfn ~/neighbour out && echo x > out/file && echo REACHED`, atRead: true},
	{name: "write by a descriptor", line: `cd ~/neighbour && cat > /proc/self/cwd/file <<< x && echo REACHED`, atRead: true},
	{name: "move the project", line: `mv ~/project ~/project2 && echo REACHED`, atRead: true},

	{name: "read a key", line: `cat ~/.ssh/id_ed25519 && echo REACHED`, atRead: true},
	{name: "read a key through a link", line: `ln -sfn ~/.ssh s; cat s/id_ed25519 && echo REACHED`, atRead: true},
	{name: "read a key by /proc", line: `cat /proc/self/root$HOME/.ssh/id_ed25519 && echo REACHED`, atRead: true},
	{name: "copy keys", line: `cp -r ~/.ssh ./keys && echo REACHED`, atRead: true},
	{name: "move keys", line: `mv ~/.ssh ./keys && echo REACHED`, atRead: true},
	{name: "add a key", line: `echo k >> ~/.ssh/authorized_keys && echo REACHED`, atRead: true},
	{name: "read a password", line: `cat ~/.netrc && echo REACHED`, atRead: true},
	{name: "read an agent's token", line: `cat ~/.agent/credentials.json && echo REACHED`, atRead: true},
	{name: "read hookd's history", line: `cat ~/.librefang/hookd.db && echo REACHED`, atRead: true},
	{name: "write hookd's home", line: `echo x > ~/.librefang/hookd.yaml && echo REACHED`, atRead: true},
	{name: "find a token in the environment", line: `[ -n "$SOME_TOKEN" ] && echo REACHED`, atRead: true},
	{name: "find a key in the environment", line: `env | grep -q ^AWS_ && echo REACHED`, atRead: true},
	{name: "find the agent of ssh", line: `[ -n "$SSH_AUTH_SOCK" ] && echo REACHED`, atRead: true},

	{name: "write a hook of git", line: `echo x > .git/hooks/pre-commit && echo REACHED`, atRead: true},
	{name: "write git's settings", line: `echo x >> .git/config && echo REACHED`, atRead: true},
	{name: "replace git's settings", line: `echo x > .git/c && mv .git/c .git/config && echo REACHED`, atRead: true},
	{name: "move git's hooks", line: `mv .git/hooks .git/hooks2 && echo REACHED`, atRead: true},
	{name: "move the git folder", line: `mv .git .git2 && echo REACHED`, atRead: true},
	{name: "replace the git folder", line: `cp -r .git .g && rm -rf .git && mv .g .git && echo REACHED`, atRead: true},
	{name: "link git's settings", line: `ln .git/config cfg && echo x >> cfg && echo REACHED`, atRead: true},
	{name: "write an agent's settings", line: `echo x > .agent/settings.json && echo REACHED`, atRead: true},
	{name: "move an agent's settings", line: `mv .agent x && echo REACHED`, atRead: true},
	{name: "write an editor's settings", line: `echo x > .vscode/tasks.json && echo REACHED`, atRead: true},
	{name: "write an editor's settings of a repository inside", line: `echo x > sub/.vscode/tasks.json && echo REACHED`, atRead: true},
	{name: "lead a submodule to another git folder", line: `echo 'gitdir: ../src' > module/.git && echo REACHED`, atRead: true},
	{name: "make a start-up file of a repository inside", line: `echo x > sub/.envrc`, later: "sub/.envrc"},
	{name: "make servers of an agent in a submodule", line: `echo x > module/.mcp.json`, later: "module/.mcp.json"},
	{name: "make servers of an agent", line: `echo x > .mcp.json`, later: ".mcp.json"},
	{name: "make a start-up file of the project", line: `echo x > .envrc`, later: ".envrc"},
	{name: "make an editor's folder", line: `mkdir -p .idea && echo x > .idea/a`, later: ".idea"},
	{name: "make settings of git's working tree", line: `echo x > .git/config.worktree`, later: ".git/config.worktree"},
	{name: "make attributes of git", line: `mkdir -p .git/info && echo x > .git/info/attributes`, later: ".git/info/attributes"},
	{name: "link to an agent's servers", line: `ln -s /etc/passwd .mcp.json`, later: ".mcp.json"},

	{name: "lead git to other settings", line: `echo ../ev > .git/commondir`, later: ".git/commondir"},
	{name: "make the project a git folder", line: `echo 'ref: refs/heads/main' > HEAD`, later: "HEAD"},
	{name: "make settings of a submodule", line: `mkdir -p .git/modules/a && echo x > .git/modules/a/config`, later: ".git/modules"},
	{name: "make settings of an agent between", line: `mkdir src/in && cd src/in && echo x > ../../.mcp.json`, later: ".mcp.json"},
	{name: "move a start-up file in a cache", line: `mv ~/.cache/zsh/dump ~/.cache/zsh/moved`, later: "../.cache/zsh/moved", atRead: true},
	{name: "write a start-up file in a cache", line: `cp ~/.cache/zsh/dump d && echo x >> ~/.cache/zsh/dump && ln -f ~/.cache/zsh/dump ~/.cache/go-build/dump`,
		later: "../.cache/go-build/dump", atRead: true},
	{name: "add a start-up file to a cache", line: `echo x > ~/.cache/p10k-instant-prompt-me.zsh`, later: "../.cache/p10k-instant-prompt-me.zsh", atRead: true},
	{name: "write a program in a cache", line: `echo x > ~/go/pkg/mod/golang.org/toolchain@v1/go && echo REACHED`, atRead: true},
	{name: "move programs of a cache", line: `mv ~/go/pkg/mod/golang.org ~/go/pkg/mod/g && echo REACHED`, atRead: true},
	{name: "write by an open folder", line: `echo x > /proc/self/fd/3/opened && echo REACHED`, atRead: true},
	{name: "read an open key", line: `cat <&4 && echo REACHED`, atRead: true},
	{name: "find a password in an address", line: `env | grep -q pass-word && echo REACHED`, atRead: true},
	{name: "write to another terminal", line: `echo x > "$TERMINAL" && echo REACHED`, atRead: true},
	{name: "read another terminal", line: `(exec 3<"$TERMINAL") && echo REACHED`, atRead: true},

	{name: "send over TCP", line: `echo x > /dev/tcp/127.0.0.1/$TCP`, atRead: true},
	{name: "send over UDP", line: `echo x > /dev/udp/127.0.0.1/$UDP`, atRead: true},
	{name: "send to a socket", line: `"$SELF" send unix "$SOCKET"`, atRead: true},
	{name: "send to a socket through a link", line: `ln -sf "$SOCKET" s; "$SELF" send unix ./s`, atRead: true},
	{name: "send to an abstract socket", line: `"$SELF" send unix "@$ABSTRACT"`, atRead: true},
	{name: "make a socket of vsock", line: `"$SELF" system-call vsock`, atRead: true},
	{name: "make a packet socket", line: `"$SELF" system-call packet`, atRead: true},

	{name: "end a process", line: `kill -0 $PID && echo REACHED`, atRead: true},
	{name: "read a process's environment", line: `tr '\0' '\n' < /proc/$PID/environ | grep -q PATH && echo REACHED`, atRead: true},
	{name: "read a process's files", line: `ls /proc/$PID/root/ && echo REACHED`, atRead: true},
	{name: "trace a process", line: `readlink /proc/$PID/fd/1 && echo REACHED`, atRead: true},

	{name: "read the memory of the box's first process", line: `head -c1 /proc/$PPID/maps | grep -q . && echo REACHED`, atRead: true},
	{name: "open its memory to write", line: `: <> /proc/$PPID/mem && echo REACHED`, atRead: true},

	{name: "make a user namespace", line: `"$SELF" system-call 'user namespace'`, atRead: true},
	{name: "make a user namespace with unshare", line: `unshare -Ur true && echo REACHED`, atRead: true},
	{name: "uncover keys", line: `unshare -Urm sh -c "umount $HOME/.ssh; cat $HOME/.ssh/id_ed25519" && echo REACHED`, atRead: true},
	{name: "make it writable again", line: `mount -o remount,rw / ; echo x > ~/new2 && echo REACHED`, atRead: true},
	{name: "mount", line: `"$SELF" system-call mount`, atRead: true},
	{name: "change the root", line: `"$SELF" system-call chroot`, atRead: true},
	{name: "enter a namespace", line: `"$SELF" system-call setns`, atRead: true},
	{name: "open by a handle", line: `"$SELF" system-call open_by_handle_at`, atRead: true},
	{name: "use io_uring", line: `"$SELF" system-call io_uring`, atRead: true},
	{name: "use keys of the kernel", line: `"$SELF" system-call keyctl`, atRead: true},
	{name: "add a key to the kernel", line: `"$SELF" system-call add_key`, atRead: true},
	{name: "use bpf", line: `"$SELF" system-call bpf`, atRead: true},
	{name: "use perf", line: `"$SELF" system-call perf`, atRead: true},
	{name: "use userfaultfd", line: `"$SELF" system-call userfaultfd`, atRead: true},
	{name: "call by other numbers", line: `"$SELF" system-call x32`, atRead: true},
	{name: "write a setting of the kernel", line: `echo 1 > /proc/sys/kernel/core_uses_pid && echo REACHED`, atRead: true},
	{name: "write the system", line: `echo x > /etc/hookd-test && echo REACHED; rm -f /etc/hookd-test`, atRead: true},
	{name: "open a device of the machine", line: `for d in /dev/mem /dev/kmsg /dev/loop-control /dev/input/event0 /dev/vcs; do (exec 3<>$d) && echo REACHED; done`, atRead: true},
	{name: "read a disk", line: `for d in $(find /dev -type b); do (exec 3<$d) && echo REACHED; done`, atRead: true},
	{name: "make a device", line: `mknod null c 1 3 && echo REACHED`, atRead: true},
}

// inEachBox tests each kind of box that this machine can make, with files of its own.
func inEachBox(t *testing.T, test func(t *testing.T, s *scene, level Level)) {
	hooktest.Outside(t)
	for _, level := range []Level{Namespaces, Landlock, planned} {
		t.Run(string(level), func(t *testing.T) {
			s := newScene(t)
			s.can(t, level)
			test(t, s, level)
		})
	}
}

// A folder that becomes a link once the box is planned leads to nothing that may be written.
func TestAFolderThatBecomesALink(t *testing.T) {
	inEachBox(t, func(t *testing.T, s *scene, level Level) {
		nest := filepath.Join(s.project, "nest")
		s.project = filepath.Join(nest, "bin") // as ~/bin
		hooktest.Must(t, os.MkdirAll(filepath.Join(s.project, ".git"), 0o755))
		hooktest.Must(t, os.WriteFile(filepath.Join(s.project, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
		program := filepath.Join(s.home, "bin", "git")
		hooktest.Must(t, os.WriteFile(program, []byte("mine\n"), 0o755))
		const line = `echo x > ~/bin/git && echo REACHED`
		if r := s.boxed(t, Project, level, "echo x > new && cat new"); r.out != "x\n" {
			t.Fatalf("the project cannot be written: %+v", r)
		}
		s.env = append(s.env, "SWAP="+nest)
		if r := s.boxed(t, Project, level, line); strings.Contains(r.out, reached) {
			t.Errorf("it was written: %+v", r)
		}
		if text, err := os.ReadFile(program); err != nil || string(text) != "mine\n" {
			t.Errorf("the program is %q, %v", text, err)
		}
	})
}

// A box sets aside the files that it made and that would run later, and no file to which it put a link.
func TestALinkInPlaceOfAWatchedFolder(t *testing.T) {
	inEachBox(t, func(t *testing.T, s *scene, level Level) {
		hooks := filepath.Join(s.home, ".librefang", "hooks")
		hooktest.Must(t, os.Mkdir(hooks, 0o755))
		r := s.boxed(t, Project, level, `ln -s ~/.librefang .github`)
		if _, err := os.Lstat(hooks); err != nil {
			t.Errorf("the hooks of hookd were moved away: %+v", r)
		}
		if _, err := os.Lstat(filepath.Join(s.project, ".github")); err == nil {
			t.Errorf("the link is still there: %+v", r)
		}
	})
}

// Each attack is tried in a box by namespaces around a project, and each sixth in the other boxes: `make test-all`
// tries each attack in each box.
func TestAttacks(t *testing.T) {
	hooktest.Outside(t)
	bare := map[string]result{} // of attacks that work without a box
	for n, at := range []struct {
		level   Level
		profile string
	}{
		{Namespaces, Project}, {Namespaces, Read}, {Landlock, Project}, {Landlock, Read}, {planned, Project}, {planned, Read},
	} {
		t.Run(fmt.Sprintf("%s by %s", at.profile, at.level), func(t *testing.T) {
			newScene(t).can(t, at.level)
			worked, least := 0, 45
			if n > 0 {
				least = hooktest.Amount(least, 3)
			}
			for i, a := range attacks {
				if at.profile == Read && !a.atRead || n > 0 && i%6 != n && !hooktest.All() {
					continue
				}
				t.Run(a.name, func(t *testing.T) {
					s := newScene(t)
					s.nest(t)
					if _, known := bare[a.name]; !known {
						s.listen(t)
						r := s.bare(t, a.line)
						if !s.reached(r, a.later) {
							t.Skipf("it does not work without a box either: %+v", r)
						}
						bare[a.name] = r
						s = newScene(t)
						s.nest(t)
					}
					worked++
					s.listen(t)
					if r := s.boxed(t, at.profile, at.level, a.line); s.reached(r, a.later) {
						t.Errorf("it reached: %+v", r)
					} else if r.exit == exitFailed {
						t.Errorf("there was no box: %s", r.err)
					}
				})
			}
			if worked < least {
				t.Errorf("only %d attacks work without a box, of %d at least", worked, least)
			}
		})
	}
}

// nest makes a repository and a submodule in the project.
func (s *scene) nest(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"sub/.git", "sub/.vscode", "module"} {
		hooktest.Must(t, os.MkdirAll(filepath.Join(s.project, dir), 0o755))
	}
	for name, text := range map[string]string{
		"sub/.git/HEAD": "ref: refs/heads/main\n", "module/.git": "gitdir: ../.git/modules/a\n",
	} {
		hooktest.Must(t, os.WriteFile(filepath.Join(s.project, name), []byte(text), 0o600))
	}
}

// A protected path may be a link, or lie behind one. Mounts and rules protect where it leads, and the link is looked at
// when the box has ended.
func TestAttacksOnLinks(t *testing.T) {
	for _, level := range []Level{Namespaces, Landlock, planned} {
		newScene(t).can(t, level)
		for line, later := range map[string]string{
			`echo x > behind/a`: ".idea/a", `echo x > .github/workflows/a`: ".github/workflows/a",
			`rm .idea && mkdir .idea && echo x > .idea/a`:                          ".idea/a",
			`mkdir n && echo x > n/a && ln -sfn n .idea`:                           ".idea/a",
			`rm .github && mkdir -p .github/workflows && > .github/workflows/a`:    ".github/workflows/a",
			`mkdir -p n/workflows && > n/workflows/a && ln -sfn n .github`:         ".github/workflows/a",
			`mkdir nowhere && echo x > nowhere/a`:                                  ".husky/a",
			`rm .husky && mkdir .husky && echo x > .husky/a`:                       ".husky/a",
			`[ -d .idea/workflows ] && [ ! -e .husky ] && echo x > new; rm -f new`: "new",
		} {
			s := newScene(t)
			setup := `mkdir -p behind/workflows && ln -s behind .idea && ln -s behind .github && ln -s nowhere .husky`
			if r := s.bare(t, setup); r.exit != 0 {
				t.Fatalf("%+v", r)
			}
			r := s.boxed(t, Project, level, line)
			if _, err := os.Lstat(filepath.Join(s.project, later)); err == nil || r.exit == exitFailed {
				t.Errorf("%s: %s: %+v", level, line, r)
			}
		}
	}
}

// listen opens the targets that an attack may reach: ports, sockets and a process of the host.
func (s *scene) listen(t *testing.T) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.home, "service.sock")
	named, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	abstract := "hookd-box-test-" + filepath.Base(s.home)
	hidden, err := net.Listen("unix", "@"+abstract)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []net.Listener{tcp, named, hidden} {
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.hits.Add(1)
				c.Close()
			}
		}()
	}
	terminal := newTerminal(t)
	t.Cleanup(func() { udp.Close() })
	s.udp = udp
	s.env = append(s.env, "TCP="+port(tcp.Addr()), "UDP="+port(udp.LocalAddr()), "SOCKET="+path,
		"ABSTRACT="+abstract, "PID="+strconv.Itoa(os.Getpid()), "SOME_TOKEN=1", "AWS_PROFILE=x",
		"SSH_AUTH_SOCK="+path, "SITE=https://me:pass-word@example.com", "TERMINAL="+terminal)
}

// newTerminal opens a terminal and returns its name.
func newTerminal(t *testing.T) string {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	var unlock, number int32
	for request, at := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(at))); errno != 0 {
			t.Fatal(errno)
		}
	}
	return "/dev/pts/" + strconv.Itoa(int(number))
}

func port(a net.Addr) string {
	_, port, _ := net.SplitHostPort(a.String())
	return port
}

// reached reports whether an attack has had its effect.
func (s *scene) reached(r result, later string) bool {
	if later != "" {
		_, err := os.Lstat(filepath.Join(s.project, later))
		return err == nil
	}
	_ = s.udp.SetReadDeadline(time.Now()) // what was sent to loopback is there
	n, _, err := s.udp.ReadFrom(make([]byte, 8))
	return strings.Contains(r.out, reached) || s.hits.Load() > 0 || err == nil && n > 0
}

// Tests need the variables of a project; a box that only reads does not.
// A configuration of git leads to files of a project that git runs, or reads as settings.
func TestAttacksOnWhatGitIsLedTo(t *testing.T) {
	for _, level := range []Level{Namespaces, Landlock, planned} {
		newScene(t).can(t, level)
		for file, setting := range map[string]string{
			".git/config":           "[include]\n\tpath = ../led\n",
			".git/config.worktree":  "[core]\n\thooksPath = led\n",
			"../.gitconfig":         "[core] HooksPath = led\n",
			"../.config/git/config": "[includeIf \"gitdir:~/project/\"]\n\tpath = ~/project/more\n",
		} {
			s := newScene(t)
			setup := `mkdir -p ../.config/git; echo "[include] path = led" > more; echo "# mine" > led
				printf '` + setting + `' >> ` + file
			if r := s.bare(t, setup); r.exit != 0 {
				t.Fatalf("%+v", r)
			}
			r := s.boxed(t, Project, level, `echo x > led && echo REACHED; rm led && echo REACHED`)
			if r.out != "" || r.exit == exitFailed {
				t.Errorf("%s: %s: %+v", level, file, r)
			}
		}
	}
}

// Repositories in the folder of a project run hooks, too.
func TestAttacksOnRepositoriesInside(t *testing.T) {
	for _, level := range []Level{Namespaces, Landlock, planned} {
		s := newScene(t)
		s.can(t, level)
		r := s.bare(t, `rm -rf .git; for d in one apps/two; do git init -q $d && mkdir -p $d/.git/hooks && echo x > $d/.git/hooks/a; done`)
		if r.exit != 0 {
			t.Fatalf("%+v", r)
		}
		r = s.boxed(t, Project, level, `for d in one apps/two; do for f in $d/.git/hooks/a $d/.git/config; do echo x >> $f && echo REACHED; done
			mv $d/.git moved && echo REACHED; mv $d moved && echo REACHED; echo y > $d/file && cat $d/file; done`)
		if r.out != "y\ny\n" {
			t.Errorf("%s: %+v", level, r)
		}
	}
}

func TestSecretsOfAProject(t *testing.T) {
	for _, level := range []Level{Namespaces, Landlock, planned} {
		t.Run(string(level), func(t *testing.T) {
			s := newScene(t)
			s.can(t, level)
			for _, name := range []string{".env", ".env.local", ".env.example"} {
				if err := os.WriteFile(filepath.Join(s.project, name), []byte(name+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			line := "cat .env .env.local .env.example; true"
			if r := s.boxed(t, Read, level, line); r.out != ".env.example\n" {
				t.Errorf("read: %+v", r)
			}
			if r := s.boxed(t, Project, level, line); r.out != ".env\n.env.local\n.env.example\n" {
				t.Errorf("project: %+v", r)
			}
		})
	}
}
