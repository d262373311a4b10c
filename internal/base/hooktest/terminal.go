package hooktest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Terminal makes a pseudo-terminal of 80 columns and 24 rows, and has cmd run there when
// it is started: in a session of its own, as if a person had opened a terminal for it.
// Streams of cmd that are nil are the terminal's. The output of the program there is
// read from screen, and typed input is written to screen. The test is skipped where the
// system has no terminals to give.
func Terminal(t testing.TB, cmd *exec.Cmd) (screen *os.File) {
	t.Helper()
	screen, inside, err := terminalOf(cmd)
	if err != nil {
		t.Skipf("SKIP-TOOL pseudo-terminal: %v", err)
	}
	t.Cleanup(func() {
		screen.Close()
		inside.Close()
	})
	return screen
}

// OnTerminal runs a program to its end as Terminal does, types keys, and returns all that
// the program wrote there.
func OnTerminal(cmd *exec.Cmd, keys []byte) (wrote []byte, err error) {
	screen, inside, err := terminalOf(cmd)
	if err != nil {
		return nil, err
	}
	defer screen.Close()
	err = cmd.Start()
	inside.Close() // what is read ends when the program's own have been closed
	if err != nil {
		return nil, err
	}
	_, typed := screen.Write(keys)
	wrote, _ = io.ReadAll(screen) // at the end Linux says EIO
	return wrote, errors.Join(cmd.Wait(), typed)
}

// terminalOf makes a pseudo-terminal for a program that has not been started.
func terminalOf(cmd *exec.Cmd) (screen, inside *os.File, err error) {
	screen, inside, err = openTerminal()
	if err != nil {
		return nil, nil, err
	}
	size := &unix.Winsize{Col: 80, Row: 24}
	if err := unix.IoctlSetWinsize(int(inside.Fd()), unix.TIOCSWINSZ, size); err != nil {
		return nil, nil, errors.Join(err, screen.Close(), inside.Close())
	}
	if cmd.Stdin == nil {
		cmd.Stdin = inside
	}
	if cmd.Stdout == nil {
		cmd.Stdout = inside
	}
	if cmd.Stderr == nil {
		cmd.Stderr = inside
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, inside)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2 + len(cmd.ExtraFiles)}
	return screen, inside, nil
}
