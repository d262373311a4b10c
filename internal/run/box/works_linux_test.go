package box

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

const madeRepo = `rm -rf .git .agent .vscode && git init -q -b main . && git add -A && git commit -qm one && `

// works are lines that end with exit code 0 in a box of the profile project by namespaces.
var works = []struct{ name, needs, line string }{
	{"write the project", "", `echo x > new && mkdir -p a/b && mv new a/b && rm -r a`},
	{"use /tmp", "", `d=$(mktemp -d) && echo x > $d/f && [ "$TMPDIR" = /tmp ]`},
	{"use shared memory", "", `echo x > /dev/shm/f`},
	{"write a cache", "", `echo x > ~/.cache/go-build/f && cat "$XDG_CACHE_HOME/go-build/f"`},
	{"make a cache", "", `mkdir "$XDG_CACHE_HOME/new" && echo x > "$XDG_CACHE_HOME/new/f"`},
	{"read other caches", "", `cat "$XDG_CACHE_HOME/zsh/dump"`},
	{"make terminals", "script", `script -qec 'stty size' /dev/null > size && [ -s size ]`},
	{"know its box", "", `[ "$HOOKD_BOX" = project ]`},
	{"know its user", "", `[ "$(id -u)" = "$USER_ID" ] && [ -O src/a.txt ]`},
	{"read the system", "", `cat /etc/passwd > /dev/null && ls /usr/bin > /dev/null`},
	{"read a neighbour", "", `cat ../neighbour/file`},
	{"use devices", "", `head -c 8 /dev/urandom > /dev/null && echo x > /dev/null`},
	{"make pipes", "", `seq 1000 | sort -n | tail -1 | grep -q 1000 && cat <(echo x)`},
	{"make links", "", `ln -s src/a.txt l && cat l && ln src/a.txt h`},
	{"change modes", "", `echo 'exit 0' > s && chmod +x s && ./s`},
	{"make fifos", "", `mkfifo f && (echo x > f & cat f)`},
	{"make sockets of its own", "", `"$SELF" own-socket ./own.sock`},
	{"talk to itself over TCP", "", `"$SELF" own-port`},
	{"keep quotes", "", `[ "$(printf '%s' 'a'"'"'b "c" $d')" = "a'b \"c\" \$d" ]`},
	{"read a here-document", "", "cat <<'E' | grep -q 'x y'\nx y\nE"},
	{"end its own processes", "", `sleep 100 & kill $! && ! wait $!`},
	{"see only its own processes", "", `[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 12 ]`},
	{"git status", "git", madeRepo + `git status --short`},
	{"git commit", "git", madeRepo + `echo y > src/a.txt && git add -A && git commit -qm two && git log --oneline`},
	{"git branch", "git", madeRepo + `git checkout -q -b topic && git checkout -q main && git merge -q topic`},
	{"git stash", "git", madeRepo + `echo y > src/a.txt && git stash -q && git stash pop -q`},
	{"git gc", "git", madeRepo + `git gc -q`},
	{"git rebase", "git", madeRepo + `git checkout -qb t && echo z > z && git add z && git commit -qm z && git rebase -q main`},
	{"make", "make", `printf 'a: b\n\tcp b a\nb:\n\techo x > b\n' > Makefile && make -s -j4 && cat a`},
	{"compile C", "gcc", `echo 'int main(void){return 0;}' > m.c && gcc -o m m.c && ./m`},
	{"python", "python3", `python3 -c 'import json, sqlite3; sqlite3.connect("db").execute("create table t (a)")' && [ -s db ]`},
	{"python in many processes", "python3",
		`python3 -c 'import multiprocessing as m; print(sum(m.Pool(2).map(abs, [1, -2])))' | grep -q 3`},
	{"python's virtual environment", "python3", `python3 -m venv --without-pip v && v/bin/python -c 1`},
	{"python's tests", "python3", `printf 'import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n' > t.py && python3 -m unittest -q t`},
	{"node", "node", `node -e 'require("fs").writeFileSync("f", "x"); require("child_process").execSync("cat f")'`},
	{"node's tests", "node", `echo 'require("node:test")("a", () => {})' > a.test.js && node --test a.test.js > out`},
	{"node's servers", "node", `node -e 'const s = require("http").createServer((q, r) => r.end("x")); s.listen(0, "127.0.0.1",
		() => require("http").get({port: s.address().port, host: "127.0.0.1"}, r => { r.resume(); s.close() }))'`},
	{"npm scripts", "npm", `echo '{"name":"a","scripts":{"test":"echo tested"}}' > package.json && npm test --silent | grep -q tested`},
	{"go build and test", "go", `cd "$GO_PROJECT" && go vet ./... && go build -o ./a . && ./a && go test ./...`},
}

