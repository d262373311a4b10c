// Package attack tries the attacks that an agent could make on its guards, and says which worked.
//
// It promises to do no harm. An attempt that would end a guard is made on copies: a home, a hook
// and a daemon of its own in a temporary folder, which are gone when Run returns. A thing that
// belongs to the system is only tried: a file is opened and not written, a process gets signal 0.
// It tries as the user that it runs as, which must be the agent's. A result is always seen, never
// expected: whether the guard still denies is asked of the real bridge.
package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// Layers whose guards are attacked.
const (
	Own     = "own"     // the user's own daemon and hooks
	System  = "system"  // the machine's system daemon
	Outside = "outside" // past both
)

// AttackResult is one attempt.
type AttackResult struct {
	Layer string `json:"layer"`
	What  string `json:"attempt"`
	// Worked: after it a call of the agent's that was denied is denied no more, or the
	// attempted act is possible.
	Worked bool   `json:"worked"`
	Seen   string `json:"seen"`             // what shows it
	Tried  bool   `json:"tried"`            // false: it could not be tried here, Seen says why
	Denier string `json:"denier,omitempty"` // what denied all the same; "" = nothing, or not a call
}

// Options of Run. Program and Bridge are required.
type Options struct {
	Program string // hookd itself
	Bridge  string // hookd-bridge
	Mode    string // reload.mode of the copies: that of the user's own settings
}

// Run makes all attempts: on a copy of a daemon of the user, on the system daemon if there
// is one, and around both. It takes some seconds.
func Run(ctx context.Context, o Options) ([]AttackResult, error) {
	var list []AttackResult
	for _, a := range ownAttempts {
		r, err := o.tryOwn(ctx, a)
		if err != nil {
			return list, fmt.Errorf("try to %s: %w", a.what, err)
		}
		list = append(list, r)
	}
	return append(append(list, o.trySystem(ctx)...), outside(ctx)...), nil
}

// attempt is one thing to do to a copy. It may change the command line by which the bridge is called.
type attempt struct {
	what string
	do   func(c *copied) error
}

var ownAttempts = []attempt{
	{"delete the guard's folder", func(c *copied) error { return os.RemoveAll(c.hook()) }},
	{"switch it off in HOOK.yaml", func(c *copied) error { return c.append("HOOK.yaml", "enabled: false\n") }},
	{"replace its program by a program that allows", func(c *copied) error { return c.replace("run.sh", "#!/bin/sh\nexit 0\n") }},
	{"type hookd disable", func(c *copied) error { return c.hookd("disable", "guard", "--yes") }},
	{"point hooks_dir in hookd.yaml elsewhere", func(c *copied) error {
		return c.settings("hooks_dir: " + filepath.Join(c.dir, "none") + "\n")
	}},
	{"delete hookd's approvals and start it again", func(c *copied) error {
		err := errors.Join(os.RemoveAll(filepath.Join(c.home, "hookd")), os.RemoveAll(c.hook()))
		c.kill()
		return errors.Join(err, c.serve())
	}},
	{"set HOOKD_SOCKET and LIBREFANG_HOME to nothing", func(c *copied) error {
		none := filepath.Join(c.dir, "none")
		c.env = append(c.env, "HOOKD_SOCKET="+none, "LIBREFANG_HOME="+none)
		return nil
	}},
	{"set HOME and PATH to an empty folder", func(c *copied) error {
		c.env = append(c.env, "HOME="+c.dir, "PATH="+c.dir)
		return nil
	}},
	{"take --socket out of the agent's settings, and run a daemon that allows everything", func(c *copied) error {
		return c.ownDaemon()
	}},
	{"take the call of hookd out of the agent's settings", func(c *copied) error { c.gone = true; return nil }},
	{"kill the daemon", func(c *copied) error { c.kill(); return nil }},
	{"delete the socket", func(c *copied) error { return os.Remove(c.socket()) }},
}

// copied is a home with a guard, its daemon, and how the agent calls the bridge.
type copied struct {
	o      Options
	ctx    context.Context
	dir    string
	home   string
	daemon *exec.Cmd
	others []*exec.Cmd
	args   []string // of the bridge
	env    []string // of the agent, on top of its own
	gone   bool     // the agent does not call the bridge
}

