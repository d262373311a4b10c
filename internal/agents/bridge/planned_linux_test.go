//go:build amd64 || arm64

package bridge

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/wire"
)

// planner is a hookd that plans boxes and has one ticket.
type planner struct {
	mu             sync.Mutex
	plans, claimed int
	ticket         wire.BoxStart // Line "" = none
	end            wire.BoxEnd
	other          bool // the plan is of another version
}

func (p *planner) PlanBox(h wire.Handed, pid int) ([]byte, [2]int, bool) {
	reply, files, ok := PlanBox(h, pid, BoxKeeper{
		Look: p.look, Begin: func(id string, b wire.BoxStart) wire.BoxBegun { return p.BeginBox(id, b) },
		Weak: func() bool { return false },
	})
	if ok {
		p.mu.Lock()
		p.plans++
		p.mu.Unlock()
	}
	if p.other { // the last instruction of the filter allows all that is left
		reply = bytes.Replace(reply, []byte{0, 0, 0xff, 0x7f, '{'}, []byte{1, 0, 0xff, 0x7f, '{'}, 1)
	}
	return reply, files, ok
}

func (p *planner) look(_ string, b wire.BoxStart) wire.BoxBegun {
	if p.ticket.Line != b.Line || p.claimed > 0 {
		return wire.BoxBegun{}
	}
	return wire.BoxBegun{Approved: true, Profile: []byte(`{"name":"tests","base":"project"}`)}
}

func (p *planner) BeginBox(id string, b wire.BoxStart) wire.BoxBegun {
	p.mu.Lock()
	defer p.mu.Unlock()
	begun := p.look(id, b)
	if begun.Approved {
		p.claimed++
	}
	return begun
}

func (p *planner) EndBox(_ string, end wire.BoxEnd) wire.BoxTold {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = end
	return wire.BoxTold{Tell: "a sentence"}
}

func (p *planner) counts() (plans, claimed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plans, p.claimed
}

// listen returns the socket of the planner.
func (p *planner) listen(t *testing.T) (socket string) {
	t.Helper()
	socket = filepath.Join(hooktest.ShortDir(t), "s")
	s, err := server.Listen(server.Options{Socket: socket, Boxes: p, Emitter: emitting{(&table{}).emit, t.Context()}})
	hooktest.Must(t, err)
	hooktest.Run(t, s.Serve)
	return socket
}

// boxCommand runs the built program in a new project. The function lists the files of its home.
func boxCommand(t *testing.T, socket string, env []string, argv ...string) (*exec.Cmd, func() string) {
	t.Helper()
	home := t.TempDir()
	project := filepath.Join(home, "project")
	hooktest.Must(t, os.MkdirAll(filepath.Join(project, ".git/hooks"), 0o755))
	hooktest.Must(t, os.WriteFile(filepath.Join(home, ".bashrc"), []byte("mine\n"), 0o644))
	args := append([]string{"box", "--level", "landlock", "--socket", socket}, argv...)
	cmd := exec.Command(filepath.Join(hooktest.Programs(t), "hookd-bridge"), args...)
	cmd.Dir, cmd.Env = project, append(append(os.Environ(), "HOME="+home, "PWD="+project), env...)
	return cmd, func() (list string) {
		hooktest.Must(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			text, _ := os.ReadFile(path) // of a folder there is none
			list += fmt.Sprintln(strings.TrimPrefix(path, home), info.Mode(), string(text))
			return err
		}))
		return list
	}
}

func needBoxes(t *testing.T) {
	t.Helper()
	cmd, _ := boxCommand(t, "/nowhere", nil, "--", "true")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("this machine makes no box by Landlock: %s", out)
	}
}

