package bridge

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hangfs"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// program is the bridge as a process of its own.
func program(t *testing.T, payload string, args ...string) (cmd *exec.Cmd, stdout, stderr *bufio.Reader) {
	t.Helper()
	cmd = exec.Command(os.Args[0], append(args, "--timeout=300ms")...)
	cmd.Env = append(os.Environ(), "BRIDGE_TEST_MAIN=1")
	stdin, err := cmd.StdinPipe() // stays open
	hooktest.Must(t, err)
	out, err := cmd.StdoutPipe()
	hooktest.Must(t, err)
	errOut, err := cmd.StderrPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Start())
	_, err = io.WriteString(stdin, payload)
	hooktest.Must(t, err)
	return cmd, bufio.NewReader(out), bufio.NewReader(errOut)
}

// An agent gets its answer in time, also when the system does not return from a call: a denial
// with --fail-closed.
func TestTheSystemHangs(t *testing.T) {
	const payload = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`
	for name, tt := range map[string]struct {
		payload, says string
		hangs         bool // the file system of the socket
		denies        bool // without --fail-closed, too
		exit          int
	}{
		"the file system of the socket": {payload: payload, says: "file system of its socket", hangs: true},
		"stdin":                         {payload: payload[:20], says: "not complete after 285ms", denies: true},
		"stdin, nothing came":           {says: "not complete after 285ms", exit: 1},
	} {
		for _, closed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", fail closed ", closed), func(t *testing.T) {
				socket, answer := filepath.Join(t.TempDir(), "hookd.sock"), func() {}
				if tt.hangs {
					m := hangfs.New(t, map[string]string{"file": ""})
					m.Hang()
					socket, answer = filepath.Join(m.Dir, "hookd.sock"), m.Answer
				}
				args, exit := []string{"claude-code", "--socket=" + socket}, tt.exit
				if closed {
					args, exit = append(args, "--fail-closed"), 0
				}
				cmd, stdout, stderr := program(t, tt.payload, args...)
				said, err := stderr.ReadString('\n')
				if err != nil || !strings.Contains(said, tt.says) {
					t.Errorf("stderr has %q, %v", said, err)
				}
				if closed || tt.denies {
					said, err := stdout.ReadString('\n')
					if err != nil || !strings.Contains(said, `"deny"`) || !strings.Contains(said, tt.says) {
						t.Errorf("stdout has %q, %v", said, err)
					}
				}
				answer() // before that the system ends no process that waits for it
				rest, err := io.ReadAll(stdout)
				if err != nil || len(rest) > 0 {
					t.Errorf("stdout has more: %q, %v", rest, err)
				}
				cmd.Wait()
				if got := cmd.ProcessState.ExitCode(); got != exit {
					t.Errorf("exit code %d, want %d", got, exit)
				}
			})
		}
	}
}
