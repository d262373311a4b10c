package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// peer is another program that runs something when something happens.
type peer struct {
	name   string
	note   string // how it is used, where that is not plain
	err    error  // it cannot be had here
	sample func() (float64, error)
	stop   func()
}

// spawnPeers starts the peers that this machine has.
func (b *bench) spawnPeers(program string) []peer {
	return []peer{b.webhook(program), b.acpid(program), b.socat(program), b.watchman(program)}
}

// overPeers is how many times as fast as each of them the daemon is to be.
const overPeers = 1.2

func abovePeers(s samples, name string, peers []peer) check {
	best, most, there := "no peer is installed", 0.0, 0
	for _, p := range peers {
		if p.err != nil {
			continue
		}
		there++
		if v := s.median(p.name); v > most {
			best, most = p.name, v
		}
	}
	if there == 0 {
		return info("above every peer", best)
	}
	return check{
		target: fmt.Sprintf("≥ %.1f × the fastest peer", overPeers),
		got:    fmt.Sprintf("%.2f × %s, the fastest of %d", s.ratio(name, best), best, there),
		ok:     s.ratio(name, best) >= overPeers,
	}
}

func besidePeers(s samples, peers []peer) string {
	var list []string
	for _, p := range peers {
		text := p.name + " " + count(s.median(p.name)) + p.note
		if p.err != nil {
			text = p.name + ": " + p.err.Error()
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// launch starts a program that lives until stop is called.
func launch(name string, args ...string) (stop func(), err error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return func() {}, fmt.Errorf("not installed")
	}
	cmd := exec.Command(path, args...)
	cmd.Env = environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return func() {}, err
	}
	return func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	}, nil
}