// A box that hookd plans is the box that the bridge makes itself.
func TestPlannedBox(t *testing.T) {
	needBoxes(t)
	var many []string
	for i := range 1100 {
		many = append(many, fmt.Sprintf("MANY_%d=1", i))
	}
	for name, tt := range map[string]struct {
		line, stdin string
		argv, env   []string
		left        bool // to the bridge
	}{
		"an exit code":       {line: "echo out; echo err >&2; exit 3"},
		"input":              {line: "cat; cat", stdin: "from the agent\n"},
		"changes":            {line: "mkdir -p a/b && echo x > a/b/c && mv a new && ln new/b/c d && chmod 600 d && rm new/b/c"},
		"a file outside":     {line: `echo x > ../file || echo "$?"; cat ../.bashrc; echo y >> ../.bashrc`},
		"what runs later":    {line: `mkdir .vscode && echo x > .vscode/tasks.json; echo x > .git/hooks/post-commit; echo $?`},
		"variables":          {line: `echo "$HOOKD_BOX $PLAIN ${A_TOKEN-none} $(basename "$PWD")"; echo x > "$TMPDIR/f" && cat "$TMPDIR/f"`, env: []string{"PLAIN=a \"b\"\\\n\t", "A_TOKEN=x"}},
		"a killed program":   {line: "kill -9 $$"},
		"quotes":             {line: "printf '%s|' \"a\\b\" '\"' 'two\nlines' '\x01'"},
		"not of ASCII":       {line: "echo 'Grüße'", left: true},
		"many variables":     {line: "env | grep -c MANY_", env: many}, // the bridge begins what was planned
		"no such program":    {argv: []string{"no-such-program"}, left: true},
		"a folder":           {argv: []string{"/"}},
		"another level":      {argv: []string{"--", "true"}, left: true},
		"a program's socket": {argv: []string{"echo", "--socket", "/elsewhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &planner{}
			socket := p.listen(t)
			var got [2]string
			for i, at := range []string{socket, "/nowhere"} {
				argv := append([]string{"--"}, tt.argv...)
				if tt.argv == nil {
					argv = append(argv, "bash", "-c", tt.line)
				} else if tt.argv[0] == "--" {
					argv = append([]string{"--level", "namespaces"}, tt.argv...)
				}
				cmd, after := boxCommand(t, at, tt.env, argv...)
				var out, err bytes.Buffer
				cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(tt.stdin), &out, &err
				_ = cmd.Run()
				home := filepath.Dir(cmd.Dir)
				got[i] = strings.ReplaceAll(fmt.Sprintf("exit %d\n%s\n%s\n%s", cmd.ProcessState.ExitCode(), &out, &err, after()), home, "~")
			}
			if tt.argv != nil && tt.argv[0] == "/" && !strings.HasPrefix(got[0], "exit 125") {
				t.Errorf("a program that cannot run: %s", got[0])
			}
			if plans, _ := p.counts(); plans == 1 == tt.left {
				t.Errorf("hookd made %d plans", plans)
			}
			if got[0] != got[1] {
				t.Errorf("with a plan\n%s\nwithout\n%s", got[0], got[1])
			}
		})
	}
}

// A ticket counts once, and hookd is told how its box ended. A plan that is not made claims none.
func TestPlannedBoxOfATicket(t *testing.T) {
	needBoxes(t)
	p := &planner{ticket: wire.BoxStart{Line: "exit 4"}}
	socket := p.listen(t)
	run := func(line string) (exit int, said string) {
		cmd, _ := boxCommand(t, socket, nil, "--profile", "tests", "--call", "id", "--", "bash", "-c", line)
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if exit, said := run("exit 5"); exit != 5 || !strings.Contains(said, "not known any more") {
		t.Errorf("another line: %d %q", exit, said)
	}
	if exit, said := run("exit 4"); exit != 4 || said != "a sentence\n" {
		t.Errorf("the line: %d %q", exit, said)
	}
	if exit, said := run("exit 4"); exit != 4 || !strings.Contains(said, "not known any more") {
		t.Errorf("again: %d %q", exit, said)
	}
	if plans, claimed := p.counts(); plans != 1 || claimed != 1 || p.end.Exit != 4 || p.end.Level != "landlock" {
		t.Errorf("%d plans, %d claimed, %+v", plans, claimed, p.end)
	}
}

// A hookd of another version has another filter: the box ends, and says so.
func TestPlannedBoxOfAnotherVersion(t *testing.T) {
	needBoxes(t)
	p := &planner{other: true}
	cmd, _ := boxCommand(t, p.listen(t), nil, "--", "bash", "-c", "mkdir made; sleep 1000")
	out, _ := cmd.CombinedOutput()
	if exit := cmd.ProcessState.ExitCode(); exit != 125 || !strings.Contains(string(out), "restart it") {
		t.Errorf("exit %d: %s", exit, out)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "made")); err == nil {
		t.Error("its program has made a folder")
	}
}

// Signals reach the program once the bridge serves it, and nothing outlives its box.
func TestPlannedBoxEnds(t *testing.T) {
	needBoxes(t)
	p := &planner{}
	line := `trap 'exit 7' TERM; mkdir served; setsid sleep 1000 & echo "$!"; wait`
	cmd, _ := boxCommand(t, p.listen(t), nil, "--", "bash", "-c", line)
	out, err := cmd.StdoutPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Start())
	var left int
	_, err = fmt.Fscan(out, &left)
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait()
	if exit := cmd.ProcessState.ExitCode(); exit != 7 {
		t.Errorf("the exit code is %d", exit)
	}
	if syscall.Kill(left, 0) == nil {
		t.Error("a process is left behind")
	}
	if plans, _ := p.counts(); plans != 1 {
		t.Errorf("%d plans", plans)
	}
}
