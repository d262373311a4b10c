// Package bridge measures one PreToolUse round trip of an agent's hook command, from
// the start of the process to its end, through hookd-bridge and through the scripts
// that people write for it: all in turn in one run, against one hookd without a hook
// that matches, so that the way there and back is all that there is.
//
//	go test ./bridge -run '^$' -bench . -benchtime 100x
package bridge

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const payload = `{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"go test ./...","description":"run the tests"},"tool_use_id":"t"}` + "\n"

// The scripts act as the bridge does in the plainest case: they wrap the payload, wait
// for the verdict, and print a denial if it is one.
const (
	wrap = `jq -c '{event:.hook_event_name,dialect:"claude-code",session_id:.session_id,cwd:.cwd,wait:true,data:.}'`
	tell = `jq -c 'select(.verdict.allowed==false)|{hookSpecificOutput:{hookEventName:"PreToolUse",permissionDecision:"deny",permissionDecisionReason:.verdict.message}}'`

	withCurl  = "#!/bin/bash\nset -euo pipefail\n" + wrap + ` | curl -s --unix-socket "$SOCKET" -H 'Content-Type: application/json' --data-binary @- http://localhost/v1/events | ` + tell + "\n"
	withSocat = "#!/bin/bash\nset -euo pipefail\n" + wrap + ` | socat -t 60 - "UNIX-CONNECT:$SOCKET" | ` + tell + "\n"
	inPython  = `import json, os, socket, sys
data = json.load(sys.stdin)
event = {"event": data["hook_event_name"], "dialect": "claude-code", "session_id": data["session_id"], "cwd": data["cwd"], "wait": True, "data": data}
with socket.socket(socket.AF_UNIX) as s:
    s.connect(os.environ["SOCKET"])
    s.sendall(json.dumps(event).encode() + b"\n")
    verdict = json.loads(s.makefile().readline())["verdict"]
if not verdict["allowed"]:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": verdict["message"]}}))
`
)

// way is one way from an agent to hookd and back.
type way struct {
	name string
	args []string
	took []float64 // ms
}

func BenchmarkPreToolUse(b *testing.B) {
	dir, err := os.MkdirTemp("/tmp", "hbb")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"github.com/hookd/hookd/cmd/hookd", "github.com/hookd/hookd/cmd/hookd-bridge", "github.com/hookd/hookd/bench/dial"} {
		build(b, dir, name)
	}
	socket := serve(b, dir)
	line := fmt.Sprintf(`{"event":"PreToolUse","dialect":"claude-code","wait":true,"data":%s}`+"\n", strings.TrimSpace(payload))
	ways := []*way{
		{name: "bridge", args: []string{filepath.Join(dir, "hookd-bridge"), "claude-code", "--socket=" + socket}},
		{name: "dial-in-go", args: []string{filepath.Join(dir, "dial"), socket, line}},
	}
	ways = append(ways, scripts(b, dir)...)
	for b.Loop() {
		for _, w := range ways {
			w.took = append(w.took, run(b, w, socket))
		}
	}
	bridge := median(ways[0].took)
	for _, w := range ways {
		b.ReportMetric(median(w.took), "ms-"+w.name)
		b.ReportMetric(median(w.took)/bridge, "x-bridge-"+w.name)
	}
}

func build(b *testing.B, dir, name string) {
	b.Helper()
	flags := "-s -w"
	if filepath.Base(name) == "hookd-bridge" {
		flag, err := exec.Command("sh", "../../packaging/entry.sh").Output()
		if err != nil {
			b.Fatal("packaging/entry.sh: ", err)
		}
		flags += " " + strings.TrimSpace(string(flag))
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", flags, "-o", dir+"/", name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", name, err, out)
	}
}

// serve runs a hookd without hooks and returns its socket.
func serve(b *testing.B, dir string) (socket string) {
	b.Helper()
	socket = filepath.Join(dir, "hookd.sock")
	cmd := exec.Command(filepath.Join(dir, "hookd"), "serve")
	cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+dir)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		status := exec.Command(filepath.Join(dir, "hookd"), "status")
		status.Env = cmd.Env
		if status.Run() == nil {
			return socket
		}
	}
	b.Fatal("hookd does not serve")
	return ""
}

// scripts are the ways whose tools are installed.
func scripts(b *testing.B, dir string) (ways []*way) {
	b.Helper()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			b.Fatal(err)
		}
		return path
	}
	if has(b, "bash", "jq", "curl") {
		ways = append(ways, &way{name: "bash-jq-curl", args: []string{"/bin/bash", write("curl.sh", withCurl)}})
	}
	if has(b, "bash", "jq", "socat") {
		ways = append(ways, &way{name: "bash-jq-socat", args: []string{"/bin/bash", write("socat.sh", withSocat)}})
	}
	if has(b, "python3") {
		// the interpreter itself, not a script that a version manager has put before it
		python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
		if err != nil {
			b.Fatal(err)
		}
		ways = append(ways, &way{name: "python", args: []string{strings.TrimSpace(string(python)), write("script.py", inPython)}})
	}
	return ways
}

func has(b *testing.B, tools ...string) bool {
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			b.Logf("SKIP-TOOL %s: not installed, its line is left out", tool)
			return false
		}
	}
	return true
}

// run makes one round trip and returns the milliseconds that it took. No hook
// matches, so nothing may be printed but by the program that prints the answer.
func run(b *testing.B, w *way, socket string) float64 {
	b.Helper()
	cmd := exec.Command(w.args[0], w.args[1:]...)
	cmd.Env = append(os.Environ(), "SOCKET="+socket)
	cmd.Stdin = strings.NewReader(payload)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	took := float64(time.Since(start).Microseconds()) / 1000
	if answered := strings.Contains(out.String(), `"allowed":true`); err != nil || errs.Len() > 0 || answered != (w.name == "dial-in-go") || !answered && out.Len() > 0 {
		b.Fatalf("%s: %v, printed %q, stderr %q", w.name, err, out.String(), errs.String())
	}
	return took
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}
