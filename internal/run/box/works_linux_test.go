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

// works are lines that end with exit code 0 in a box of the profile project.
var works = []struct{ name, needs, line string }{
	{"write the project", "", `echo x > new && mkdir -p a/b && mv new a/b && rm -r a`},
	{"use /tmp", "", `d=$(mktemp -d) && echo x > $d/f && [ "$TMPDIR" = /tmp ]`},
	{"use shared memory", "", `echo x > /dev/shm/f`},
	{"write a cache", "", `echo x > ~/.cache/go-build/f && cat ~/.cache/go-build/f`},
	{"make a cache", "", `mkdir ~/.cache/new && echo x > ~/.cache/new/f && cat ~/.cache/new/f`},
	{"read other caches", "", `cat ~/.cache/zsh/dump`},
	{"write other caches, for itself", "", `echo x >> ~/.cache/zsh/dump && mv ~/.cache/zsh ~/.cache/zsh2 && tail -1 ~/.cache/zsh2/dump | grep -qx x`},
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
	{"pytest", "python3 -m pytest", `cat > test_a.py << 'END'
import os, pytest
def test_a(tmp_path): (tmp_path / "x").write_text("1")
def test_b(capfd):
  os.system("echo hi")
  assert capfd.readouterr().out == "hi\n"
@pytest.mark.parametrize("n", range(9))
def test_c(n): pass
END
		python3 -m pytest -q && [ -d .pytest_cache ] && python3 -m pytest -q --basetemp=t --junitxml=r.xml && [ -s r.xml ]`},
	{"node", "node", `node -e 'require("fs").writeFileSync("f", "x"); require("child_process").execSync("cat f")'`},
	{"node's tests", "node", `echo 'require("node:test")("a", () => {})' > a.test.js && node --test a.test.js > out`},
	{"node's servers", "node", `node -e 'const s = require("http").createServer((q, r) => r.end("x")); s.listen(0, "127.0.0.1",
		() => require("http").get({port: s.address().port, host: "127.0.0.1"}, r => { r.resume(); s.close() }))'`},
	{"npm scripts", "npm", `echo '{"name":"a","scripts":{"test":"echo tested"}}' > package.json && npm test --silent | grep -q tested`},
	{"write a long line", "", `x=` + strings.Repeat("a", 100<<10) + ` && [ ${#x} = 102400 ]`},
	{"wait for processes", "", `for i in 1 2 3; do (exit $i) & done; wait; sleep 0.01 & wait $!`},
	{"leave a process to the end", "", `(sleep 100 &) ; setsid sleep 100 & nohup sleep 100 > n 2>&1 & :`},
	{"coprocesses", "", `coproc c { cat; }; echo x >&${c[1]}; read -r a <&${c[0]}; kill $c_PID; [ "$a" = x ]`},
	{"traps", "", `trap 'echo got > t' USR1; kill -USR1 $$; cat t`},
	{"stop and go on", "", `sleep 0.05 & kill -STOP $!; kill -CONT $!; wait $!`},
	{"end what takes too long", "timeout", `timeout 0.05 sleep 9; [ $? = 124 ]`},
	{"pass a pipe's failure on", "", `set -o pipefail; ! false | cat`},
	{"job control", "", `set -m; sleep 0.01 & fg > j; jobs`},
	{"limits", "", `(ulimit -n 64 && [ "$(ulimit -n)" = 64 ]) && umask 077 && > u && [ "$(stat -c %a u)" = 600 ]`},
	{"many processes", "xargs", `seq 200 | xargs -P 8 -n 1 sh -c 'echo $0' | sort -n | tail -1 | grep -qx 200`},
	{"find", "find", `find . -name '*.txt' -exec sed -i s/a/b/ {} + && grep -q b src/a.txt`},
	{"archives", "tar", `tar czf a.tgz src && mkdir u && tar xzf a.tgz -C u && diff -r src u/src`},
	{"patch", "patch", `cp src/a.txt b && echo c >> b && ! diff -u src/a.txt b > p && patch -s src/a.txt p && cmp b src/a.txt`},
	{"locks", "flock", `flock l sh -c 'echo x > held' && cat held`},
	{"times of files", "", `touch -d 2001-01-01 f && [ "$(stat -c %Y f)" -lt 1000000000 ] && cp -a f g && truncate -s 1M g`},
	{"move across folders", "", `mkdir -p a b && echo x > a/f && ln a/f b/h && mv a/f b/f && rm -r a`},
	{"move from /tmp", "", `f=$(mktemp) && echo x > $f && mv $f here && cat here`},
	{"trace its own programs", "strace", `strace -f -o trace sh -c 'cat src/a.txt' && grep -q execve trace`},
	{"debug its own programs", "gdb", `gdb -batch -ex run -ex quit --args /bin/true > out 2>&1 && grep -q 'exited normally' out`},
	{"a terminal of its own", "python3", `python3 -c 'import pty; assert pty.spawn(["sh", "-c", "tty"]) == 0' | grep -q pts`},
	{"talk over IPv6 and UDP", "python3", `python3 -c '
import socket as s
a = s.socket(s.AF_INET6, s.SOCK_DGRAM); a.bind(("::1", 0)); b = s.socket(s.AF_INET6, s.SOCK_DGRAM)
b.sendto(b"x", a.getsockname()[:2]); assert a.recv(1) == b"x"'`},
	{"a server and its client", "curl", `python3 -m http.server -b 127.0.0.1 8765 > log 2>&1 & for i in $(seq 100); do
		curl -sf http://127.0.0.1:8765/src/a.txt && break; sleep 0.05; done && kill $!`},
	{"sockets of programs", "socat -V", `socat UNIX-LISTEN:/tmp/s,fork EXEC:cat & until [ -S /tmp/s ]; do sleep 0.01; done; echo x | socat - UNIX:/tmp/s | grep -qx x && kill $!`},
	{"jq", "jq", `echo '{"a":[1,2]}' | jq -e '.a[1] == 2'`},
	{"check scripts", "shellcheck", `printf '#!/bin/sh\necho "$1"\n' > s.sh && shellcheck s.sh`},
	{"git's history", "git", madeRepo + `git tag v1 && git log -p > log && git show HEAD > show && git blame src/a.txt && git reset -q --hard HEAD`},
	{"git clean and restore", "git", madeRepo + `echo n > new && echo y > src/a.txt && git clean -qfd && git restore . && git status --porcelain | (! grep .)`},
	{"git cherry-pick and revert", "git", madeRepo + `git checkout -qb t && echo z > z && git add z && git commit -qm z && git checkout -q main &&
		git cherry-pick t && git revert --no-edit HEAD && [ ! -e z ]`},
	{"git bisect", "git", madeRepo + `git commit -q --allow-empty -m two && git bisect start HEAD HEAD~1 && git bisect reset`},
	{"git in a folder below", "git", madeRepo + `cd src && echo y > a.txt && git commit -qam two`},
	{"an archive of git", "git", madeRepo + `git archive HEAD | tar t | grep -q a.txt && git format-patch -1 --root --stdout | grep -q one`},
	{"python's packages", "python3 -m ensurepip", `python3 -m venv v && v/bin/pip --version && v/bin/python -m pip list --disable-pip-version-check`},
	{"python's threads and loops", "python3", `python3 -c '
import asyncio, concurrent.futures as c, tempfile, subprocess
with c.ThreadPoolExecutor(4) as e: assert sum(e.map(abs, range(9))) == 36
async def f():
  s = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
  r, w = await asyncio.open_connection(*s.sockets[0].getsockname()); assert await r.read() == b""; w.close()
asyncio.run(f()); tempfile.NamedTemporaryFile().write(b"x"); subprocess.run(["true"], check=True)'`},
	{"python compiles", "python3", `echo 'x = 1' > m.py && python3 -m compileall -q m.py && ls __pycache__/m.*.pyc`},
	{"node's workers", "node", `node -e 'const {Worker} = require("worker_threads"); new Worker("1", {eval: true}).on("exit", c => process.exit(c))'`},
	{"node's children", "node", `echo 'process.send(1); process.disconnect()' > c.js && node -e 'require("child_process").fork("./c.js").on("message", m => process.exitCode = m - 1)'`},
	{"node watches files", "node", `node -e 'const w = require("fs").watch("src", () => w.close()); setTimeout(() => require("fs").writeFileSync("src/n", ""), 20)'`},
	{"npm's packages", "npm", `mkdir -p one && echo '{"name":"one","version":"1.0.0","bin":"./b.js"}' > one/package.json && printf '#!/usr/bin/env node\nconsole.log("ran")\n' > one/b.js &&
		npm pack --silent ./one && echo '{"name":"a","dependencies":{"one":"file:one-1.0.0.tgz"},"scripts":{"build":"one > built"}}' > package.json &&
		npm install --silent --offline --no-audit && npm ci --silent --offline --no-audit && npm run --silent build && grep -qx ran built && npx --no-install one`},
	{"cargo build and test", "cargo", `mkdir -p rs/src rs/dep/src && cd rs && printf '[package]\nname="a"\nversion="1.0.0"\nedition="2021"\n[dependencies]\ndep={path="dep"}\n' > Cargo.toml &&
		printf '[package]\nname="dep"\nversion="1.0.0"\nedition="2021"\n' > dep/Cargo.toml && echo 'pub fn one() -> i32 { 1 }' > dep/src/lib.rs &&
		printf 'fn main() { assert!(dep::one() == 1) }\n#[test]\nfn t() { main() }\n' > src/main.rs && cargo run -q --offline && cargo test -q --offline && cargo clean -q`},
	{"go vendors and formats", "go", `cd "$GO_PROJECT" && mkdir -p dep && printf 'package dep\n\nconst N=1\n' > dep/dep.go && gofmt -w dep && gofmt -l . | (! grep .) && go list ./... && go mod verify`},
	{"go in a cold cache", "go", `cd "$GO_PROJECT" && GOCACHE=/tmp/cold go build -o ./a . && ./a && go run .`},
	{"go build and test", "go", `cd "$GO_PROJECT" && go vet ./... && go build -o ./a . && ./a && go test ./...`},
}

