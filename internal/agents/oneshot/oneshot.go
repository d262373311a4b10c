// Package oneshot runs one command under a daemon of its own, for CI and containers: it
// starts the daemon, connects agents for as long as the command runs, passes signals on,
// and takes everything back.
//
// It promises: agents' settings are byte for byte as they were when the command has ended,
// however it ended; after a kill of this process itself the next Begin puts them back. No
// process of hookd and no file is left. One command at a time has the agents of a user.
//
// It blocks as long as the command runs. Processes that the command has started and left running
// are the command's own.
package oneshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// prefix begins the name of a scratch home.
const prefix = "hookd-run-"

// maxTemp is how long the folder for scratch homes may be: a socket's path is short.
const maxTemp = 60

// Command is one command and its daemon. Begin makes one; End must follow.
type Command struct {
	Home   string // a scratch home
	Socket string

	lock    *os.File
	agents  *os.File // the lock of the user's agents; nil = none are connected
	daemon  *exec.Cmd
	ended   chan struct{} // closed when the daemon has
	changed []restored
}

// restored is one settings file as it was, and as it is for the run.
type restored struct {
	Agent  string         `json:"agent"`
	Change connect.Change `json:"change"`
	Dirs   []string       `json:"dirs"` // that were made for it, the innermost first
	Before *before        `json:"before,omitempty"`
}

// before is how an agent was connected before the run.
type before struct {
	Bridge, Socket string
	FailClosed     bool
}

// Begin makes a scratch home, after it has put back the settings of a run that was killed.
func Begin() (*Command, error) {
	temp := os.TempDir()
	if len(temp) > maxTemp {
		temp = "/tmp"
	}
	recoverAll(temp)
	home, err := os.MkdirTemp(temp, prefix+"*")
	if err != nil {
		return nil, err
	}
	r := &Command{Home: home, Socket: filepath.Join(home, "hookd.sock")}
	if r.lock, err = lockFolder(home); err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	return r, nil
}

// lockFolder locks a folder to this process: nothing is written there.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// recoverAll puts back the settings of runs that were killed.
func recoverAll(temp string) {
	left, _ := filepath.Glob(filepath.Join(temp, prefix+"*")) // the pattern is right
	for _, home := range left {
		info, err := os.Lstat(home)
		if err != nil || !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Getuid() {
			continue
		}
		lock, err := lockFolder(home)
		if err != nil {
			continue // it runs
		}
		r := &Command{Home: home}
		text, err := readfile.Read(r.journal(), 64<<20)
		if err == nil {
			err = json.Unmarshal(text, &r.changed)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			if r.restore() == nil {
				_ = os.RemoveAll(home) // the next run tries again
			}
		}
		lock.Close()
	}
}

func (r *Command) journal() string { return filepath.Join(r.Home, "restore.json") }

// ErrEnded is the error of a daemon that ends before it is ready; its log says why.
var ErrEnded = errors.New("the daemon ended before it was ready")

