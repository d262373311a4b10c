package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A hook that starts a process which leaves the run, its session and its parents, and answers
// the ask whose id is in the home.
const (
	startsOrphan = "setsid ./leave.sh </dev/null >/dev/null 2>&1 &\n"
	leavesItsRun = "#!/bin/sh\n(setsid ./answer.sh $$ &)\n"
	answersAlone = `#!/bin/sh
while kill -0 "$1"; do :; done
out=$LIBREFANG_HOME/orphan
hookd ask allow "$(cat "$LIBREFANG_HOME/ask.id")" >"$out.tmp" 2>&1
echo "code $?" >>"$out.tmp"
mv "$out.tmp" "$out.out"
`
)

// An answer of a process that has ended, whose number another process has got, and of an
// orphan of a run never counts: with and without cgroups, in a container of its own.
// HOOKD_ROUNDS is how many of each are tried.
func TestWhoMayAnswer(t *testing.T) {
	t.Parallel()
	hooktest.Long(t) // each try begins processes until a number is given again
	hooktest.NeedRoot(t)
	hooktest.NeedTool(t, "unshare", "python3", "setsid")
	rounds := 2 // each takes some 25 s
	if many, err := strconv.Atoi(os.Getenv("HOOKD_ROUNDS")); err == nil {
		rounds = many
	}
	home := hooktest.ShortDir(t)
	hooktest.Write(t, filepath.Join(home, "hooks", "push", "HOOK.yaml"), asksPush, 0o600)
	folder := hooktest.Hook(t, home, "orphan", "events: ['agent:end']\n", startsOrphan)
	hooktest.Write(t, filepath.Join(folder, "leave.sh"), leavesItsRun, 0o755)
	hooktest.Write(t, filepath.Join(folder, "answer.sh"), answersAlone, 0o755)
	script, err := filepath.Abs("testdata/identity.py")
	hooktest.Must(t, err)
	cmd := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
		"python3", script, hooktest.Programs(t), home, strconv.Itoa(rounds))
	out, err := cmd.Output()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(home, "log"))
		t.Fatalf("%v\n%s\n%s", err, out, log)
	}
	var counts map[string][2]int
	hooktest.Must(t, json.Unmarshal(out, &counts))
	t.Logf("tried and counted: %v", counts)
	for _, kind := range []string{"reuse", "orphan, cgroup true", "orphan, cgroup false"} {
		if counts[kind][0] < rounds {
			t.Errorf("%s: %d tries, want %d", kind, counts[kind][0], rounds)
		}
	}
	for kind, n := range counts {
		if n[1] > 0 {
			t.Errorf("%s: %d of %d count", kind, n[1], n[0])
		}
	}
}
