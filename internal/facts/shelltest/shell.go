package shelltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// Shell runs lines with stand-ins for programs.
type Shell struct {
	t              testing.TB
	path, bin, log string
	runs           int

	// Work is the folder in which lines run, and their home.
	Work string
}

// New returns the shell of a name, such as bash or dash, which is sh for its lines, too. It
// skips the test where the machine has no such shell.
func New(t testing.TB, name string) *Shell {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("SKIP-TOOL " + name)
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	s := &Shell{t: t, path: path, bin: in("bin"), log: in("log"), Work: in("work")}
	for _, d := range []string{s.bin, s.Work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"m1", "m2", "m3", "m4"} { // each run has a log of its own: what a line left may go on
		s.Program(name, `case $0 in */*) log=${0%/*}.log ;; *) log='`+s.log+`' ;; esac
printf '%s\0' "${0##*/}" "$@" "$(printf '\001\002')" >>"$log"
`)
	}
	s.Program("sudo", `while :; do
	case $1 in
	-u | -nu | -C | --user) shift 2 ;;
	--) shift; break ;;
	-) exit 1 ;;
	-* | *=*) shift ;;
	*) break ;;
	esac
done
exec "$@"
`)
	for name := range strings.FieldsSeq(programsOfSystem) {
		if path, err := exec.LookPath(name); err == nil {
			s.link(path, name)
		}
	}
	s.link(path, "sh")
	return s
}

// Program puts a script for sh among the programs.
func (s *Shell) Program(name, script string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.bin, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Shell) link(path, name string) {
	if err := os.Symlink(path, filepath.Join(s.bin, name)); err != nil {
		s.t.Fatal(err)
	}
}

// Run returns the calls of m1 to m4 that the line leads to, at most 50, each as its words.
// A line that has not ended after two seconds is killed.
func (s *Shell) Run(line string) (calls [][]string) {
	s.t.Helper()
	if strings.ContainsRune(line, 0) {
		return nil // no shell can be given it
	}
	s.clear()
	s.runs++
	bin := fmt.Sprint(s.bin, s.runs)
	if err := os.Symlink(s.bin, bin); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.path, "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a line may start what outlives its shell
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir, cmd.Env = s.Work, []string{"PATH=" + bin, "HOME=" + s.Work, "FUNCNEST=20", "LC_ALL=C.UTF-8"}
	_ = cmd.Run() // a line may fail in the end
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	}
	text, err := os.ReadFile(bin + ".log")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	more, err := os.ReadFile(s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	text = append(text, more...)
	for call := range bytes.SplitSeq(text, []byte("\x01\x02\x00")) {
		if list := strings.Split(string(call), "\x00"); len(list) > 1 && len(calls) < 50 {
			calls = append(calls, list[:len(list)-1])
		}
	}
	return calls
}

// clear removes the files that lines have written.
func (s *Shell) clear() {
	entries, err := os.ReadDir(s.Work)
	for _, e := range entries {
		err = os.RemoveAll(filepath.Join(s.Work, e.Name()))
	}
	for path, text := range map[string]string{s.log: "", filepath.Join(s.Work, "i"): "m4 file\n"} {
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
