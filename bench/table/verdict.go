package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"time"
)

const (
	pace    = 10 * time.Millisecond // 100 a second
	minimum = 300                   // samples that a 99th percentile needs
)

// asking is a connection that sends one event at a time and waits for its answer.
type asking struct {
	conn net.Conn
	in   *bufio.Reader
	line []byte
}

func (d *daemon) asking(line []byte) (*asking, error) {
	c, err := d.dial()
	if err != nil {
		return nil, err
	}
	return newAsking(c, line), nil
}

func newAsking(c net.Conn, line []byte) *asking {
	return &asking{c, bufio.NewReaderSize(c, 64<<10), line}
}

// ask returns how long one answer took. want must be in it.
func (a *asking) ask(want string) (time.Duration, error) {
	begin := time.Now()
	if _, err := a.conn.Write(a.line); err != nil {
		return 0, err
	}
	answer, err := a.in.ReadSlice('\n')
	took := time.Since(begin)
	if err == nil && !bytes.Contains(answer, []byte(want)) {
		err = fmt.Errorf("answer %s", answer)
	}
	return took, err
}

// guard is a line that asks for a verdict on a tool call.
func guard() []byte {
	return line("pre_tool_use", `"wait":true,"session_id":"s1","cwd":"/tmp",`, `"tool_name":"shell","tool_use_id":"t1","tool_input":{"cmd":"ls"},`, 300)
}

const ranOK = `"result":"ok"`

func verdictSpawned(b *bench) (rows []row, err error) {
	for _, no := range []struct {
		what  string
		build func() (string, error)
	}{{"static no-op with glibc", b.noopGlibc}, {"no-op without libc", b.noopBare}} {
		program, err := no.build()
		if err != nil {
			return rows, err
		}
		r, err := b.verdictOf(program)
		if err != nil {
			return rows, err
		}
		r.what += no.what
		rows = append(rows, r)
	}
	return rows, nil
}

// verdictOf asks the daemon, os/exec in one process and C in turn, 100 times a
// second each.
func (b *bench) verdictOf(program string) (r row, err error) {
	d, err := b.start(hooks{"guard": yaml("guard", "pre_tool_use", program)}, "HOOKD_CGROUP=false")
	if err != nil {
		return r, err
	}
	defer d.stop()
	a, err := d.asking(guard())
	if err != nil {
		return r, err
	}
	defer a.conn.Close()
	path, args, err := self("exec-ask", program)
	if err != nil {
		return r, err
	}
	exec, err := newAsker(path, args...)
	if err != nil {
		return r, err
	}
	defer exec.stop()
	spawner, err := b.spawner()
	if err != nil {
		return r, err
	}
	c, err := newAsker(spawner, "ask", program)
	if err != nil {
		return r, err
	}
	defer c.stop()
	took, err := b.paced(map[string]func() (time.Duration, error){
		"hookd": func() (time.Duration, error) { return a.ask(ranOK) }, "exec": exec.ask, "C": c.ask,
	})
	if err != nil {
		return r, err
	}
	added := func(q float64, over string) float64 { return quantile(took["hookd"], q) - quantile(took[over], q) }
	return row{
		what: "time that hookd adds to one verdict at 100 a second, spawned, process groups only, ",
		checks: []check{
			atMost("p50 ≤ 220 µs over os/exec", 220, added(0.5, "exec"), "%.0f µs"),
			atMost("p50 ≤ 300 µs over C", 300, added(0.5, "C"), "%.0f µs"),
			atMost("p99 ≤ 1,000 µs over os/exec", 1000, added(0.99, "exec"), "%.0f µs"),
		},
		beside: fmt.Sprintf("p50 / p99 in µs: hookd %s, os/exec %s, C %s",
			both(took["hookd"]), both(took["exec"]), both(took["C"])),
	}, nil
}

func both(list []float64) string {
	return fmt.Sprintf("%.0f / %.0f", quantile(list, 0.5), quantile(list, 0.99))
}

// paced calls each side once every 10 ms, evenly apart, and returns µs.
func (b *bench) paced(sides map[string]func() (time.Duration, error)) (samples, error) {
	got := samples{}
	ticker := time.NewTicker(pace / time.Duration(len(sides)))
	defer ticker.Stop()
	for range max(minimum, int(float64(b.rounds)*b.sample.Seconds()*100)) {
		for name, ask := range sides {
			<-ticker.C
			took, err := ask()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			got[name] = append(got[name], float64(took.Nanoseconds())/1000)
		}
	}
	return got, nil
}