// webhook answers each request once the program has ended.
func (b *bench) webhook(program string) (p peer) {
	p = peer{name: "webhook", stop: func() {}}
	const port = "39417"
	config := filepath.Join(b.dir, "webhook.json")
	text := fmt.Sprintf(`[{"id":"run","execute-command":%q,"include-command-output-in-response":true}]`, program)
	if p.err = os.WriteFile(config, []byte(text), 0o600); p.err != nil {
		return p
	}
	if p.stop, p.err = launch("webhook", "-hooks", config, "-ip", "127.0.0.1", "-port", port); p.err != nil {
		return p
	}
	p.err = until(func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	p.sample = func() (float64, error) {
		return b.closedLoop(16, func() error {
			r, err := web.Post("http://127.0.0.1:"+port+"/hooks/run", "application/json", bytes.NewReader([]byte(`{"a":1}`)))
			if err != nil {
				return err
			}
			defer r.Body.Close()
			if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != 200 {
				return fmt.Errorf("status %d, %w", r.StatusCode, err)
			}
			return nil
		})
	}
	return p
}

// closedLoop calls do from n goroutines for one sample: calls per second.
func (b *bench) closedLoop(n int, do func() error) (float64, error) {
	var wg sync.WaitGroup
	begin := time.Now()
	done, errs := make([]int, n), make([]error, n)
	for i := range n {
		wg.Go(func() {
			for time.Since(begin) < b.sample && errs[i] == nil {
				errs[i] = do()
				done[i]++
			}
		})
	}
	wg.Wait()
	sum := 0
	for i := range n {
		if errs[i] != nil {
			return 0, errs[i]
		}
		sum += done[i]
	}
	return float64(sum) / time.Since(begin).Seconds(), nil
}

// acpid runs one action after another, each through a shell, for lines of its
// event file.
func (b *bench) acpid(program string) (p peer) {
	p = peer{name: "acpid", stop: func() {}}
	dir := filepath.Join(b.dir, "acpid")
	events, done := filepath.Join(dir, "events"), filepath.Join(dir, "done")
	p.err = os.MkdirAll(filepath.Join(dir, "conf"), 0o700)
	for _, fifo := range []string{events, done} {
		if p.err == nil {
			p.err = syscall.Mkfifo(fifo, 0o600)
		}
	}
	for name, rule := range map[string]string{
		"run": "event=bench run.*\naction=" + program + "\n",
		"end": "event=bench end.*\naction=echo x >" + done + "\n",
	} {
		if p.err == nil {
			p.err = os.WriteFile(filepath.Join(dir, "conf", name), []byte(rule), 0o600)
		}
	}
	if p.err != nil {
		return p
	}
	in, err := os.OpenFile(events, os.O_RDWR, 0)
	if err != nil {
		p.err = err
		return p
	}
	kill, err := launch("acpid", "-f", "-S", "-c", filepath.Join(dir, "conf"), "-e", events,
		"-p", filepath.Join(dir, "pid"), "-L", filepath.Join(dir, "lock"))
	p.err, p.stop = err, func() { kill(); in.Close() }
	n := 200
	p.sample = func() (float64, error) {
		begin := time.Now()
		for range n {
			if _, err := in.WriteString("bench run 0 0\n"); err != nil {
				return 0, err
			}
		}
		if _, err := in.WriteString("bench end 0 0\n"); err != nil {
			return 0, err
		}
		if err := waitFor(done); err != nil {
			return 0, err
		}
		rate := float64(n) / time.Since(begin).Seconds()
		n = max(100, int(rate*b.sample.Seconds()))
		return rate, nil
	}
	return p
}

// waitFor reads one line from a FIFO.
func waitFor(fifo string) error {
	f, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	f.SetReadDeadline(time.Now().Add(patience))
	_, err = f.Read(make([]byte, 1))
	return err
}

// socat feeds a shell loop, as people write it.
func (b *bench) socat(program string) (p peer) {
	p = peer{name: "socat | while read", stop: func() {}}
	if _, err := exec.LookPath("socat"); err != nil {
		p.err = fmt.Errorf("not installed")
		return p
	}
	socket := filepath.Join(b.dir, "socat.sock")
	script := `socat -u UNIX-LISTEN:"$1" STDOUT | while IFS= read -r line; do printf '%s\n' "$line" | "$2"; done`
	event := line("bench:run", "", "", 266)
	n := 200
	p.sample = func() (float64, error) {
		os.Remove(socket)
		cmd := exec.Command("/bin/sh", "-c", script, "sh", socket, program)
		cmd.Env = environment()
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		var c net.Conn
		err := until(func() bool {
			var err error
			c, err = net.Dial("unix", socket)
			return err == nil
		})
		if err != nil {
			return 0, err
		}
		begin := time.Now()
		_, err = c.Write(bytes.Repeat(event, n))
		c.Close()
		if err := cmd.Wait(); err != nil {
			return 0, err
		}
		rate := float64(n) / time.Since(begin).Seconds()
		n = max(100, int(rate*b.sample.Seconds()))
		return rate, err
	}
	return p
}

// watchman runs a trigger when a file has changed, one after another: it
// waits for quiet before each.
func (b *bench) watchman(program string) (p peer) {
	p = peer{name: "watchman trigger", note: " (it waits 20 ms for quiet)", stop: func() {}}
	dir, done := filepath.Join(b.dir, "watched"), filepath.Join(b.dir, "triggered")
	socket, state := filepath.Join(b.dir, "watchman.sock"), filepath.Join(b.dir, "watchman.state")
	if p.err = os.MkdirAll(dir, 0o700); p.err != nil {
		return p
	}
	if p.err = os.WriteFile(filepath.Join(dir, "f0"), nil, 0o600); p.err != nil {
		return p
	}
	if p.err = syscall.Mkfifo(done, 0o600); p.err != nil {
		return p
	}
	p.stop, p.err = launch("watchman", "--foreground", "--sockname", socket,
		"--statefile", state, "--logfile", os.DevNull)
	if p.err != nil {
		return p
	}
	command := func(args ...string) error {
		args = append([]string{"--no-spawn", "--sockname", socket, "--statefile", state}, args...)
		return exec.Command("watchman", args...).Run()
	}
	p.err = until(func() bool { return command("watch", dir) == nil })
	if p.err == nil {
		p.err = command("--", "trigger", dir, "run", "*", "--", "/bin/sh", "-c", program+"; echo x >"+done)
	}
	if p.err == nil {
		p.err = waitFor(done) // it runs at once for the file that is there
	}
	i := 0
	p.sample = func() (float64, error) {
		begin, n := time.Now(), 0
		for ; time.Since(begin) < b.sample; n++ {
			i++
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i%10)), fmt.Append(nil, i), 0o600); err != nil {
				return 0, err
			}
			if err := waitFor(done); err != nil {
				return 0, err
			}
		}
		return float64(n) / time.Since(begin).Seconds(), nil
	}
	return p
}

// until waits for a condition.
func until(ok func() bool) error {
	for begin := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > patience {
			return fmt.Errorf("not ready within %s", patience)
		}
	}
	return nil
}