func TestWhatMustWork(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			if w.needs == "go" && !hooktest.All() {
				t.Skip("it compiles the standard library")
			}
			if _, err := exec.LookPath(w.needs); w.needs != "" && err != nil {
				t.Skip(err)
			}
			s := newScene(t)
			s.env = append(s.env, fmt.Sprintf("USER_ID=%d", os.Getuid()), "GO_PROJECT="+s.goProject(t),
				"GOFLAGS=-mod=mod -buildvcs=false", // its .git has no commit
				"GOCACHE="+filepath.Join(s.home, ".cache/go-build"), "GOPROXY=off", "GOTOOLCHAIN=local")
			if w.needs == "git" { // what the box protects is made outside of it
				setup, _ := strings.CutSuffix(madeRepo, " && ")
				if r := s.bare(t, setup); r.exit != 0 {
					t.Fatalf("make a repository: %+v", r)
				}
				w.line = strings.TrimPrefix(w.line, madeRepo)
			}
			if r := s.boxed(t, Project, Namespaces, w.line); r.exit != 0 {
				t.Errorf("exit code %d\n%s%s", r.exit, r.out, r.err)
			}
		})
	}
}

// goProject is a module with a test, in the project.
func (s *scene) goProject(t *testing.T) string {
	dir := filepath.Join(s.project, "gomod")
	for name, text := range map[string]string{
		"go.mod":    "module a\n\ngo 1.21\n",
		"a.go":      "package main\n\nfunc one() int { return 1 }\n\nfunc main() { _ = one() }\n",
		"a_test.go": "package main\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A linked working tree has its git folder elsewhere, and the common one with it.
func TestCommitInALinkedWorkingTree(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	setup, _ := strings.CutSuffix(madeRepo, " && ")
	if r := s.bare(t, setup+" && git worktree add -q ../tree -b topic"); r.exit != 0 {
		t.Fatalf("%+v", r)
	}
	main := s.project
	s.project = filepath.Join(s.home, "tree")
	if r := s.boxed(t, Project, Namespaces, `echo y > y && git add y && git commit -qm two`); r.exit != 0 {
		t.Errorf("commit: %+v", r)
	}
	if r := s.boxed(t, Project, Namespaces, `echo x >> `+main+`/.git/config`); r.exit == 0 {
		t.Error("it wrote the settings of the repository")
	}
	if r := s.boxed(t, Project, Namespaces, `echo x > `+main+`/src/a.txt`); r.exit == 0 {
		t.Error("it wrote the other working tree")
	}
}

func TestTemporaryFilesWithoutNamespaces(t *testing.T) {
	s := newScene(t)
	s.can(t, Landlock)
	line := `mktemp -d && [ "$(echo "$(seq 20000)" | wc -l)" = 20000 ] && cat > "$TMPDIR/f" <<< "$(seq 20000)" &&
		wc -l < "$TMPDIR/f" && cat "$XDG_CACHE_HOME/zsh/dump" && ! echo x > "$XDG_CACHE_HOME/zsh/dump"`
	r := s.boxed(t, Project, Landlock, line)
	dir, _, _ := strings.Cut(r.out, "\n")
	if r.exit != 0 || !strings.HasSuffix(r.out, "20000\nmine\n") {
		t.Fatalf("%+v", r)
	}
	if _, err := os.Lstat(filepath.Dir(dir)); err == nil {
		t.Errorf("%s is left", filepath.Dir(dir))
	}
}

func TestExitCodes(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	for line, want := range map[string]int{
		"exit 0": 0, "exit 1": 1, "exit 7": 7, "exit 255": 255, "kill -TERM $$": 143, "kill -KILL $$": 137, "no-such-program": 127,
	} {
		if r := s.boxed(t, Project, Namespaces, line); r.exit != want {
			t.Errorf("%s: exit code %d, want %d: %s", line, r.exit, want, r.err)
		}
	}
	if r := s.run(t, nil, s.self, asBridge, Project, string(Namespaces), "/no/such/program"); r.exit != exitFailed {
		t.Errorf("a program that is not there: %+v", r)
	}
}

func TestInputComesWhole(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	in := bytes.Repeat([]byte("\x00\xffbinary\n"), 100_000)
	r := s.run(t, bytes.NewReader(in), s.self, asBridge, Project, string(Namespaces), "cat")
	if r.out != string(in) {
		t.Errorf("%d bytes came back of %d", len(r.out), len(in))
	}
}

// A process that a line leaves running ends with its box, as do all when the wrapper is killed.
func TestNothingOutlivesTheBox(t *testing.T) {
	s := newScene(t)
	for _, level := range []Level{Namespaces, Landlock} {
		t.Run(string(level), func(t *testing.T) {
			s.can(t, level)
			mark := fmt.Sprintf("98765%d", os.Getpid())
			s.boxed(t, Read, level, "setsid sleep "+mark+" & (sleep "+mark+" &) ; exit 0")
			awaitNone(t, mark)
			cmd := exec.Command(s.self, asBridge, Read, string(level), "bash", "-c", "echo up; exec sleep "+mark)
			cmd.Dir, cmd.Env = s.project, s.env
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			awaitNone(t, mark)
		})
	}
}

// awaitNone waits until no process sleeps for a time.
func awaitNone(t *testing.T, seconds string) {
	t.Helper()
	hooktest.Until(t, "no process of the box is left", func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
		return !slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(text), "sleep\x00"+seconds)
		})
	})
}

