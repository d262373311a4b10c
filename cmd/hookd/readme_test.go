package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// The README is typed from top to bottom into one shell, by a user with an empty
// home. Stand-ins differ from the user's programs. git clones this tree. make tells
// which commands `make test` would run (it would run this test). In make test-all alone it
// writes man pages too, and so compiles hookd once more. The service managers do not answer, so that
// no test touches the services of the user that runs it. Claude Code is a program that asks its
// hooks about one command.
func TestReadme(t *testing.T) {
	t.Parallel()
	hooktest.NeedTool(t, "python3", "git")
	blocks := shellBlocks(read(t, "README.md"))
	if len(blocks) < 7 {
		t.Fatalf("only %d command blocks were found, the search is broken", len(blocks))
	}
	s := newSession(t)
	out := s.types(t, blocks)
	for _, want := range []string{
		"connected     claude-code: ~/.claude/settings.json", "added         command-guard: ",
		"started       in the background", "PreToolUse came back after",
		`"permissionDecision":"deny"`, "it writes to a disk", // Claude Code's answer
		"no sudo: ask me to do it", "denied, exit code 1", // the first guard's
		"command-guard", "git-checkpoint", "go test ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
}

func shellBlocks(doc string) (blocks []string) {
	for _, m := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(doc, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// session is a user with a home and a shell.
type session struct {
	home string
	env  []string
}

func newSession(t *testing.T) *session {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "hkreadme")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{home: home}
	t.Cleanup(func() { os.RemoveAll(home) })
	t.Cleanup(func() { s.stopDaemon(t) })
	standIns := filepath.Join(home, "stand-ins")
	if err := os.Mkdir(standIns, 0o755); err != nil {
		t.Fatal(err)
	}
	tool := func(name string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("SKIP-TOOL %s: the README is not tried", name)
		}
		return "'" + path + "'"
	}
	writeStandIn(t, filepath.Join(standIns, "systemctl"), "exit 1")
	writeStandIn(t, filepath.Join(standIns, "launchctl"), "exit 1")
	writeStandIn(t, filepath.Join(standIns, "git"),
		`case $1 in clone) exec ln -s '`+tree+`' "$(basename "$2")" ;; *) exec `+tool("git")+` "$@" ;; esac`)
	maker := tool("make")
	if !hooktest.All() {
		maker += " -o man build"
	}
	writeStandIn(t, filepath.Join(standIns, "make"),
		`case $1 in test) exec `+tool("make")+` -n "$@" ;; *) exec `+maker+` "$@" ;; esac`)
	writeStandIn(t, filepath.Join(standIns, "claude"), `hook=$(sed -n 's/.*"command": "\([^"]*\)".*/\1/p' ~/.claude/settings.json | head -n 1)
printf '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"%s","tool_name":"Bash","tool_input":{"command":"mkfs /dev/sdzz"}}' "$PWD" |
  sh -c "$hook"`)
	s.env = s.environment(standIns)
	return s
}

// types runs the blocks in one shell, which ends at the first command that fails,
// and returns their output.
func (s *session) types(t *testing.T, blocks []string) string {
	t.Helper()
	var script strings.Builder
	for i, block := range blocks {
		fmt.Fprintf(&script, "echo '== block %d'\n%s", i+1, block)
	}
	cmd := exec.Command("sh", "-e", "-c", script.String())
	cmd.Dir, cmd.Env = s.home, s.env
	out, err := os.CreateTemp(t.TempDir(), "out") // a file: the daemon in the background would keep a pipe open
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	failed := cmd.Run()
	text, err := os.ReadFile(out.Name())
	if failed != nil || err != nil {
		t.Fatalf("%v, %v\n%s", failed, err, text)
	}
	return string(text)
}

// environment is the user's: hookd is the program that `make install` installs. Under `make test` it is
// built with the same flags, in the same folder.
func (s *session) environment(standIns string) []string {
	env := []string{
		"HOME=" + s.home,
		"PATH=" + strings.Join([]string{filepath.Join(s.home, ".local", "bin"), standIns, os.Getenv("PATH")}, ":"),
	}
	for _, name := range []string{"TMPDIR", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "MAKEFLAGS"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if names := strings.Fields(string(out)); err == nil && len(names) == 3 {
		env = append(env, "GOCACHE="+names[0], "GOMODCACHE="+names[1], "GOPATH="+names[2])
	}
	return env
}

func writeStandIn(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (s *session) hookd(args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(s.home, ".local", "bin", "hookd"), args...)
	cmd.Env = s.env
	return cmd.Output()
}

// stopDaemon ends the daemon that a block left in the background.
func (s *session) stopDaemon(t *testing.T) {
	out, err := s.hookd("status", "-o", "json")
	if err != nil {
		return
	}
	m := regexp.MustCompile(`"pid": (\d+)`).FindSubmatch(out)
	if m == nil {
		t.Errorf("no pid in %s", out)
		return
	}
	var pid int
	fmt.Sscan(string(m[1]), &pid)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if !hooktest.Poll(patience, func() bool { _, err := s.hookd("status"); return err != nil }) {
		t.Errorf("the daemon did not stop within %s", patience)
	}
}
