package box

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	sandboxExec = "/usr/bin/sandbox-exec"

	firstOther, lastOther = 3, 1024 // descriptors after standard error, as far as agents use them
)

// Strongest is the only level of this system.
const Strongest = Seatbelt

// Run runs the program of s in a box and returns when it has ended. A *CannotError means
// that nothing has run.
func Run(s *Spec) (Ended, error) {
	switch {
	case s.Level != "" && s.Level != Seatbelt:
		return Ended{}, cannot("%s is not of this system", s.Level)
	case s.Proxy != nil:
		return Ended{}, cannot("a network with chosen hosts is not made on this system")
	}
	own, err := temporary(s)
	if err != nil {
		return Ended{}, err
	}
	defer own.release()
	tmp, links := own.dir, s.links()
	s.Write = append(s.Write, tmp)
	profile := seatbelt(s)
	if err := exec.Command(sandboxExec, "-p", profile, "/usr/bin/true").Run(); err != nil {
		return Ended{}, cannot("%s: %v (no sandbox can be made within another)", sandboxExec, err)
	}
	cmd := exec.Command(sandboxExec, append([]string{"-p", profile}, s.Argv...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = os.Stdin, os.Stdout, os.Stderr, s.Cwd
	cmd.Env = environment(s, tmp)
	for fd := firstOther; fd < lastOther; fd++ {
		syscall.CloseOnExec(fd) // a descriptor that the agent left open would lead out of the box
	}
	if err := cmd.Start(); err != nil {
		return Ended{}, cannot("start %s: %v", sandboxExec, err)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT) // a terminal sends them to the program as well
	go func() {
		for sig := range signals {
			_ = cmd.Process.Signal(sig)
		}
	}()
	err = cmd.Wait()
	signal.Stop(signals)
	close(signals)
	end := Ended{Level: Seatbelt, Exit: cmd.ProcessState.ExitCode()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		end.Exit = 128 + int(status.Signal())
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		err = nil
	}
	kept, keepErr := quarantine(s.Watch, links)
	end.Kept = kept
	if err != nil {
		err = fmt.Errorf("run %s: %w", strings.Join(s.Argv, " "), err)
	}
	return end, errors.Join(err, keepErr)
}

// private is empty: the box's own temporary folder is a new one of the machine.
var private []string

// renameIn gives a file in a folder another name there. The folder must not be behind a link.
func renameIn(dir, from, to string) error {
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return errors.Join(err, syscall.ELOOP)
	}
	return os.Rename(filepath.Join(dir, from), filepath.Join(dir, to))
}
