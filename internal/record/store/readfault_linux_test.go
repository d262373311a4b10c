package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
)

// lookVariable makes the test binary look at the store in this folder, and print what it finds.
const lookVariable = "HOOKD_TEST_LOOK"

// looked is what a process has found that looked at a store.
type looked struct {
	Waits int
	Told  []string
	Lost  int64
	More  bool
}

// TestLooksAtAStore is the process that TestEachReadOfTheDatabaseFails traces.
func TestLooksAtAStore(t *testing.T) {
	path := os.Getenv(lookVariable)
	if path == "" {
		t.Skip("it is a process of another test")
	}
	f := look(t, readable(path), true)
	text, err := json.Marshal(looked{len(f.waits), f.told, f.lost, f.more})
	hooktest.Must(t, err)
	hooktest.Must(t, os.WriteFile(path+".looked", text, 0o600))
}

// Each read of the database and its log that the kernel answers with EIO: the store starts, or
// says why it does not, and tells what it has set aside. Once the disk reads again, each event waits
// or is taken back.
func TestEachReadOfTheDatabaseFails(t *testing.T) {
	t.Parallel()
	hooktest.NeedTool(t, "strace")
	program, err := os.Executable()
	hooktest.Must(t, err)
	image := faultImage(t)
	step := cmp.Or(*faultStep, 7)
	silent := 0
	for at := 1; silent < 2; at += step {
		o := put(t, image)
		log := o.Path + ".strace"
		cmd := exec.Command("strace", "-f", "-qq", "-o", log, "-P", o.Path, "-P", o.Path+"-wal",
			"-e", "trace=pread64", "-e", "inject=pread64:error=EIO:when="+strconv.Itoa(at),
			program, "-test.run=^TestLooksAtAStore$")
		cmd.Env = append(os.Environ(), lookVariable+"="+o.Path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("read %d: %v: %s", at, err, out)
		}
		trace, err := os.ReadFile(log)
		hooktest.Must(t, err)
		failed := strings.Count(string(trace), "(INJECTED)")
		if failed == 0 {
			silent++
		}
		text, err := os.ReadFile(o.Path + ".looked")
		hooktest.Must(t, err)
		var during looked
		hooktest.Must(t, json.Unmarshal(text, &during))
		if err := during.check(); err != nil {
			t.Errorf("read %d fails (%d in all): %v", at, failed, err)
		}
		if n := taken(t, o); n != faultEvents {
			t.Errorf("after read %d failed (%d in all), %d events are there; before: %+v", at, failed, n, during)
		}
		hooktest.Must(t, os.RemoveAll(filepath.Dir(o.Path)))
	}
}

// taken returns how many events wait in a store after all that was set aside is taken back.
func taken(t *testing.T, o Options) int {
	t.Helper()
	all := look(t, o, false).waits
	s := open(t, o)
	for _, loss := range s.Losses() {
		_, err := s.SetAside(t.Context(), loss, func(e *events.Event, _ []string) error {
			all[e.Seq] = true
			return nil
		})
		if err != nil {
			t.Errorf("take back %s: %v", loss.Path, err)
		}
	}
	closed(t, s)
	return len(all)
}

func (l looked) check() error {
	switch missing := int64(faultEvents - l.Waits); {
	case missing == 0 || l.More || l.Lost >= missing:
		return nil
	default:
		return fmt.Errorf("%d events are gone, %d are told: %v", missing, l.Lost, l.Told)
	}
}
