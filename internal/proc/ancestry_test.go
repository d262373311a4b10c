package proc

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// start runs a shell in a terminal of its own, whose script prints n process ids and
// whose processes end with the test. The first id is the shell's.
func start(t *testing.T, n int, script string) (list []int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "exec 3<&0; "+script)
	out, err := cmd.StdoutPipe()
	hooktest.Must(t, err)
	in, err := cmd.StdinPipe()
	hooktest.Must(t, err)
	hooktest.Terminal(t, cmd)
	hooktest.Must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	list = append(list, cmd.Process.Pid)
	for lines := bufio.NewScanner(out); len(list) <= n && lines.Scan(); {
		pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		hooktest.Must(t, err)
		list = append(list, pid)
	}
	return list
}

func lineage(t *testing.T, pid int) Lineage {
	t.Helper()
	tree, ok := LineageOf(pid)
	if !ok {
		t.Fatalf("process %d is gone", pid)
	}
	return tree
}

// A tree holds the processes that were started in one terminal: its shell and the
// processes that it runs, however deep. A process of another terminal, the test and the
// processes that the test starts are not in the tree.
func TestATreeIsOneTerminal(t *testing.T) {
	agent := start(t, 2, `sh -c 'echo $$; exec cat <&3' & (sh -c 'echo $$; exec cat <&3'; :) & wait`)
	other := start(t, 0, `exec cat <&3`)
	tree := lineage(t, agent[1])
	for _, pid := range agent {
		if !tree.Has(pid) {
			t.Errorf("%d is not in the tree of %v", pid, agent)
		}
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, child.Start())
	defer child.Wait()
	defer in.Close()
	for _, pid := range []int{os.Getpid(), child.Process.Pid, other[0]} {
		if tree.Has(pid) {
			t.Errorf("%d is in the tree of %v", pid, agent)
		}
	}
	if !tree.Has(1 << 30) {
		t.Error("a process that is gone is not in the tree, though that is not known")
	}
	if !tree.Alive() {
		t.Error("the process that was looked up is said to have ended")
	}
}

// A process that leaves the tree takes a session of its own and loses its parents: on
// Linux it is still known by its cgroup and age. So is a process that only loses its
// parents.
func TestAProcessThatLeavesTheTreeStaysInIt(t *testing.T) {
	hooktest.NeedTool(t, "setsid")
	if cgroupFile(os.Getpid()) == "" {
		t.Skip("SKIP-TOOL cgroup: the system has none")
	}
	agent := start(t, 3, `echo $$; (setsid sh -c 'echo $$; exec cat <&3' &); (sh -c 'echo $$; exec cat <&3' &); exec cat <&3`)
	tree := lineage(t, agent[0])
	for _, pid := range agent {
		if !tree.Has(pid) {
			t.Errorf("%d is not in the tree of %v", pid, agent)
		}
	}
}

// Without a terminal the tree is as large as can be: a process that cannot be distinguished from
// the agent cannot answer for it.
func TestATreeWithoutATerminal(t *testing.T) {
	child := exec.Command("cat")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := child.StdinPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, child.Start())
	defer child.Wait()
	defer in.Close()
	tree := lineage(t, child.Process.Pid)
	if slices.ContainsFunc(tree.chain, row.leadsTerminal) {
		t.Skip("SKIP-TOOL no terminal: the test runs in one")
	}
	if !tree.Has(os.Getpid()) {
		t.Error("the parent of a process without a terminal is not in its tree")
	}
}

func TestProgram(t *testing.T) {
	self, err := os.Executable()
	hooktest.Must(t, err)
	if got := Program(os.Getpid()); got != self {
		t.Errorf("the program of this process is %q, want %q", got, self)
	}
	if got := Program(1 << 30); got != "" {
		t.Errorf("a process that is not there runs %q", got)
	}
}
