package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Agents are the processes for which a bridge has asked: the processes that started the
// bridge. They are known by number and start, for as long as they live.
type Agents struct {
	mu    sync.Mutex
	known map[int]agent
}

// agent is the process of an agent.
type agent struct {
	row
	args   []string // its command line
	handle int      // a pidfd; -1 = none
	cgroup string
}

// mostAgents bounds how many are known at once; more than that and the oldest one counts no
// longer.
const mostAgents = 4096

// Agent is one of the Agents, for people.
type Agent struct {
	PID     int
	Program string // "" = not known
}

func (a Agent) String() string {
	if a.Program == "" {
		return fmt.Sprintf("pid %d", a.PID)
	}
	return fmt.Sprintf("%s, pid %d", filepath.Base(a.Program), a.PID)
}

// Note notes the agent of a process that has sent an event, if that process is a bridge: its
// nearest ancestor that does more than start the bridge. The shell in which a person types
// the bridge's command is no agent. Note returns the agent's number and its command line, the program
// first; nil = there is no agent.
func (a *Agents) Note(sender int) (pid int, args []string) {
	r, ok := readRow(sender)
	if !ok {
		return 0, nil
	}
	bridge := bridgeName(sender)
	if args = a.argsOf(r.ppid); args != nil || bridge == "" {
		return r.ppid, args
	}
	for range mostAncestors {
		if r, ok = readRow(r.ppid); !ok || r.pid <= 1 || managesServices(r) {
			return 0, nil
		}
		if args = CommandLine(r.pid); !startsBridge(args, bridge) {
			break
		}
	}
	if isInteractive(args) {
		return 0, nil
	}
	a.add(r, args)
	return r.pid, args
}

// argsOf returns the command line of the agent with this number; nil = there is none that lives.
func (a *Agents) argsOf(pid int) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one, known := a.known[pid]; known && one.alive() {
		return one.args
	}
	return nil
}

func (a *Agents) add(r row, args []string) {
	one := agent{row: r, args: args, handle: openHandle(r), cgroup: cgroupFile(r.pid)}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[int]agent{}
	}
	a.drop(func(old agent) bool { return old.pid == r.pid || !old.alive() })
	for len(a.known) >= mostAgents {
		oldest := r
		for _, old := range a.known {
			if old.start <= oldest.start {
				oldest = old.row
			}
		}
		a.drop(func(old agent) bool { return old.pid == oldest.pid })
	}
	a.known[r.pid] = one
}

// drop forgets the agents that over chooses. a.mu is held.
func (a *Agents) drop(over func(agent) bool) {
	for pid, old := range a.known {
		if over(old) {
			closeHandle(old.handle)
			delete(a.known, pid)
		}
	}
}

// Close forgets all agents.
func (a *Agents) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(func(agent) bool { return true })
}

// alive reports whether the agent has not ended.
func (one agent) alive() bool {
	if one.handle >= 0 {
		return !handleEnded(one.handle)
	}
	now, ok := readRow(one.pid)
	return ok && now.start == one.start && !now.dead
}

// Above returns the living agent that a process belongs to: it is the agent, descends from it,
// or seems to be its orphan. ok is false when there is no such agent.
func (a *Agents) Above(pid int) (of Agent, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(func(old agent) bool { return !old.alive() })
	if len(a.known) == 0 {
		return of, false
	}
	chain := ancestors(pid)
	for _, one := range a.known {
		if contains(chain, one.row) || one.left(chain) {
			return Agent{PID: one.pid, Program: Program(one.pid)}, true
		}
	}
	return of, false
}

// left reports whether a process with this chain seems to be an orphan of the agent, see isApart. On macOS, which has
// no cgroups, that is not known.
func (one agent) left(chain []row) bool {
	above := ancestors(one.pid)
	shared := slices.IndexFunc(chain, func(r row) bool { return contains(above, r) })
	return shared > 0 && adopts(chain[shared]) && isApart(chain, above, one.start, one.cgroup)
}

