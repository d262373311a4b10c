package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A hook finds nothing of the daemon that started it: nothing of its environment,
// memory and descriptors. Of the daemon's descriptors the hook has none, and model
// keys only if it names them. It is a process like any other itself.
func TestHooksSeeNothingOfTheDaemon(t *testing.T) {
	t.Parallel()
	home := hooktest.ShortDir(t)
	self, err := os.Executable()
	hooktest.Must(t, err)
	program := filepath.Join(home, "bin", "hookd") // the home has a folder of that name
	hooktest.Must(t, os.Mkdir(filepath.Dir(program), 0o755))
	copyFile(t, self, program)
	out := filepath.Join(home, "out")
	for _, name := range []string{"probe", "named"} {
		dir := filepath.Join(home, "hooks", name)
		hooktest.Must(t, os.MkdirAll(dir, 0o755))
		yaml := "name: " + name + "\nevents: [pre_tool_use]\ncommand: ./run.sh\n"
		if name == "named" {
			yaml += "env: {OPENAI_API_KEY: '${env.OPENAI_API_KEY}'}\n"
		}
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, "HOOK.yaml"), []byte(yaml), 0o644))
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, "run.sh"), []byte(`#!/bin/sh
{
	for f in environ mem maps; do head -c 1 /proc/$PPID/$f >/dev/null 2>&1 && echo "reads $f"; done
	ls /proc/$PPID/fd/ >/dev/null 2>&1 && echo "lists descriptors"
	head -c 1 /proc/$$/environ >/dev/null || echo "cannot read its own environment"
	echo descriptors $(ls /proc/self/fd/) # the last is the folder that ls reads
	env | grep _API_KEY
} >`+out+`.`+name+` 2>&1
exit 0
`), 0o755))
	}
	user := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // root may see all
		user.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		hooktest.Must(t, filepath.Walk(home, func(path string, _ os.FileInfo, err error) error {
			if err == nil {
				err = os.Chown(path, 65534, 65534)
			}
			return err
		}))
		hooktest.Must(t, os.Chmod(home, 0o755))
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+home, "HOME="+home, "OPENAI_API_KEY=sk-open", "ANTHROPIC_API_KEY=sk-anth")
		cmd.SysProcAttr, cmd.Dir = user, home
		return cmd
	}
	daemon := run("serve", "--fire-startup=false")
	var log strings.Builder
	daemon.Stderr = &log
	hooktest.Must(t, daemon.Start())
	t.Cleanup(func() { daemon.Process.Kill(); daemon.Wait() })
	for deadline := time.Now().Add(10 * time.Second); ; {
		if text, err := run("emit", "pre_tool_use", "--wait", "--data", `{"tool_name":"x"}`).CombinedOutput(); err == nil {
			break
		} else if time.Now().After(deadline) {
			daemon.Process.Kill()
			daemon.Wait()
			t.Fatalf("emit: %v: %s\nthe daemon says: %s", err, text, log.String())
		}
	}
	for name, want := range map[string]string{"probe": "", "named": "OPENAI_API_KEY=sk-open\n"} {
		text, err := os.ReadFile(out + "." + name)
		hooktest.Must(t, err)
		if got, want := string(text), "descriptors 0 1 2 3\n"+want; got != want {
			t.Errorf("%s finds:\n%swant:\n%s", name, got, want)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	hooktest.Must(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	hooktest.Must(t, err)
	_, err = io.Copy(out, in)
	hooktest.Must(t, err)
	hooktest.Must(t, out.Close())
}
