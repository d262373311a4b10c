package sdk

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	files "github.com/hookd/hookd/sdk"
)

const line = `{"hook_event_name":"PreToolUse","event_id":"01BENCH","tool_name":"Bash","tool_input":{"command":"go test ./... | tail"}}` + "\n"

// hooks are pairs: a hook without the SDK, and one with it. Both look at the command.
var hooks = map[string]struct {
	program          string
	bare, kept, with string // texts
}{
	"python": {"python3", `import json
import sys
event = json.load(sys.stdin.buffer)
print("sudo" in event["tool_input"]["command"], file=sys.stderr)
`, `import json
import sys
for line in sys.stdin.buffer:
    event = json.loads(line)
    answer = {"event_id": event["event_id"]}
    if "sudo" in event["tool_input"]["command"]:
        answer["decision"] = "block"
    print(json.dumps(answer), flush=True)
`, `import hookd
def handle(event):
    for words in event.command:
        if words.program == "sudo":
            return hookd.deny("no sudo")
hookd.run(handle)
`},
	"node": {"node", `import { readFileSync } from "node:fs";
const event = JSON.parse(readFileSync(0, "utf8"));
console.error(event.tool_input.command.includes("sudo"));
`, `import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const event = JSON.parse(line), answer = { event_id: event.event_id };
  if (event.tool_input.command.includes("sudo")) answer.decision = "block";
  process.stdout.write(JSON.stringify(answer) + "\n");
});
`, `import { run, deny } from "./hookd.mjs";
run((event) => {
  for (const words of event.command) if (words.program === "sudo") return deny("no sudo");
});
`},
}

// hook writes a hook and returns the command that runs it.
func hook(b *testing.B, program, text string, spawned bool) func() *exec.Cmd {
	dir := b.TempDir()
	for name, content := range map[string]string{"run.mjs": text, "hookd.py": files.Python, "hookd.mjs": files.JavaScript} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return func() *exec.Cmd {
		cmd := exec.Command(program, filepath.Join(dir, "run.mjs"))
		for _, v := range os.Environ() {
			if v != "PYTHONDONTWRITEBYTECODE=1" {
				cmd.Env = append(cmd.Env, v)
			}
		}
		if spawned {
			cmd.Env = append(cmd.Env, "HOOK_EVENT=PreToolUse")
		}
		return cmd
	}
}

// report gives the median of each side, and their ratio: other programs on the machine
// meet both, as they take turns.
func report(b *testing.B, bare, with []time.Duration) {
	slices.Sort(bare)
	slices.Sort(with)
	x, y := bare[len(bare)/2], with[len(with)/2]
	b.ReportMetric(float64(x.Microseconds()), "bare-µs")
	b.ReportMetric(float64(y.Microseconds()), "sdk-µs")
	b.ReportMetric(float64(y)/float64(x), "ratio")
	b.ReportMetric(0, "ns/op")
}

func need(b *testing.B, program string) {
	if _, err := exec.LookPath(program); err != nil {
		b.Skip("SKIP-TOOL " + program)
	}
}

// One process for each event.
func BenchmarkSpawned(b *testing.B) {
	for name, h := range hooks {
		b.Run(name, func(b *testing.B) {
			need(b, h.program)
			sides := []func() *exec.Cmd{hook(b, h.program, h.bare, true), hook(b, h.program, h.with, true)}
			var took [2][]time.Duration
			for i := -1; i < b.N; i++ { // the first one writes what python keeps of an import
				for side, command := range sides {
					cmd, start := command(), time.Now()
					cmd.Stdin = bytes.NewReader([]byte(line))
					if out, err := cmd.Output(); err != nil {
						b.Fatalf("%v: %s", err, out)
					}
					if i >= 0 {
						took[side] = append(took[side], time.Since(start))
					}
				}
			}
			report(b, took[0], took[1])
		})
	}
}

// One process for all events: the time from a line to its answer.
func BenchmarkKept(b *testing.B) {
	for name, h := range hooks {
		b.Run(name, func(b *testing.B) {
			need(b, h.program)
			var took [2][]time.Duration
			var ask [2]func() time.Duration
			for side, text := range []string{h.kept, h.with} {
				cmd := hook(b, h.program, text, false)()
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
				answers := bufio.NewReader(out)
				ask[side] = func() time.Duration {
					start := time.Now()
					if _, err := in.Write([]byte(line)); err != nil {
						b.Fatal(err)
					}
					if _, err := answers.ReadBytes('\n'); err != nil {
						b.Fatal(err)
					}
					return time.Since(start)
				}
				defer cmd.Wait()
				defer in.Close()
				ask[side]()
			}
			for range b.N {
				for side := range ask {
					took[side] = append(took[side], ask[side]())
				}
			}
			report(b, took[0], took[1])
		})
	}
}