// notByLandlock are those that no box by Landlock does, and why.
var notByLandlock = map[string]string{
	"use /tmp":                       noTmp,
	"go in a cold cache":             noTmp,
	"make a cache":                   noLayer,
	"write other caches, for itself": noLayer,
	"make terminals":                 noTerminal,
	"a terminal of its own":          noTerminal,
	"see only its own processes":     "it has no pid namespace: others are seen, and cannot be reached",
	"make sockets of its own":        noSocket,
	"talk to itself over TCP":        noSocket,
	"talk over IPv6 and UDP":         noSocket,
	"node's servers":                 noSocket,
	"a server and its client":        noSocket,
	"sockets of programs":            noSocket,
	"python's threads and loops":     noSocket,
}

const (
	noTmp      = "/tmp is the machine's: what a box makes is found by TMPDIR alone"
	noLayer    = "caches have no layer that takes changes, and the machine's can only be read"
	noTerminal = "a new terminal would be one of the machine's"
	noSocket   = "it has no network namespace: a socket could reach the machine's services"
)

func TestWhatMustWork(t *testing.T) {
	hooktest.Outside(t)
	for _, level := range []Level{Namespaces, Landlock, planned} {
		t.Run(string(level), func(t *testing.T) {
			if level == Landlock {
				hooktest.Long(t) // the same by a plan is below
			}
			newScene(t).can(t, level)
			lines := map[string]int{} // of a program
			for _, w := range works {
				lines[w.needs]++
				t.Run(w.name, func(t *testing.T) {
					if most := map[Level]int{Namespaces: 2, Landlock: 1}; w.needs != "" && lines[w.needs] > most[level] {
						hooktest.Long(t) // one or two lines of a program show that it works
					}
					mustWork(t, level, w.name, w.needs, w.line)
				})
			}
		})
	}
}

