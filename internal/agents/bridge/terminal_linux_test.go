package bridge

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An agent that takes stderr for an answer is told nothing there; a person who
// types the command wrongly is.
func TestAMistakeIsSaidAtATerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer terminal.Close()
	echo := bufio.NewReader(terminal) // the terminal echoes what is typed into it, in pieces
	for _, agent := range []string{"antigravity", "gemini-cli"} {
		var stdout bytes.Buffer
		o := Options{Agent: agent, Stdin: strings.NewReader("{}"), Stdout: &stdout, Stderr: terminal, State: t.TempDir()}
		if exit := Run(t.Context(), o); exit == 2 {
			t.Errorf("%s: a usage error is exit 2", agent)
		}
		if err := terminal.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Skipf("a terminal without deadlines: %v", err)
		}
		said, err := echo.ReadString('\n')
		if want := "type hookd-bridge " + agent + " EVENT"; err != nil || !strings.Contains(said, want) {
			t.Errorf("%s: got %q, %v, want %q", agent, said, err, want)
		}
		var stderr bytes.Buffer
		o.Stdin, o.Stderr = strings.NewReader("{}"), &stderr
		Run(t.Context(), o)
		if stderr.Len() > 0 {
			t.Errorf("%s: stderr that is no terminal has %q", agent, stderr.String())
		}
	}
}
