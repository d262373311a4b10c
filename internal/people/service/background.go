package service

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Running reports whether the service manager runs hookd, or holds its socket.
// Without a service manager it is false.
func (m *Machine) Running(ctx context.Context) bool {
	mgr := m.manager()
	return mgr.reachable(ctx) == nil && mgr.active(ctx)
}

// Installed reports whether files of the service are there, whether it runs or not.
func (m *Machine) Installed() bool { return len(installedFiles(m.manager())) > 0 }

// Stop has the service manager end the service, if that is the process pid, and
// returns the command that did. "" = the process is not the manager's.
func (m *Machine) Stop(ctx context.Context, pid int) (command string, err error) {
	mgr := m.manager()
	if mgr.reachable(ctx) != nil || mgr.main(ctx) != pid {
		return "", nil
	}
	steps := mgr.halt()
	if err := m.do(ctx, steps); err != nil {
		return "", fail(mgr.look(), "%w", err)
	}
	return steps[0].String(), nil
}

// Restart has the service manager start the service again, if that is the process pid, and reports whether it is.
// Under systemd the socket stays open: no event is refused in between.
func (m *Machine) Restart(ctx context.Context, pid int) (bool, error) {
	mgr := m.manager()
	if mgr.reachable(ctx) != nil || mgr.main(ctx) != pid {
		return false, nil
	}
	if err := m.do(ctx, mgr.start(func(string) bool { return false })); err != nil {
		return true, fail(mgr.look(), "%w", err)
	}
	return true, nil
}

// Process is a daemon that Background has started.
type Process struct {
	PID   int
	Log   string          // the file that it logs to
	Ended <-chan struct{} // closed when it has exited, as long as this program runs

	from int64 // where in the log it begins
}

// Said returns the end of its log, 2 KiB at most; "" where that cannot
// be read.
func (p *Process) Said() string {
	f, err := os.Open(p.Log)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(io.NewSectionReader(f, max(p.from, info.Size()-2048), 2048)) // what could be read
	return strings.TrimSpace(string(text))
}

// Background starts `hookd serve` in a session of its own, so that it outlives
// this program and its terminal, for machines without a service manager. args are
// flags of serve. Its output is appended to log, which the user alone can read.
// It is not waited for: whether it is ready is for its socket to tell.
func (m *Machine) Background(log string, args []string) (*Process, error) {
	again := "see the folder's permissions, or type `hookd serve`"
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return nil, fail(again, "start hookd in the background: %w", err)
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fail(again, "start hookd in the background: %w", err)
	}
	defer out.Close()
	from, _ := out.Seek(0, io.SeekEnd) // at worst all of the log is shown
	cmd := exec.Command(m.exe, append([]string{"serve"}, args...)...)
	cmd.Dir = m.home // not the folder that init was typed in, which may go away
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fail("type `hookd serve`", "start hookd in the background: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its log says why it ended
	}()
	return &Process{PID: cmd.Process.Pid, Log: log, Ended: ended, from: from}, nil
}

// Reachable returns why the service manager cannot be asked; nil if it can.
func (p *Plan) Reachable(ctx context.Context) error { return p.manager.reachable(ctx) }

// Without says how hookd is kept running where no service manager answers.
func (p *Plan) Without() []string { return p.manager.without() }

// TakeBack removes the files that a failed Install has written, where the service was
// not there before.
func (p *Plan) TakeBack(ctx context.Context) error {
	for _, c := range p.Files {
		if c.State != "new" && c.State != "removed" {
			return nil
		}
	}
	back, err := p.machine.Uninstall()
	if err != nil || len(back.Files) == 0 {
		return err
	}
	return back.Uninstall(ctx)
}