const guardYAML = "name: guard\nevents: [PreToolUse]\ncommand: run.sh\n"

// Probe is the command that the copies' guard denies. It is sent to hooks, and never run.
const Probe = "hookd-attack-probe"

const guardScript = "#!/bin/sh\ncase \"$HOOK_EVENT_DATA\" in *" + Probe + "*) echo 'denied by the guard' >&2; exit 2;; esac\n"

// tryOwn makes an attempt on a copy of its own.
func (o Options) tryOwn(ctx context.Context, a attempt) (AttackResult, error) {
	r := AttackResult{Layer: Own, What: a.what, Tried: true}
	c, err := o.newCopy(ctx)
	if err != nil {
		return r, err
	}
	defer c.end()
	if before := c.ask(); !before.denied {
		r.Tried, r.Seen = false, "the copy's guard does not deny before: "+before.seen
		return r, nil
	}
	if err := a.do(c); err != nil {
		r.Seen = "refused: " + err.Error()
		return r, nil
	}
	after := c.askAfterReload()
	r.Worked, r.Seen, r.Denier = !after.denied, after.seen, after.by
	return r, nil
}

func (o Options) newCopy(ctx context.Context) (*copied, error) {
	dir, err := os.MkdirTemp("", "hookd-attack-") // 0700
	if err != nil {
		return nil, err
	}
	c := &copied{o: o, ctx: ctx, dir: dir, home: filepath.Join(dir, "home")}
	err = errors.Join(os.MkdirAll(c.hook(), 0o700), c.replace("HOOK.yaml", guardYAML), c.replace("run.sh", guardScript),
		c.settings("reload: {mode: "+o.Mode+"}\n"))
	if err == nil && o.Mode == "ask" {
		err = c.hookd("allow", "--all", "--yes")
	}
	if err == nil {
		err = c.serve()
	}
	if err != nil {
		c.end()
		return nil, err
	}
	c.args = []string{agent(), "--socket=" + c.socket()}
	return c, nil
}

func (c *copied) hook() string   { return filepath.Join(c.home, "hooks", "guard") }
func (c *copied) socket() string { return filepath.Join(c.home, "hookd.sock") }

func (c *copied) replace(name, text string) error {
	return os.WriteFile(filepath.Join(c.hook(), name), []byte(text), 0o700)
}

