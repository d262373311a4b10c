package shims

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// plugged is a node process that calls a plugin as its agent would.
type plugged struct {
	t     *testing.T
	stdin io.WriteCloser
	mu    sync.Mutex // guards what follows
	calls int
	wait  map[int]chan answer
}

type answer = map[string]any

// plug starts node with an agent's plugin, which talks to socket.
func plug(t *testing.T, agent, socket string, env ...string) *plugged {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIP-TOOL node: not installed, the plugins are not run")
	}
	cmd := exec.Command(node, filepath.Join(unpack(t, agent), agent+".mjs"))
	cmd.Env = append(append(os.Environ(), "HOOKD_SOCKET="+socket), env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &plugged{t: t, stdin: stdin, wait: map[int]chan answer{}}
	read := make(chan struct{})
	go func() { defer close(read); p.read(stdout) }()
	t.Cleanup(func() {
		stdin.Close() // and an idle connection does not keep it alive
		timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		defer timer.Stop()
		<-read
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("node: %v, stderr %q", err, stderr.String())
		}
	})
	return p
}

// unpack writes the plugin, as JavaScript, and its driver into a folder.
func unpack(t *testing.T, agent string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	p, ok := For(agent)
	if !ok {
		t.Fatalf("%s has no plugin", agent)
	}
	files := map[string][]byte{"shim.mjs": p.Files[0].Text}
	for _, name := range []string{agent + ".mjs", "serve.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (p *plugged) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			p.t.Errorf("node said %s", lines.Bytes())
			continue
		}
		if a["unhandled"] != nil || a["escaped"] != nil {
			p.t.Errorf("thrown into the agent: %v", a)
		}
		p.mu.Lock()
		ch := p.wait[int(a["id"].(float64))]
		p.mu.Unlock()
		if ch != nil {
			ch <- a
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ch := range p.wait {
		close(ch)
	}
	p.wait = nil
}

// begin starts a call; its answer comes on the channel.
func (p *plugged) begin(call string, args answer) <-chan answer {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wait == nil {
		p.t.Fatal("node has ended")
	}
	p.calls++
	line := answer{"id": p.calls, "call": call}
	for k, v := range args {
		line[k] = v
	}
	text, err := json.Marshal(line)
	if err != nil {
		p.t.Fatal(err)
	}
	ch := make(chan answer, 1)
	p.wait[p.calls] = ch
	if _, err := p.stdin.Write(append(text, '\n')); err != nil {
		p.t.Fatal(err)
	}
	return ch
}

// call makes a call and returns its answer, without the members that differ each time.
func (p *plugged) call(call string, args answer) answer {
	p.t.Helper()
	select {
	case a, ok := <-p.begin(call, args):
		if !ok {
			p.t.Fatal("node has ended")
		}
		delete(a, "id")
		delete(a, "took")
		return a
	case <-time.After(time.Minute):
		p.t.Fatalf("no answer to %s %v", call, args)
		return nil
	}
}

// wants compares an answer with JSON.
func (p *plugged) wants(call string, args answer, want string) {
	p.t.Helper()
	p.same(p.call(call, args), want)
}

// same compares the answer of a call with JSON.
func (p *plugged) same(a answer, want string) {
	p.t.Helper()
	got, err := json.Marshal(a)
	if err != nil {
		p.t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		p.t.Fatalf("%s: %v", want, err)
	}
	canonical, _ := json.Marshal(v)
	if string(got) != string(canonical) {
		p.t.Errorf("got  %s\nwant %s", got, canonical)
	}
}
