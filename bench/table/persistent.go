package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// worker is a persistent hook as a Go program has it: it reads each line with
// encoding/json and answers it, with one write for all that have come together.
func worker() error {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriterSize(os.Stdout, 1<<16)
	for {
		text, err := in.ReadSlice('\n')
		if err != nil {
			return nil
		}
		var event struct {
			EventID string `json:"event_id"`
		}
		if err := json.Unmarshal(text, &event); err != nil {
			return err
		}
		fmt.Fprintf(out, `{"event_id":%q}`+"\n", event.EventID)
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// workerHook is a HOOK.yaml for it.
func workerHook(event string) (string, error) {
	path, err := os.Executable()
	return fmt.Sprintf("name: worker\nevents: [%q]\ncommand: %s\nargs: [child, worker]\nmode: persistent\norder: parallel\n", event, path), err
}

func persistentEvents(b *bench) ([]row, error) {
	text, err := workerHook("bench:run")
	if err != nil {
		return nil, err
	}
	d, err := b.start(hooks{"worker": text})
	if err != nil {
		return nil, err
	}
	defer d.stop()
	program, err := b.noopGlibc()
	if err != nil {
		return nil, err
	}
	spawned, err := b.start(spawnHooks(program), "HOOKD_CGROUP=false")
	if err != nil {
		return nil, err
	}
	defer spawned.stop()
	s, err := contest(b.rounds, []contender{
		{"persistent", b.runsSample(d, 100_000)},
		{"spawned", b.runsSample(spawned, mostSpawned)},
	})
	if err != nil {
		return nil, err
	}
	alone, err := workerAlone()
	if err != nil {
		return nil, err
	}
	return []row{
		{
			what:   "events per second through one persistent hook (Go child), answered, not stored: the pipe to it alone",
			checks: []check{atLeast("≥ 300,000", 300_000, alone, "%.0f")},
			beside: "go test ./persistent -run '^$' -bench Submit",
		},
		{
			what: "the same, durable and each with a run record, socket to recorded run",
			checks: []check{
				atLeast("≥ 50,000", 50_000, s.median("persistent"), "%.0f"),
				atLeast("≥ 40 × spawned", 40, s.ratio("persistent", "spawned"), "%.1f ×"),
			},
			beside: "spawned, static no-op with glibc " + count(s.median("spawned")),
		},
	}, nil
}

// workerAlone runs the benchmark of the worker in this process: lines a second.
func workerAlone() (float64, error) {
	out, err := exec.Command("go", "test", "./persistent",
		"-run", "^$", "-bench", "^BenchmarkSubmit$", "-benchtime", "300000x").CombinedOutput()
	m := regexp.MustCompile(`([0-9.e+]+) events/s`).FindSubmatch(out)
	if err != nil || m == nil {
		return 0, fmt.Errorf("go test ./persistent: %w\n%s", err, out)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// verdictPersistent asks a persistent guard, as fast as it answers and 100
// times a second, and a bare relay to the same program.
func verdictPersistent(b *bench) ([]row, error) {
	_, a, stop, err := b.askingWorker()
	if err != nil {
		return nil, err
	}
	defer stop()
	socket, stop, err := b.listening("relay")
	if err != nil {
		return nil, err
	}
	defer stop()
	c, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	bare := newAsking(c, guard())
	sides := map[string]func() (time.Duration, error){
		"hookd": func() (time.Duration, error) { return a.ask(ranOK) },
		"relay": func() (time.Duration, error) { return bare.ask(`"event_id"`) },
	}
	closed, paced := samples{}, samples{}
	for range b.rounds {
		for name, ask := range sides {
			for begin := time.Now(); time.Since(begin) < b.sample; {
				took, err := ask()
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				closed[name] = append(closed[name], float64(took.Nanoseconds())/1000)
			}
		}
	}
	for name, ask := range sides { // one after the other: what goes on beside it would keep a side awake
		got, err := b.paced(map[string]func() (time.Duration, error){name: ask})
		if err != nil {
			return nil, err
		}
		paced[name] = got[name]
	}
	rows := []row{{what: "verdict by a persistent hook (Go child), client to client, closed loop"}, {what: "the same at 100 a second"}}
	for i, took := range []samples{closed, paced} {
		over := func(q float64) float64 { return quantile(took["hookd"], q) / quantile(took["relay"], q) }
		rows[i].checks = []check{
			atMost("p50 ≤ 1.2 × a bare relay to the same program", 1.2, over(0.5), "%.2f ×"),
			atMost("p99 ≤ 2 × that relay", 2, over(0.99), "%.2f ×"),
		}
		rows[i].beside = fmt.Sprintf("p50 / p99 in µs: hookd %s, relay %s", both(took["hookd"]), both(took["relay"]))
	}
	return rows, nil
}

// bridgeVerdict is one PreToolUse of Claude Code, from the start of the program that it
// calls to the end, against programs that do less or do it otherwise.
func bridgeVerdict(b *bench) ([]row, error) {
	text, err := workerHook("PreToolUse")
	if err != nil {
		return nil, err
	}
	d, err := b.start(hooks{"worker": text})
	if err != nil {
		return nil, err
	}
	defer d.stop()
	dial, err := b.dialer()
	if err != nil {
		return nil, err
	}
	payload := `{"session_id":"s1","transcript_path":"/tmp/t.jsonl","cwd":"/tmp","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -l","description":"list"},"tool_use_id":"t1"}`
	stdin := filepath.Join(b.dir, "pretooluse.json")
	if err := os.WriteFile(stdin, []byte(payload), 0o600); err != nil {
		return nil, err
	}
	list := []contender{
		process("bridge", d, stdin, b.bridge, "claude-code"),
		process("dial", d, "", dial, d.socket, `{"event":"PreToolUse","dialect":"claude-code","wait":true,"data":`+payload+"}\n"),
	}
	for _, f := range forwarders {
		if f.there() {
			list = append(list, process(f.name, d, stdin, f.command...))
		}
	}
	s, err := contest(b.starts(), list)
	if err != nil {
		return nil, err
	}
	r := row{
		what:   "one PreToolUse through the bridge with a persistent hook, start to end of the process",
		checks: []check{atMost("≤ 1.5 × that program, waiting for the same verdict", 1.5, s.ratio("bridge", "dial"), "%.2f ×")},
		beside: fmt.Sprintf("bridge %.2f ms, that program %.2f ms", s.median("bridge"), s.median("dial")),
	}
	for _, f := range forwarders {
		if s[f.name] != nil {
			r.checks = append(r.checks, info("faster than "+f.name, fmt.Sprintf("%.1f ×", s.ratio(f.name, "bridge"))))
			r.beside += fmt.Sprintf(", %s %.1f ms", f.name, s.median(f.name))
		}
	}
	return []row{r}, nil
}

// forwarder is a program that people write instead of a bridge.
type forwarder struct {
	name    string
	needs   []string
	command []string
}

var forwarders = []forwarder{
	{"bash, jq and socat", []string{"bash", "jq", "socat"}, []string{"bash", "-c",
		`jq -c '{event:.hook_event_name,dialect:"claude-code",wait:true,data:.}' | socat -t 5 - "UNIX-CONNECT:$SOCKET" | jq -e '.verdict.allowed' >/dev/null`}},
	{"Python", []string{"python3"}, []string{"python3", "-c", `
import json, os, socket, sys
data = json.load(sys.stdin)
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["SOCKET"])
event = {"event": data["hook_event_name"], "dialect": "claude-code", "wait": True, "data": data}
s.sendall(json.dumps(event).encode() + b"\n")
answer = json.loads(s.makefile().readline())
sys.exit(0 if answer["verdict"]["allowed"] else 2)
`}},
}

func (f forwarder) there() bool {
	for _, name := range f.needs {
		if _, err := exec.LookPath(name); err != nil {
			return false
		}
	}
	return true
}

// askingWorker starts a daemon with a persistent guard, and connects to ask it.
func (b *bench) askingWorker() (d *daemon, a *asking, stop func(), err error) {
	text, err := workerHook("pre_tool_use")
	if err != nil {
		return nil, nil, nil, err
	}
	if d, err = b.start(hooks{"worker": text}); err != nil {
		return nil, nil, nil, err
	}
	if a, err = d.asking(guard()); err != nil {
		d.stop()
		return nil, nil, nil, err
	}
	return d, a, func() { a.conn.Close(); d.stop() }, nil
}
