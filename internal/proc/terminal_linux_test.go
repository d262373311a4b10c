package proc

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// leavesWithTerminal is an agent whose orphan opens a terminal of its own, as another one holds it open.
const leavesWithTerminal = `#!/bin/sh
exec 3<&0
"$BRIDGE" 300 &
echo $!
python3 -c '
import fcntl, os, pty, termios
held, own = pty.openpty()
if os.fork() == 0:
    os.setsid()
    fcntl.ioctl(own, termios.TIOCSCTTY, 0)
    print(os.getpid(), flush=True)
    os.read(3, 1)
    os._exit(0)
if os.fork() == 0:
    os.read(3, 1)
    os._exit(0)
'
exec cat <&3
`

// An orphan of an agent belongs to it, also with a terminal that it has opened.
func TestOrphanWithATerminal(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	script := filepath.Join(t.TempDir(), "agent")
	hooktest.Write(t, script, strings.Replace(leavesWithTerminal, `"$BRIDGE"`, bridge(t), 1), 0o755)
	cmd := exec.Command(script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	hooktest.Must(t, err)
	defer func() { in.Close(); _ = cmd.Wait() }()
	out, err := cmd.StdoutPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Start())
	var pids []int
	for lines := bufio.NewScanner(out); len(pids) < 2 && lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		hooktest.Must(t, err)
		pids = append(pids, pid)
	}
	defer func() { _ = syscall.Kill(pids[0], syscall.SIGKILL) }() // the bridge; with the input's end the others end
	var agents Agents
	defer agents.Close()
	hooktest.Until(t, "the bridge runs", func() bool { return isBridge(CommandLine(pids[0])) })
	hooktest.Until(t, "the agent is what it becomes", func() bool {
		args := CommandLine(cmd.Process.Pid)
		return len(args) > 0 && args[0] == "cat"
	})
	agents.Note(pids[0])
	tree, ok := LineageOf(pids[0])
	if !ok {
		t.Fatal("there is no bridge")
	}
	hooktest.Until(t, "it is an orphan", func() bool {
		r, ok := readRow(pids[1])
		return ok && r.leadsTerminal() && r.ppid != cmd.Process.Pid
	})
	if of, is := agents.Above(pids[1]); !is || of.PID != cmd.Process.Pid {
		t.Errorf("it belongs to %v, %v", of, is)
	}
	if !tree.Has(pids[1]) {
		t.Error("it may answer what its agent asks")
	}
}