// adopters are programs that take over the orphans of the processes below them.
var adopters = []string{
	"init", "systemd", "launchd", "tini", "tini-static", "dumb-init", "docker-init", "catatonit", "bwrap", "s6-svscan", "runsvdir",
}

// adopts reports whether a process takes over the orphans of the processes below it.
func adopts(r row) bool {
	return r.pid == 1 || managesServices(r) || firstOfContainer(r.pid) ||
		slices.Contains(adopters, filepath.Base(Program(r.pid))) || entersContainers(r)
}

// IsOurCommand reports whether a process is a command that a person types: it runs the program that
// this process runs, and is no bridge, or it is a bridge that such a command has started to try it.
func IsOurCommand(pid int) bool {
	if runsOurs(pid) {
		return !slices.ContainsFunc(CommandLine(pid), speaksForAgents)
	}
	r, ok := readRow(pid)
	return ok && isBridge(CommandLine(pid)) && r.ppid != os.Getpid() && runsOurs(r.ppid) &&
		!slices.ContainsFunc(CommandLine(r.ppid), speaksForAgents)
}

// runsOurs reports whether another process runs the program of this one.
func runsOurs(pid int) bool {
	if pid == os.Getpid() {
		return false
	}
	its, err := os.Stat(programFile(pid))
	if err != nil {
		return false
	}
	own, err := os.Stat(programFile(os.Getpid()))
	return err == nil && os.SameFile(its, own)
}

// speaksForAgents reports whether an argument is a command of hookd that an agent starts.
func speaksForAgents(arg string) bool { return arg == "bridge" || arg == "mcp" }

// isBridge reports whether a command line is that of hookd's bridge, or of its MCP server,
// which an agent starts for itself.
func isBridge(args []string) bool {
	if len(args) == 0 {
		return false
	}
	name := filepath.Base(args[0])
	return strings.HasPrefix(name, "hookd-bridge") || name == "hookd" && slices.ContainsFunc(args[1:], speaksForAgents)
}

// bridgeName returns the name by which a bridge was started; "" = the process is no bridge. A program that was
// renamed, or has another name by a link, is known by its file.
func bridgeName(pid int) string {
	args := CommandLine(pid)
	if len(args) == 0 {
		return ""
	}
	file := append([]string{Program(pid)}, args[1:]...)
	if isBridge(args) || isBridge(file) || runsOurs(pid) && slices.ContainsFunc(args[1:], speaksForAgents) {
		return filepath.Base(args[0])
	}
	return ""
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "busybox", "csh", "tcsh", "nu", "elvish", "xonsh", "pwsh"}

func isShell(args []string) bool {
	return len(args) > 0 && slices.Contains(shells, strings.TrimPrefix(filepath.Base(args[0]), "-"))
}

// starters are programs that start another one and do nothing else.
var starters = []string{"env", "timeout", "nice", "ionice", "setsid", "stdbuf", "sudo", "doas", "xargs", "time"}

// startsBridge reports whether a command line is that of a program that only starts the
// bridge, as agents run the command of a hook: sh -c 'hookd-bridge codex || true'. name is another name of the
// bridge; "" = it has none.
func startsBridge(args []string, name string) bool {
	if len(args) < 2 || !isShell(args) && !slices.Contains(starters, filepath.Base(args[0])) {
		return false
	}
	line := strings.Join(args[1:], " ")
	if strings.Contains(line, "\n") {
		return false // a script, which does more
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t'\"();|&", r) })
	for i := range words {
		if isBridge(words[i:min(len(words), i+2)]) || filepath.Base(words[i]) == name {
			return true
		}
	}
	return false
}

// isInteractive reports whether a command line is that of a shell that reads the lines a
// person types.
func isInteractive(args []string) bool {
	return isShell(args) && !slices.ContainsFunc(args[1:], func(arg string) bool {
		return !strings.HasPrefix(arg, "-") || !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
	})
}