// A signal for the wrapper alone reaches the program.
func TestSignalsAreHandedOn(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	cmd := exec.Command(s.self, asBridge, Project, string(Namespaces), "bash", "-c",
		`trap 'echo got; exit 9' TERM; echo up; while :; do sleep 0.01; done`)
	cmd.Dir, cmd.Env = s.project, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "the wrapper waits for its box", func() bool { // before, a signal ends it
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", cmd.Process.Pid))
		return err == nil && !slices.ContainsFunc(threads, func(thread string) bool {
			text, err := os.ReadFile(thread)
			return err == nil && !strings.Contains(string(text), ") S ")
		})
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 9 {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}

func TestNoBoxWithoutAProject(t *testing.T) {
	s := newScene(t)
	for _, dir := range []string{"/", "/etc", "/usr/lib", s.home, filepath.Dir(s.home), filepath.Join(s.home, ".ssh")} {
		_, err := Resolve(Profile{Name: Project, Base: Project}, Place{Cwd: dir, Homes: []string{s.home}})
		if err == nil {
			t.Errorf("%s is a project", dir)
		}
	}
	pointing := filepath.Join(s.home, "pointing")
	if err := os.MkdirAll(pointing, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pointing, ".git"), []byte("gitdir: "+s.home+"/neighbour\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(Profile{Name: Project, Base: Project}, Place{Cwd: pointing, Homes: []string{s.home}}); err == nil {
		t.Error("a .git file may lead anywhere")
	}
}
