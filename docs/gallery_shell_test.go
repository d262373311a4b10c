package docs

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/hookd/hookd/internal/builtin/shellsafe/shelltest"
)

// readLines prints for each line whether the reader of the guards is in doubt, and the
// words of the commands that it lists.
const readLines = `import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "gallery")
import shell
for text in sys.stdin:
    script = shell.read(json.loads(text), sys.argv[1], sys.argv[1])
    commands = [[w.text if w.sure and not w.glob else "\0" for w in c.words] + ["\0"] * c.fed for c in script.commands]
    print(json.dumps({"doubts": [str(d) for d in script.unclear], "commands": commands}))
`

// Each call that bash makes of a line is listed, or the line is in doubt.
func TestGuardsReadAsBash(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIP-TOOL python3")
	}
	bash := shelltest.New(t)
	lines := append(shelltest.Lines(), "bash <<< 'm1 a' 3<<< 'm2 b'", "BASH_CMDS[m2]=$(type -p m1); m2 a")
	var in bytes.Buffer
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(text, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", readLines, bash.Work)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	said := json.NewDecoder(bytes.NewReader(out))
	for _, line := range lines {
		var read struct {
			Doubts   []string
			Commands [][]string
		}
		if err := said.Decode(&read); err != nil {
			t.Fatal(err)
		}
		if len(read.Doubts) > 0 {
			continue
		}
		for _, call := range bash.Run(line) {
			if !shelltest.Lists(read.Commands, call) {
				t.Errorf("bash runs %q of %q, only listed: %q", call, line, read.Commands)
			}
		}
	}
}