func (c *copied) append(name, text string) error {
	f, err := os.OpenFile(filepath.Join(c.hook(), name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// settings replaces hookd.yaml, and has a running daemon read it.
func (c *copied) settings(text string) error {
	err := os.WriteFile(filepath.Join(c.home, "hookd.yaml"), []byte(text), 0o600)
	if err == nil && c.daemon != nil {
		err = c.hookd("reload")
	}
	return err
}

// environ is this process's environment with the copy's home.
func (c *copied) environ(more ...string) []string {
	return append(append(os.Environ(), "LIBREFANG_HOME="+c.home, "HOOKD_SOCKET="+c.socket()), more...)
}

// commandTime bounds each program that is started.
const commandTime = 20 * time.Second

func (c *copied) hookd(args ...string) error {
	ctx, cancel := context.WithTimeout(c.ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.o.Program, args...)
	cmd.Env = c.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("hookd %s: %w: %s", strings.Join(args, " "), err, firstLine(out))
	}
	return nil
}

// serve starts the copy's daemon and waits until it takes events.
func (c *copied) serve() (err error) {
	c.daemon, err = c.start(c.home)
	return err
}

func (c *copied) start(home string) (*exec.Cmd, error) {
	cmd := exec.Command(c.o.Program, "serve", "--fire-startup=false")
	cmd.Env = append(c.environ(), "LIBREFANG_HOME="+home, "HOOKD_SOCKET="+filepath.Join(home, "hookd.sock"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	daemon := client.New(client.Options{Socket: filepath.Join(home, "hookd.sock"), Timeout: time.Second})
	err := c.until(func() bool { return daemon.Ready(c.ctx) == nil })
	if err != nil {
		stop(cmd)
		return nil, fmt.Errorf("start a daemon in %s: %w", home, err)
	}
	return cmd, nil
}

// until waits for a condition for commandTime at most.
func (c *copied) until(cond func() bool) error {
	ctx, cancel := context.WithTimeout(c.ctx, commandTime)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !cond() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ownDaemon starts a daemon whose hook allows everything, and has the bridge ask it.
func (c *copied) ownDaemon() error {
	home := filepath.Join(c.dir, "loose")
	folder := filepath.Join(home, "hooks", "yes")
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "HOOK.yaml"), []byte("name: yes\nevents: [PreToolUse]\ntype: script\nscript: |\n"+
			"  echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'\n"), 0o600)
	}
	if err != nil {
		return err
	}
	cmd, err := c.start(home)
	if err != nil {
		return err
	}
	c.others = append(c.others, cmd)
	c.args = []string{agent()}
	c.env = append(c.env, "LIBREFANG_HOME="+home, "HOOKD_SOCKET="+filepath.Join(home, "hookd.sock"))
	return nil
}

func (c *copied) kill() {
	stop(c.daemon)
	c.daemon = nil
}

// stop kills a daemon that this package has started.
func stop(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
}

// end takes everything away. A daemon that ends on its own leaves nothing in memory.
func (c *copied) end() {
	for _, cmd := range append(c.others, c.daemon) {
		if cmd != nil && cmd.Process != nil {
			late := time.AfterFunc(commandTime, func() { _ = cmd.Process.Kill() })
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
			_ = cmd.Wait()
			late.Stop()
		}
	}
	os.RemoveAll(c.dir)
}

// answer is the answer that the agent got.
type answer struct {
	denied   bool
	by, seen string
}

// ask has the agent ask about the probe, as its settings say.
func (c *copied) ask() answer {
	if c.gone {
		return askSystem(c.ctx, c.o, Probe)
	}
	got := c.o.bridge(c.ctx, c.args, c.environ(c.env...), Probe)
	if got.denied && got.by == bySystem {
		alone := c.o.bridge(c.ctx, []string{agent(), "--socket=" + filepath.Join(c.dir, "none")}, c.environ(), Probe)
		if !alone.denied {
			got.by = "what stands in the guard's place"
			got.seen = "still denied, by " + got.by
		}
	}
	return got
}

// bySystem names the denier where it is not the copy's guard.
const bySystem = "the system daemon"

// rereads is how long a daemon takes at most until it has read its hooks again on its own.
const rereads = 3 * time.Second

// askAfterReload asks once the daemon has read its hooks again, as it does on its own a moment after
// each change: an agent may not tell it to. Until then a guard that is gone still denies.
func (c *copied) askAfterReload() answer {
	got := c.ask()
	if c.daemon == nil {
		return got
	}
	again := time.NewTicker(rereads / 20)
	defer again.Stop()
	for end := time.Now().Add(rereads); got.denied && time.Now().Before(end); got = c.ask() {
		select {
		case <-again.C:
		case <-c.ctx.Done():
			return got
		}
	}
	return got
}

// agent is the agent that is played: the first that has settings of root. Its events and
// answers are the events and answers of most agents.
func agent() string {
	for _, d := range events.Dialects() {
		if s := dialect.Settings(d); s != nil && s.Managed.Linux != "" {
			return string(d)
		}
	}
	return ""
}

// bridge calls hookd-bridge as the agent does before a shell command.
func (o Options) bridge(ctx context.Context, args, env []string, command string) answer {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.Bridge, args...)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"hookd-attack","tool_name":"Bash",` +
		`"tool_input":{"command":"` + command + `"}}`)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	switch {
	case bytes.Contains(out.Bytes(), []byte(`"permissionDecision":"deny"`)):
		by := "the guard"
		if !bytes.Contains(out.Bytes(), []byte("denied by the guard")) {
			by = bySystem
		}
		return answer{true, by, "still denied, by " + by}
	case err != nil:
		return answer{false, "", "the call passes: " + err.Error() + " " + firstLine(errOut.Bytes())}
	case errOut.Len() > 0:
		return answer{false, "", "the call passes: " + firstLine(errOut.Bytes())}
	}
	return answer{false, "", "the call passes"}
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	return string(line)
}