func mustWork(t *testing.T, level Level, name, needs, line string) {
	if needs == "go" || needs == "cargo" || strings.HasSuffix(name, "'s packages") {
		hooktest.Long(t) // it compiles, or installs a package manager
	}
	if why := notByLandlock[name]; level != Namespaces && why != "" {
		t.Skip(why)
	}
	s := newScene(t)
	s.toolchains()
	if needs == "git" || needs == "" {
	} else if r := s.bare(t, needs+" --version || "+needs+" version"); r.exit != 0 {
		t.Skipf("there is no %s: %s", needs, r.err)
	}
	s.env = append(s.env, fmt.Sprintf("USER_ID=%d", os.Getuid()), "GO_PROJECT="+s.goProject(t),
		"GOFLAGS=-mod=mod -buildvcs=false", // its .git has no commit
		"GOCACHE="+filepath.Join(s.home, ".cache/go-build"), "GOPROXY=off", "GOTOOLCHAIN=local")
	if needs == "git" { // what the box protects is made outside of it
		setup, _ := strings.CutSuffix(madeRepo, " && ")
		if r := s.bare(t, setup); r.exit != 0 {
			t.Fatalf("make a repository: %+v", r)
		}
		line = strings.TrimPrefix(line, madeRepo)
	}
	if r := s.boxed(t, Project, level, line); r.exit != 0 {
		t.Errorf("exit code %d\n%s%s", r.exit, r.out, r.err)
	}
	if text, _ := os.ReadFile(filepath.Join(s.home, ".cache/zsh/dump")); string(text) != "mine\n" {
		t.Errorf("a cache that runs later has %q", text)
	}
}

