package shelltest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const programsOfSystem = `awk base64 bash busybox cat chmod cp dirname env false find flock head
ionice nice nohup prlimit rev script sed setarch setpriv setsid sleep stdbuf taskset tee timeout tr true xargs`

// Bash runs lines with stand-ins for programs.
type Bash struct {
	t              testing.TB
	bash, bin, log string

	// Work is the folder in which lines run, and their home.
	Work string
}

// New makes a Bash. It skips the test where there is no bash.
func New(t testing.TB) *Bash {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIP-TOOL bash")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	b := &Bash{t: t, bash: bash, bin: in("bin"), log: in("log"), Work: in("work")}
	for _, d := range []string{b.bin, b.Work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"m1", "m2", "m3", "m4"} {
		b.Program(name, `{ printf '%s\0' "${0##*/}" "$@"; printf '\001\n'; } >>'`+b.log+"'\n")
	}
	b.Program("sudo", `while :; do
	case $1 in
	-u | -nu | -C | --user) shift 2 ;;
	--) shift; break ;;
	-* | *=*) shift ;;
	*) break ;;
	esac
done
exec "$@"
`)
	for name := range strings.FieldsSeq(programsOfSystem) {
		if path, err := exec.LookPath(name); err == nil {
			b.link(path, name)
		}
	}
	b.link(bash, "sh")
	return b
}

// Program puts a script for sh among the programs.
func (b *Bash) Program(name, script string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.bin, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		b.t.Fatal(err)
	}
}

func (b *Bash) link(path, name string) {
	if err := os.Symlink(path, filepath.Join(b.bin, name)); err != nil {
		b.t.Fatal(err)
	}
}

// Run returns the calls of m1 to m4 that the line leads to, at most 50, each as its words.
// A line that does not end is killed.
func (b *Bash) Run(line string) (calls [][]string) {
	b.t.Helper()
	if strings.ContainsRune(line, 0) {
		return nil // bash cannot be given it
	}
	b.clear()
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.bash, "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a line may start what outlives its shell
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir, cmd.Env = b.Work, []string{"PATH=" + b.bin, "HOME=" + b.Work, "FUNCNEST=20", "LC_ALL=C.UTF-8"}
	_ = cmd.Run() // a line may fail in the end
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	}
	text, err := os.ReadFile(b.log)
	if err != nil {
		b.t.Fatal(err)
	}
	for call := range bytes.SplitSeq(text, []byte("\x01\n")) {
		if list := strings.Split(string(call), "\x00"); len(list) > 1 && len(calls) < 50 {
			calls = append(calls, list[:len(list)-1])
		}
	}
	return calls
}

// clear removes what lines have written.
func (b *Bash) clear() {
	entries, err := os.ReadDir(b.Work)
	for _, e := range entries {
		err = os.RemoveAll(filepath.Join(b.Work, e.Name()))
	}
	for path, text := range map[string]string{b.log: "", filepath.Join(b.Work, "i"): "m4 file\n"} {
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