// Start starts `PROGRAM serve` with flags and returns when it is ready.
func (r *Command) Start(ctx context.Context, program string, flags []string) error {
	log, err := os.OpenFile(r.LogFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	r.daemon = exec.Command(program, append([]string{"serve"}, flags...)...)
	r.daemon.Dir, r.daemon.Stdout, r.daemon.Stderr = r.Home, log, log
	r.daemon.Env = append(os.Environ(), "LIBREFANG_HOME="+r.Home)
	r.daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a terminal's signals are for the command
	endWithParent(r.daemon.SysProcAttr)
	if err := r.daemon.Start(); err != nil {
		return err
	}
	r.ended = make(chan struct{})
	go func() {
		defer close(r.ended)
		_ = r.daemon.Wait() // its log says why it ended
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if st, err := r.Client().Status(ctx); err == nil && st.Ready {
			return nil
		}
		select {
		case <-r.ended:
			return ErrEnded
		case <-ctx.Done():
			return fmt.Errorf("wait for the daemon: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// Client talks to the daemon of the run.
func (r *Command) Client() *client.Client { return client.New(client.Options{Socket: r.Socket}) }

// LogFile is where the daemon logs to.
func (r *Command) LogFile() string { return filepath.Join(r.Home, "hookd.log") }

// ErrBusy is the error of Connect while another run has the agents of this user.
var ErrBusy = errors.New("another `hookd run` has the agents of this user")

// Connect connects the agents that are found on this machine and returns their names. An
// agent whose settings cannot be edited is in the error; the others are connected.
func (r *Command) Connect(bridge string, failClosed bool) (names []string, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	if r.agents, err = lockFolder(home); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, err
	}
	for _, found := range connect.FindAgents(connect.Options{}) {
		o := connect.Options{Agent: found.Agent, Bridge: bridge, Socket: r.Socket, FailClosed: &failClosed}
		if bad := r.connect(o); bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		names = append(names, found.Agent)
	}
	return names, err
}

// connect writes down how to take a plan back, then applies it.
func (r *Command) connect(o connect.Options) error {
	var was *before
	if st := connect.Inspect(connect.Options{Agent: o.Agent}); len(st.Events) > 0 {
		was = &before{st.Bridge, st.Socket, st.FailClosed}
	}
	plan, err := connect.Connect(o)
	if err != nil {
		return err
	}
	for _, c := range plan.Changes {
		r.changed = append(r.changed, restored{o.Agent, c, missingDirs(c.Path), was})
	}
	text, err := json.Marshal(r.changed)
	if err == nil {
		err = replacefile.Write(r.journal(), text)
	}
	if err != nil {
		return err
	}
	return plan.Apply()
}

// missingDirs are the folders above path that are not there.
func missingDirs(path string) (list []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return list
		}
		list = append(list, dir)
	}
}

// restore puts the settings back, the last change first.
func (r *Command) restore() (err error) {
	for i := len(r.changed) - 1; i >= 0; i-- {
		c := r.changed[i]
		if bad := c.restore(); bad != nil {
			err = errors.Join(err, fmt.Errorf("put back %s: %w", c.Change.Path, bad))
		}
	}
	if err == nil {
		r.changed = nil
	}
	return err
}

// restore puts one file back. Text that the agent has written there meanwhile stays: then only
// the added text is taken out.
func (x restored) restore() error {
	c := x.Change
	now, err := readfile.Read(c.Path, 16<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := err == nil
	switch {
	case there == !c.New && (!there || string(now) == string(c.Before)): // it was never written, or is back already
	case there && string(now) != string(c.After):
		if err := x.cutOut(); err != nil {
			return err
		}
	case c.New:
		if err := os.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	default:
		if err := rewrite(c); err != nil {
			return err
		}
	}
	if c.Backup != "" {
		if err := os.Remove(c.Backup); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, dir := range x.Dirs {
		_ = os.Remove(dir) // what the agent has put in it stays
	}
	return nil
}

// rewrite writes the file in place of the run's file, with its mode.
func rewrite(c connect.Change) error {
	info, err := os.Stat(c.Path)
	mode := c.Mode
	if err == nil {
		mode = info.Mode().Perm()
	}
	if err := replacefile.Write(c.Path, c.Before); err != nil {
		return err
	}
	return os.Chmod(c.Path, mode)
}

// cutOut takes hookd's calls out of settings that the agent has changed, and puts back
// the calls that were there before the run.
func (x restored) cutOut() error {
	plan, err := connect.Disconnect(connect.Options{Agent: x.Agent})
	if err == nil {
		err = plan.Apply()
	}
	if err != nil || x.Before == nil {
		return err
	}
	b := x.Before
	o := connect.Options{Agent: x.Agent, Bridge: b.Bridge, Socket: b.Socket, FailClosed: &b.FailClosed}
	plan, err = connect.Connect(o)
	if err == nil {
		err = plan.Apply()
	}
	return err
}

// Exit is how the command ended.
type Exit struct {
	Code   int  // 128 and the number of the signal that ended it
	Orphan bool // the daemon ended before it
}

// Command runs the command with the terminal and the environment of this process, passes
// signals on, and returns when it has ended. When the daemon ends first, the command is
// asked to end if failClosed.
func (r *Command) Command(argv []string, failClosed, terminal bool) (x Exit, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "HOOKD_SOCKET="+r.Socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	endWithParent(cmd.SysProcAttr)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return x, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	daemon := r.ended
	for {
		select {
		case s := <-signals:
			if terminal && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
				continue // the terminal has sent it to the command
			}
			_ = cmd.Process.Signal(s) // it may have ended
		case <-daemon:
			x.Orphan, daemon = true, nil
			if failClosed {
				_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
			}
		case err := <-ended:
			x.Code, err = codeOf(cmd, err)
			return x, err
		}
	}
}

func codeOf(cmd *exec.Cmd, err error) (int, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// stopTime is how long the daemon may take to end; its hooks have 10 s within that time.
const stopTime = 15 * time.Second

// End puts the agents' settings back, ends the daemon and removes the scratch home.
func (r *Command) End() error {
	err := r.restore()
	if r.ended != nil {
		_ = r.daemon.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-r.ended:
		case <-time.After(stopTime):
			_ = r.daemon.Process.Kill()
			<-r.ended
		}
	}
	if err == nil { // else the next run tries again
		err = os.RemoveAll(r.Home)
	}
	if r.agents != nil {
		err = errors.Join(err, r.agents.Close())
	}
	return errors.Join(err, r.lock.Close())
}

// Log is the end of the daemon's log.
func (r *Command) Log() string {
	text, err := readfile.Read(r.LogFile(), 16<<20)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
