package fleettest

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// asServer is the variable by which a test's program is a server: its arguments, one a line.
const asServer = "FLEETTEST_SERVER"

// init makes the test's own program a server when Process has started it: the same server as
// the program nats-server with the same arguments.
func init() {
	args := os.Getenv(asServer)
	if args == "" {
		return
	}
	flags := flag.NewFlagSet("nats-server", flag.ExitOnError)
	opts, err := server.ConfigureOptions(flags, strings.Split(args, "\n"), nil, nil, nil)
	if err == nil {
		var s *server.Server
		if s, err = server.NewServer(opts); err == nil {
			s.ConfigureLogger()
			if err = server.Run(s); err == nil {
				s.WaitForShutdown()
				os.Exit(0)
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Process is a server that is a process of its own, on one file of settings for as long as
// the test runs. The test's program is the server.
type Process struct {
	t       testing.TB
	config  string
	monitor int // port
	url     string
	cmd     *exec.Cmd
	log     *os.File
	// Within is the beginning of the command that starts the server, such as that which enters
	// a network namespace; nil = none.
	Within []string
}

// NewProcess makes a server of a file of settings. Run starts it. url is where clients
// connect.
func NewProcess(t testing.TB, config, url string) *Process {
	t.Helper()
	log, err := os.Create(config + ".log")
	hooktest.Must(t, err)
	p := &Process{t: t, config: config, url: url, monitor: hooktest.FreePort(t), log: log}
	t.Cleanup(func() {
		p.Kill()
		log.Close()
		if t.Failed() {
			t.Log(p.Log())
		}
	})
	return p
}

// URL is where clients connect.
func (p *Process) URL() string { return p.url }

// Run starts the server and does not wait for it.
func (p *Process) Run() {
	p.t.Helper()
	self, err := os.Executable()
	hooktest.Must(p.t, err)
	command := append(slices.Clone(p.Within), self)
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=-c\n%s\n-m\n%d", asServer, p.config, p.monitor))
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	hooktest.Must(p.t, p.cmd.Start())
}

// Kill ends the server at once, as kill -9 does; its folder stays.
func (p *Process) Kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// Signal sends a signal to the server.
func (p *Process) Signal(s os.Signal) { hooktest.Must(p.t, p.cmd.Process.Signal(s)) }

// monitored is the address of a page about the server: it is where its clients connect.
func (p *Process) monitored(page string) string {
	host := "127.0.0.1"
	if u, err := url.Parse(p.url); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return fmt.Sprintf("http://%s:%d/%s", host, p.monitor, page)
}

// Healthy reports whether the server serves clients, and knows the leader of its cluster.
func (p *Process) Healthy() bool {
	answer, err := http.Get(p.monitored("healthz"))
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// Received returns how many bytes the server got since it started, of clients and of other
// servers; 0 while it does not answer.
func (p *Process) Received() int64 {
	answer, err := http.Get(p.monitored("varz"))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	var of server.Varz
	if json.NewDecoder(answer.Body).Decode(&of) != nil {
		return 0
	}
	return of.InBytes
}

// Log returns the log of the server.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log.Name())
	hooktest.Must(p.t, err)
	return string(text)
}

// Processes starts servers, and waits until all of them serve.
func Processes(t testing.TB, list ...*Process) {
	t.Helper()
	for _, p := range list {
		p.Run()
	}
	for _, p := range list {
		hooktest.Until(t, "a server serves", p.Healthy)
	}
}

// Cluster starts n servers that are one cluster, each a process of its own.
func Cluster(t testing.TB, n int) []*Process {
	t.Helper()
	ports, routes := make([]int, n), make([]string, n)
	for i := range ports {
		ports[i] = hooktest.FreePort(t)
		routes[i] = fmt.Sprintf("nats-route://127.0.0.1:%d", ports[i])
	}
	list := make([]*Process, n)
	for i := range list {
		dir, client := t.TempDir(), hooktest.FreePort(t)
		config := filepath.Join(dir, "nats.conf")
		hooktest.Write(t, config, fmt.Sprintf(`server_name: n%d
listen: "127.0.0.1:%d"
jetstream: { store_dir: %q, max_file_store: %d }
cluster: { name: fleet, listen: "127.0.0.1:%d", routes: [ %s ] }
`, i+1, client, dir, maxStore, ports[i], strings.Join(routes, ", ")), 0o600)
		list[i] = NewProcess(t, config, fmt.Sprintf("nats://127.0.0.1:%d", client))
	}
	Processes(t, list...)
	return list
}
