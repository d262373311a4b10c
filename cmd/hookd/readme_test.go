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
	"time"
)

// A tool that a block of the README may want and a machine may lack.
var optionalTools = regexp.MustCompile(`\b(nc|curl)\b`)

// Every command block of the README runs, in order, as typed by a user with an
// empty home. Three things differ from typing them: after a daemon was started
// the test waits for it, `make test` only says what it would run (it would run
// this test), and the service managers are stand-ins that check their
// arguments, so that no test touches the services of whoever runs it.
func TestReadmeBlocks(t *testing.T) {
	blocks := shellBlocks(read(t, "README.md"))
	if len(blocks) < 10 {
		t.Fatalf("only %d command blocks were found, the search is broken", len(blocks))
	}
	s := newSession(t)
	for i, block := range blocks {
		ok := t.Run(fmt.Sprintf("block%d", i+1), func(t *testing.T) { s.run(t, block) })
		if !ok {
			t.Fatalf("stopped at\n%s", block)
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
	tree string
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
	s := &session{home: home, tree: tree}
	t.Cleanup(func() { os.RemoveAll(home) })
	t.Cleanup(func() { s.stopDaemon(t) })
	standIns := filepath.Join(home, "stand-ins")
	if err := os.Mkdir(standIns, 0o755); err != nil {
		t.Fatal(err)
	}
	writeStandIn(t, filepath.Join(standIns, "systemctl"), `case "$1 $2" in
"--user show" | "--user is-active") exit 0 ;; # a daemon that runs is the service's
--user*) test -s "$HOME/.config/systemd/user/hookd.service" ;;
*) exit 1 ;;
esac`)
	writeStandIn(t, filepath.Join(standIns, "launchctl"), `test "$1" = print || test -s "$HOME/Library/LaunchAgents/io.github.hookd.plist"`)
	s.env = s.environment(standIns)
	return s
}

// environment is the user's: hookd is the one that `make install` installs.
func (s *session) environment(standIns string) []string {
	env := []string{
		"HOME=" + s.home,
		"PATH=" + strings.Join([]string{filepath.Join(s.home, ".local", "bin"), standIns, os.Getenv("PATH")}, ":"),
	}
	for _, name := range []string{"TMPDIR", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN"} {
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

func (s *session) run(t *testing.T, block string) {
	if tool := optionalTools.FindString(block); tool != "" {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP-TOOL %s: a block of the README is not tried", tool)
		}
	}
	cmd := exec.Command("sh", "-e", "-c", block)
	cmd.Dir, cmd.Env = s.tree, s.env
	if strings.Contains(block, "make test") {
		cmd.Env = append(cmd.Env, "MAKEFLAGS=n")
	}
	out, err := os.CreateTemp(t.TempDir(), "out") // a file, since a daemon in the background would keep a pipe open
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		t.Fatalf("%v\n%s", err, text)
	}
	if strings.Contains(block, "hookd serve") && strings.Contains(block, "&\n") {
		s.waitForDaemon(t)
	}
}

func (s *session) hookd(args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(s.home, ".local", "bin", "hookd"), args...)
	cmd.Env = s.env
	return cmd.Output()
}

func (s *session) waitForDaemon(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		if _, err := s.hookd("status"); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the daemon did not come within %s", patience)
		}
	}
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
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		if _, err := s.hookd("status"); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("the daemon did not stop within %s", patience)
			return
		}
	}
}
