package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hookd/hookd/client"
)

// patience is how long anything may take that is not measured.
const patience = 60 * time.Second

// daemon is a hookd of its own on a home of its own.
type daemon struct {
	cmd    *exec.Cmd
	log    *bytes.Buffer
	home   string
	socket string
	client *client.Client
}

// hooks maps a folder's name to its HOOK.yaml.
type hooks map[string]string

// start starts a daemon with these hooks and settings (lines such as
// HOOKD_CGROUP=false) and returns when it is ready.
func (b *bench) start(h hooks, settings ...string) (*daemon, error) {
	d, err := b.home(h)
	if err != nil {
		return nil, err
	}
	return d, b.serve(d, settings)
}

// home makes a home with these hooks for a daemon that serve starts.
func (b *bench) home(h hooks) (*daemon, error) {
	b.homes++
	d := &daemon{home: filepath.Join(b.dir, fmt.Sprint("h", b.homes)), log: new(bytes.Buffer)}
	for name, text := range h {
		dir := filepath.Join(d.home, "hooks", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, "HOOK.yaml"), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// serve starts d on its home, which may have been used before.
func (b *bench) serve(d *daemon, settings []string) error {
	d.socket = filepath.Join(d.home, "hookd.sock")
	d.client = client.New(client.Options{Socket: d.socket, Timeout: patience})
	d.cmd = exec.Command(b.hookd, "serve")
	if b.profile != "" {
		data := filepath.Join(b.profile, fmt.Sprintf("perf-%d.data", b.homes))
		d.cmd = exec.Command("perf", "record", "-q", "-F", "499", "-g", "-o", data, "--", b.hookd, "serve")
	}
	d.cmd.Env = append(environment(), "LIBREFANG_HOME="+d.home, "HOOKD_LOG_LEVEL=error")
	d.cmd.Env = append(d.cmd.Env, settings...)
	d.cmd.Stderr = d.log
	if err := d.cmd.Start(); err != nil {
		return fmt.Errorf("start hookd: %w", err)
	}
	for begin := time.Now(); ; time.Sleep(200 * time.Microsecond) {
		if c, err := net.Dial("unix", d.socket); err == nil {
			c.Close()
			if info, err := d.info(); err == nil && info.Ready {
				return nil
			}
		}
		if time.Since(begin) > patience {
			d.stop()
			return fmt.Errorf("hookd is not ready:\n%s", d.log)
		}
	}
}

// environment is that of the daemon, and so of its hooks: small and the same
// everywhere, since each variable is paid for at each start of a process.
func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
}

// stop ends the daemon and removes its home.
func (d *daemon) stop() {
	d.halt()
	os.RemoveAll(d.home)
}

// kill is stop for a daemon whose hooks have no end.
func (d *daemon) kill() {
	syscall.Kill(d.pid(), syscall.SIGTERM) // the first asks it to wait for them
	d.stop()
}

func (d *daemon) halt() {
	d.cmd.Process.Signal(syscall.SIGTERM)
	if d.cmd.Args[0] == "perf" {
		syscall.Kill(d.pid(), syscall.SIGTERM)
	}
	timer := time.AfterFunc(patience, func() { d.cmd.Process.Kill() })
	defer timer.Stop()
	d.cmd.Wait()
}

// pid is hookd's own, which is not that of perf.
func (d *daemon) pid() int {
	if d.cmd.Args[0] != "perf" {
		return d.cmd.Process.Pid
	}
	info, _ := d.info()
	return info.PID
}

func (d *daemon) info() (client.DaemonInfo, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return d.client.Status(ctx)
}

// runs is how many runs the daemon has recorded.
func (d *daemon) runs() (int, error) {
	info, err := d.info()
	n := 0
	for _, v := range info.Runs {
		n += v
	}
	return n, err
}

// waitRuns returns when n runs are recorded. It asks seldom, since a question
// costs the daemon about as much as a run.
func (d *daemon) waitRuns(n int) error {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		got, err := d.runs()
		if err != nil || got >= n {
			return err
		}
		if time.Since(begin) > patience {
			return fmt.Errorf("%d of %d runs were recorded within %s", got, n, patience)
		}
	}
}

func (d *daemon) dial() (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: d.socket, Net: "unix"})
}

// line is one event as the line door takes it, size bytes long with its
// newline. data is the beginning of its payload, without braces.
func line(event, envelope, data string, size int) []byte {
	head := `{"event":"` + event + `",` + envelope + `"data":{` + data + `"text":"`
	pad := max(0, size-len(head)-len(`"}}`)-1)
	return []byte(head + strings.Repeat("x", pad) + `"}}` + "\n")
}

// yaml is a HOOK.yaml of a command for events of one name.
func yaml(name, event, command string, more ...string) string {
	text := fmt.Sprintf("name: %s\nevents: [%s]\ncommand: %s\nargs: []\n", name, strconv.Quote(event), command)
	return text + strings.Join(more, "")
}
