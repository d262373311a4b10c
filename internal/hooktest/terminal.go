package hooktest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Terminal makes a pseudo-terminal of 80 columns and 24 rows, and has cmd run there when
// it is started: in a session of its own, as if a person had opened a terminal for it.
// Streams of cmd that are nil are the terminal's. What the program writes there is read
// from screen, and what is typed is written to it. The test is skipped where the system
// has no terminals to give.
func Terminal(t testing.TB, cmd *exec.Cmd) (screen *os.File) {
	t.Helper()
	screen, inside, err := openTerminal()
	if err != nil {
		t.Skipf("SKIP-TOOL pseudo-terminal: %v", err)
	}
	t.Cleanup(func() {
		screen.Close()
		inside.Close()
	})
	Must(t, unix.IoctlSetWinsize(int(inside.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 80, Row: 24}))
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
	return screen
}