// Where a cache takes no layer, tools are led to a folder of the box.
func TestCachesWithoutALayer(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	s.env = append(s.env, "LAYER="+filepath.Join(s.home, ".bashrc"))
	r := s.boxed(t, Project, Namespaces, `mkdir "$XDG_CACHE_HOME/new" && cat "$XDG_CACHE_HOME/zsh/dump" && ! mkdir ~/.cache/new`)
	if r.exit != 0 {
		t.Errorf("%+v", r)
	}
}

// HOME may name another folder than the system does. Tools look for their caches there, and make none.
func TestCachesOfTheFirstHome(t *testing.T) {
	s := newScene(t)
	other := filepath.Join(s.home, "other")
	for _, home := range []string{s.home, other} {
		if err := os.MkdirAll(filepath.Join(home, "go/pkg"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(other, ".npm"), 0o755); err != nil {
		t.Fatal(err)
	}
	spec, err := Resolve(Profile{Name: Project, Base: Project}, Surroundings{Cwd: s.project, Homes: []string{s.home, other}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(spec.Set, [2]string{"npm_config_cache", "/tmp/cache/npm"}) {
		t.Errorf("npm has no cache: %v", spec.Set)
	}
}

// A submodule has its git folder in that of the repository around it.
func TestCommitInASubmodule(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	setup, _ := strings.CutSuffix(madeRepo, " && ")
	if r := s.bare(t, setup+` && git clone -q . ../other && git -c protocol.file.allow=always submodule add -q ../other sub`); r.exit != 0 {
		t.Skipf("git makes no submodule: %+v", r)
	}
	if r := s.boxed(t, Project, Namespaces, `cd sub && echo y > y && git add y && git commit -qm y && cd .. && git commit -qam sub`); r.exit != 0 {
		t.Errorf("from the repository: %+v", r)
	}
	s.project = filepath.Join(s.project, "sub")
	if r := s.boxed(t, Project, Namespaces, `echo z > z && git add z && git commit -qm z`); r.exit != 0 {
		t.Errorf("in the submodule: %+v", r)
	}
	if r := s.boxed(t, Project, Namespaces, `echo x >> ../.git/modules/sub/config`); r.exit == 0 {
		t.Error("it wrote the settings of the submodule")
	}
}

// A project may lie in a folder that boxes cover with one of their own, and behind a link.
func TestProjectInAPrivateFolder(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	dir, err := os.MkdirTemp("/tmp", "hookd-box-test-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	link := filepath.Join(s.home, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, s.project = range []string{dir, link} {
		if r := s.boxed(t, Project, Namespaces, `echo x > new && cat new && [ "$(ls /tmp | wc -l)" -le 1 ]`); r.exit != 0 {
			t.Errorf("%s: %+v", s.project, r)
		}
		if _, err := os.Stat(filepath.Join(dir, "new")); err != nil {
			t.Error(err)
		}
	}
	s.project = filepath.Join(dir, "above", "project")
	if err := os.MkdirAll(s.project, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := s.boxed(t, Project, Namespaces, `echo x > new; ! echo x > ../beside && ! mkdir ../../more`); r.exit != 0 {
		t.Errorf("a line writes beside the project, and is not told that it is gone: %+v", r)
	}
}

// Many boxes at once leave nothing.
func TestManyBoxesAtOnce(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	mounts := func() string { return s.bare(t, "wc -l < /proc/self/mounts").out }
	before := mounts()
	r := s.bare(t, `seq 60 | xargs -P 8 -n 1 sh -c '"$SELF" `+asBridge+` project namespaces sh -c "echo x > n$0; sleep 0.01"'; ls n* | wc -l`)
	if r.out != "60\n" {
		t.Errorf("%+v", r)
	}
	if after := mounts(); after != before {
		t.Errorf("mounts: %s before, %s after", before, after)
	}
}

// In a user namespace this user has another's number, whose folder for temporary files may be there.
func TestTemporaryFilesBesideAnotherUsers(t *testing.T) {
	s := newScene(t)
	s.can(t, Landlock)
	tmp := filepath.Join(s.home, "tmp")
	if err := os.MkdirAll(filepath.Join(tmp, fmt.Sprintf("hookd-boxes-%d", os.Getuid())), 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "TMPDIR="+tmp)
	if r := s.boxed(t, Project, Landlock, "echo x > $TMPDIR/a && cat $TMPDIR/a"); r.out != "x\n" {
		t.Errorf("%+v", r)
	}
}

// Boxes follow each other in one folder for temporary files. What a killed one left is gone for the next, and so is
// the folder: programs of that box may still run and write it.
func TestTemporaryFilesOfAKilledBox(t *testing.T) {
	s := newScene(t)
	s.can(t, Landlock)
	tmp := filepath.Join(s.home, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "TMPDIR="+tmp)
	const where = `stat -c '%n %i %w' $TMPDIR; ls -A $TMPDIR $TMPDIR/cache`
	first, second := s.boxed(t, Project, Landlock, where), s.boxed(t, Project, Landlock, where)
	if first.exit != 0 || first.out != second.out {
		t.Errorf("two boxes, one after the other: %+v, %+v", first, second)
	}
	r := s.bare(t, `"$SELF" `+asBridge+` project landlock sh -c 'echo x > $TMPDIR/left; echo $TMPDIR; exec sleep 100' > ../out & box=$!
		until [ -s ../out ]; do sleep 0.01; done
		"$SELF" `+asBridge+` project landlock sh -c 'echo $TMPDIR; cat '$(cat ../out)/left
		kill -KILL $box; wait $box; cat ../out; cat $(tail -1 ../out)/left`)
	lines := strings.Fields(r.out)
	if len(lines) != 4 || lines[0] == lines[2] || lines[1] != "x" || filepath.Dir(filepath.Dir(lines[2])) != tmp {
		t.Fatalf("two boxes at once, of which one is killed: %+v", r)
	}
	r = s.boxed(t, Project, Landlock, where)
	if r.exit != 0 || r.out == first.out || strings.Contains(r.out, "left") {
		t.Errorf("after a killed one: %+v; before it: %+v", r, first)
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
	tmp := filepath.Join(s.home, "tmp") // boxes of other tests take and leave folders in /tmp
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "TMPDIR="+tmp)
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
	for _, level := range []Level{Namespaces, Landlock, planned} {
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
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // where the signal was not handed on
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
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
		_, err := Resolve(Profile{Name: Project, Base: Project}, Surroundings{Cwd: dir, Homes: []string{s.home}})
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
	if _, err := Resolve(Profile{Name: Project, Base: Project}, Surroundings{Cwd: pointing, Homes: []string{s.home}}); err == nil {
		t.Error("a .git file may lead anywhere")
	}
}
