package persistent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/daemon"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/run/worker"
)

// The test binary is its own hook: it reads each line with encoding/json and
// answers, with one write for all lines that have come together.
const hookVar = "PERSISTENT_BENCH_HOOK"

func TestMain(m *testing.M) {
	if os.Getenv(hookVar) == "" {
		os.Exit(m.Run())
	}
	in, out := bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriterSize(os.Stdout, 1<<16)
	for {
		line, err := in.ReadSlice('\n')
		if err == io.EOF {
			os.Exit(0)
		}
		var event struct {
			EventID string `json:"event_id"`
		}
		if err != nil || json.Unmarshal(line, &event) != nil {
			os.Exit(1)
		}
		out.WriteString(`{"event_id":"`)
		out.WriteString(event.EventID)
		out.WriteString("\"}\n")
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

const payload = `{"session_id":"4f1c9d0e","agent_id":"a-17","tool_name":"shell","tool_input":{"command":"go test ./...","timeout":30},"duration_ms":412,"hook_event_name":"agent:step","cwd":"/home/user/project","timestamp":"2026-01-01T00:00:00Z","event_id":"%s"}`

func pool(b *testing.B) *worker.Pool {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	runner := proc.New(proc.Options{})
	set := worker.New(worker.Options{Proc: runner})
	b.Cleanup(func() { set.Close(context.Background()); runner.Close() })
	return set.Pool(worker.Key{ID: "bench"}, func() worker.Startup {
		return worker.Startup{Name: "bench", Start: func(func(string)) (worker.Start, error) {
			return worker.Start{Spec: proc.Spec{Path: exe, Env: append(os.Environ(), hookVar+"=1")}}, nil
		}}
	})
}

func call(i int) *worker.Request {
	id := fmt.Sprintf("01BENCH%019d", i)
	return &worker.Request{ID: id, Line: fmt.Appendf(nil, payload+"\n", id), Timeout: time.Minute}
}

// The same lines through a bare pipe, all written while all are read: the limit of the
// machine and the hook.
func BenchmarkPipe(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), hookVar+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	go func() {
		w := bufio.NewWriterSize(in, 1<<16)
		for i := range b.N {
			fmt.Fprintf(w, payload+"\n", fmt.Sprintf("01BENCH%019d", i))
		}
		w.Flush()
		in.Close()
	}()
	n := 0
	for lines := bufio.NewReaderSize(out, 1<<16); ; n++ {
		if _, err := lines.ReadSlice('\n'); err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil || n != b.N {
		b.Fatalf("got %d answers of %d, %v", n, b.N, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// Lines of observers through one copy, the package alone.
func BenchmarkSubmit(b *testing.B) {
	p := pool(b)
	calls := make([]*worker.Request, b.N)
	var all sync.WaitGroup
	all.Add(b.N)
	for i := range calls {
		calls[i] = call(i)
		calls[i].Done = func(a worker.Response) {
			if a.Failure != "" || a.Err != nil {
				b.Error(a.Failure, a.Err)
			}
			all.Done()
		}
	}
	warm := call(b.N)
	p.Ask(context.Background(), warm)
	b.ReportAllocs()
	b.ResetTimer()
	for _, c := range calls {
		p.Submit(c)
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// One line after another, each waited for, the package alone.
func BenchmarkAsk(b *testing.B) {
	p := pool(b)
	p.Ask(context.Background(), call(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var times []time.Duration
	for i := range b.N {
		c := call(i)
		start := time.Now()
		if a := p.Ask(context.Background(), c); a.Failure != "" || a.Err != nil {
			b.Fatal(a.Failure, a.Err)
		}
		times = append(times, time.Since(start))
	}
	percentiles(b, times)
}

func percentiles(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "p99-µs")
}

// house runs a daemon in this process, with one persistent hook.
func house(b *testing.B, events string) *client.Client {
	home, err := os.MkdirTemp("/tmp", "hookd")
	if err != nil {
		b.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(home, "hooks", "kept")
	yaml := fmt.Sprintf("name: kept\nevents: [%s]\ncommand: %s\nargs: []\nmode: persistent\nenv: {%s: \"1\"}\n", events, exe, hookVar)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "HOOK.yaml"), []byte(yaml), 0o644); err != nil {
		b.Fatal(err)
	}
	c := config.Default(home)
	c.FireStartup = false
	d, err := daemon.New(daemon.Options{Config: c, Version: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-ended; os.RemoveAll(home) })
	cl := client.New(client.Options{Socket: c.Socket})
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		if s, err := cl.Status(ctx); err == nil && s.Ready {
			return cl
		}
	}
}

func dial(b *testing.B, cl *client.Client) net.Conn {
	conn, err := net.Dial("unix", cl.Socket())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return conn
}

// Events of observers from a client, through the daemon and the hook, each with
// a run on record.
func BenchmarkObserve(b *testing.B) {
	cl := house(b, "'agent:step'")
	conn := dial(b, cl)
	line := []byte(`{"event":"agent:step","data":{"session_id":"4f1c9d0e","agent_id":"a-17","step":3,"tool":"shell","text":"go test ./... passed in 412 ms"}}` + "\n")
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		out := bufio.NewWriterSize(conn, 1<<16)
		for range b.N {
			out.Write(line)
		}
		out.Flush()
	}()
	in := bufio.NewReaderSize(conn, 1<<16)
	for range b.N {
		answer, err := in.ReadSlice('\n')
		if err != nil || !bytes.Contains(answer, []byte(`"ok":true`)) {
			b.Fatalf("got %s, %v", answer, err)
		}
	}
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		h, err := cl.Hook(context.Background(), "kept")
		if err != nil {
			b.Fatal(err)
		}
		if h.Counts["ok"] >= b.N {
			break
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// A verdict from client to client, closed loop, through the whole daemon.
func BenchmarkVerdict(b *testing.B) {
	cl := house(b, "pre_tool_use")
	conn := dial(b, cl)
	line := []byte(`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell","tool_input":{"command":"go test ./..."}}}` + "\n")
	in := bufio.NewReader(conn)
	ask := func() time.Duration {
		start := time.Now()
		if _, err := conn.Write(line); err != nil {
			b.Fatal(err)
		}
		answer, err := in.ReadSlice('\n')
		if err != nil || !strings.Contains(string(answer), `"result":"ok"`) {
			b.Fatalf("got %s, %v", answer, err)
		}
		return time.Since(start)
	}
	ask()
	b.ReportAllocs()
	b.ResetTimer()
	var times []time.Duration
	for range b.N {
		times = append(times, ask())
	}
	percentiles(b, times)
}
