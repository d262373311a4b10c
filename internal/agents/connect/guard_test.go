package connect

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// Where the bridge is gone, cannot be executed or crashes, a shell gives the agent a denial of guarded
// events, and of nothing else; a bridge that answers has the last word.
func TestGuardDeniesWithoutABridge(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"closed": "#!/bin/sh\n", "crashes": "#!/bin/sh\nkill -SEGV $$\n", "answers": "#!/bin/sh\necho yes\n", "denies": "#!/bin/sh\nexit 2\n",
	} {
		write(t, dir+"/"+name, []byte(text))
		mode := "0755"
		if name == "closed" {
			mode = "0644"
		}
		if out, err := exec.Command("chmod", mode, dir+"/"+name).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	guards := 0
	for _, a := range agents() {
		for _, row := range events.All() {
			if row.Dialect != a.name {
				continue
			}
			guard := a.guard(row.Name)
			if guard == "" {
				continue
			}
			if guards++; !row.FailClosed {
				t.Errorf("%s: %s guards nothing, and has %q", a.name, row.Name, guard)
			}
			for name, denies := range map[string]bool{"gone": true, "closed": true, "crashes": true, "answers": false, "denies": true} {
				line := dir + "/" + name + guard
				if c, ok := callOf("hookd-bridge "+string(a.name)+guard, string(a.name)); !ok || c.guard != guard {
					t.Errorf("%s: the guard is not read back: %q", a.name, guard)
				}
				cmd := exec.Command("/bin/sh", "-c", line)
				var said strings.Builder
				cmd.Stdout, cmd.Stderr = &said, &said
				err := cmd.Run()
				denied := strings.Contains(said.String(), missing) && (strings.Contains(said.String(), "{") || cmd.ProcessState.ExitCode() == 2)
				if denied != denies || !denies && err != nil {
					t.Errorf("%s, %s, %s: %v, exit %d: %s", a.name, row.Name, name, err, cmd.ProcessState.ExitCode(), &said)
				}
			}
		}
	}
	if guards < 8 {
		t.Errorf("only %d events have a guard", guards)
	}
}
