package proc

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// agentScript is an agent: a program that starts the bridge, tells the bridge's number and
// the numbers of processes that it starts, and ends when its stdin does.
const agentScript = `#!/bin/sh
exec 3<&0
"$BRIDGE" claude-code &
echo $!
sh -c 'echo $$; exec cat <&3' &
(setsid sh -c 'echo $$; exec cat <&3' &)
(setsid sh -c 'sh -c "echo \$\$; exec cat <&3" & exec true' &)
exec cat <&3
`

// bridge is a program with the bridge's name that stays.
func bridge(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hookd-bridge")
	cat, err := exec.LookPath("sleep")
	hooktest.Must(t, err)
	hooktest.Must(t, os.Symlink(cat, path))
	return path
}

// The agent that a bridge has asked for, and all that it starts, are known while it lives:
// also a process that has left it. Others are not, and neither is the process that started
// the agent.
func TestAgents(t *testing.T) {
	hooktest.NeedTool(t, "setsid")
	dir := t.TempDir()
	script := filepath.Join(dir, "agent")
	hooktest.Write(t, script, strings.Replace(agentScript, `"$BRIDGE" claude-code`, bridge(t)+" 300", 1), 0o755)
	cmd := exec.Command(script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	hooktest.Must(t, err)
	out, err := cmd.StdoutPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Start())
	var pids []int
	for lines := bufio.NewScanner(out); len(pids) < 4 && lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		hooktest.Must(t, err)
		pids = append(pids, pid)
	}
	var agents Agents
	t.Cleanup(agents.Close)
	if of, is := agents.Above(pids[1]); is {
		t.Errorf("%v is an agent before a bridge asked", of)
	}
	hooktest.Until(t, "the bridge runs", func() bool { return isBridge(CommandLine(pids[0])) })
	hooktest.Until(t, "the agent is what it becomes", func() bool {
		args := CommandLine(cmd.Process.Pid)
		return len(args) > 0 && args[0] == "cat"
	})
	for range 2 { // also when it is known
		if pid, args := agents.Note(pids[0]); pid != cmd.Process.Pid || !slices.Equal(args, CommandLine(cmd.Process.Pid)) {
			t.Errorf("its command line is %q", args)
		}
	}
	if _, args := agents.Note(os.Getpid()); args != nil {
		t.Errorf("this test is an agent: %q", args)
	}
	for _, pid := range append(pids, cmd.Process.Pid) {
		if of, is := agents.Above(pid); !is || of.PID != cmd.Process.Pid {
			t.Errorf("process %d belongs to %v, %v, want %d", pid, of, is, cmd.Process.Pid)
		}
	}
	other := exec.Command("cat")
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	otherIn, err := other.StdinPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, other.Start())
	for _, pid := range []int{os.Getpid(), other.Process.Pid, os.Getppid(), 1 << 30} {
		if of, is := agents.Above(pid); is {
			t.Errorf("process %d belongs to %v", pid, of)
		}
	}
	otherIn.Close()
	hooktest.Must(t, other.Wait())
	child := IdentityOf(pids[1])
	in.Close()
	hooktest.Must(t, cmd.Wait())
	if of, is := agents.Above(os.Getpid()); is || child == (Identity{}) {
		t.Errorf("%v has ended and is an agent", of)
	}
	if p, err := os.FindProcess(pids[0]); err == nil {
		_ = p.Kill()
	}
}

func TestWhoStartsABridge(t *testing.T) {
	for _, tt := range []struct {
		args                         []string
		bridge, starter, interactive bool
	}{
		{args: nil},
		{args: []string{"/usr/bin/hookd-bridge", "codex"}, bridge: true},
		{args: []string{"hookd", "bridge", "codex"}, bridge: true},
		{args: []string{"hookd", "--socket", "/s", "mcp"}, bridge: true},
		{args: []string{"hookd", "emit", "bridge:x"}},
		{args: []string{"/bin/sh", "-c", "'/opt/my tools/hookd-bridge' codex"}, starter: true},
		{args: []string{"sh", "-c", "command -v hookd && hookd bridge codex || true"}, starter: true},
		{args: []string{"bash", "-lc", "X=1 hookd bridge codex"}, starter: true},
		{args: []string{"sh", "-c", "hookd bridge codex\nhookd list"}},
		{args: []string{"timeout", "5", "hookd-bridge", "codex"}, starter: true},
		{args: []string{"claude", "--settings", "sh -c 'hookd-bridge claude-code'"}},
		{args: []string{"bash", "agent.sh"}},
		{args: []string{"-bash"}, interactive: true},
		{args: []string{"zsh", "-i"}, interactive: true},
		{args: []string{"bash", "--login", "-i"}, interactive: true},
		{args: []string{"bash", "-ec", "hookd list"}},
		{args: []string{"python3"}},
	} {
		if isBridge(tt.args) != tt.bridge || startsBridge(tt.args, "") != tt.starter || isInteractive(tt.args) != tt.interactive {
			t.Errorf("%q: bridge %v, starter %v, interactive %v", tt.args,
				isBridge(tt.args), startsBridge(tt.args, ""), isInteractive(tt.args))
		}
	}
}

// An agent in a container whose processes hookd sees from outside keeps its orphans.
func TestAgentInAContainer(t *testing.T) {
	hooktest.NeedRoot(t)
	hooktest.NeedTool(t, "unshare", "setsid")
	dir := t.TempDir()
	script, out := filepath.Join(dir, "agent"), filepath.Join(dir, "said")
	hooktest.Write(t, script, "#!/bin/sh\n"+bridge(t)+" 300 &\n(setsid sleep 301 &)\ntouch "+out+"\nexec cat\n", 0o755)
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "sh", "-c", script+"; :")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Start())
	defer func() { in.Close(); _ = cmd.Wait() }()
	hooktest.Until(t, "the agent has started all", func() bool { return exists(out) })
	var agents Agents
	defer agents.Close()
	orphan := 0
	hooktest.Until(t, "the orphan and the bridge run", func() bool {
		table, err := processes()
		hooktest.Must(t, err)
		asked := false
		for pid := range table {
			args := CommandLine(pid)
			if isBridge(args) && strings.HasPrefix(args[0], os.TempDir()) && len(args) > 1 && args[1] == "300" {
				agents.Note(pid)
				asked = true
			}
			if slices.Equal(args, []string{"sleep", "301"}) {
				orphan = pid
			}
		}
		return asked && orphan != 0
	})
	if of, is := agents.Above(orphan); !is {
		t.Errorf("the orphan %d belongs to no agent, %v", orphan, of)
	}
}

// A bridge is known by its file, by whatever name it was started.
func TestABridgeByAnotherName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hookd-bridge")
	link := filepath.Join(t.TempDir(), "guard")
	sleep, err := os.ReadFile(bridge(t))
	hooktest.Must(t, err)
	hooktest.Must(t, os.WriteFile(file, sleep, 0o755))
	hooktest.Must(t, os.Symlink(file, link))
	cmd := exec.Command(link, "300")
	hooktest.Must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	hooktest.Until(t, "the bridge runs", func() bool { return bridgeName(cmd.Process.Pid) == "guard" })
	line := []string{"sh", "-c", link + " 300 || true"}
	if !startsBridge(line, "guard") || startsBridge(line, "other") || bridgeName(os.Getpid()) != "" {
		t.Error("the shell that starts it is not known, or this test is a bridge")
	}
}
