package hooktest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// asSender is the variable that makes a test's program a sender; its value is the
// socket.
const asSender = "HOOKTEST_SENDER"

// init makes the test's own program a sender of events when Sender has started it.
func init() {
	socket := os.Getenv(asSender)
	if socket == "" {
		return
	}
	conn, err := net.Dial("unix", socket)
	if err == nil {
		go io.Copy(conn, os.Stdin)
		var line string
		line, err = bufio.NewReader(conn).ReadString('\n')
		fmt.Print(line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Sender is a program that has sent one line and waits for the answer to it.
type Sender struct {
	PID int
	end func() (string, error)
}

// Send starts a program of its own in a terminal of its own, as an agent is one, which
// sends a line to a socket and waits. The program ends with the answer, or the test.
func Send(t testing.TB, socket, line string) *Sender {
	t.Helper()
	self, err := os.Executable()
	Must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asSender+"="+socket)
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	in, err := cmd.StdinPipe()
	Must(t, err)
	Terminal(t, cmd)
	Must(t, cmd.Start())
	_, err = io.WriteString(in, line+"\n")
	Must(t, err)
	s := &Sender{PID: cmd.Process.Pid}
	s.end = sync.OnceValues(func() (string, error) {
		if err := cmd.Wait(); err != nil {
			return "", fmt.Errorf("the sender: %w: %s", err, said.String())
		}
		return strings.TrimSpace(out.String()), nil
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = s.end()
	})
	return s
}

// Answer waits for the line that the program was answered with; the error says that
// the connection was closed without one.
func (s *Sender) Answer() (string, error) { return s.end() }

// Kill ends the program.
func (s *Sender) Kill() {
	if p, err := os.FindProcess(s.PID); err == nil {
		_ = p.Kill()
	}
	_, _ = s.end()
}
