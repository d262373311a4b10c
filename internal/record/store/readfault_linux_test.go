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

// lookVariable makes the test binary look at the store in this folder, and print the result.
const lookVariable = "HOOKD_TEST_LOOK"

// failsVariable says which reads fail there.
const failsVariable = "HOOKD_TEST_FAILS"

// looked is the result of a process that looked at a store.
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
	f := look(t, readable(path), fails(os.Getenv(failsVariable)))
	text, err := json.Marshal(looked{len(f.waits), f.told, f.lost, f.more})
	hooktest.Must(t, err)
	hooktest.Must(t, os.WriteFile(path+".looked", text, 0o600))
}

// Each read of the database and its log that the kernel answers with EIO, once, or each of them: the store
// starts, or says why it does not, and takes no file for damaged. Once the disk reads again, each event waits.
func TestEachReadOfTheDatabaseFails(t *testing.T) {
	t.Parallel()
	hooktest.NeedTool(t, "strace")
	image := faultImage(t)
	step := cmp.Or(*faultStep, 29)
	if hooktest.All() {
		step = cmp.Or(*faultStep, 7)
	}
	for _, reads := range []fails{readsFailOnce, readsFail} {
		silent := 0
		for at := 1; silent < 2 && (at == 1 || reads == readsFailOnce); at += step { // strace counts for each thread
			o := put(t, image)
			failed, during := underFaults(t, o, reads, at)
			if failed == 0 {
				silent++
			}
			if err := during.check(); err != nil {
				t.Errorf("read %d fails %s (%d in all): %v", at, reads, failed, err)
			}
			aside, err := filepath.Glob(o.Path + ".corrupt-*")
			hooktest.Must(t, err)
			if len(aside) > 0 {
				t.Errorf("read %d fails %s (%d in all): the database is taken for damaged: %v", at, reads, failed, during.Told)
			}
			if n := taken(t, o); n != faultEvents {
				t.Errorf("after read %d failed %s (%d in all): %d events are there; before: %+v", at, reads, failed, n, during)
			}
			hooktest.Must(t, os.RemoveAll(filepath.Dir(o.Path)))
		}
	}
}

// underFaults looks at a store in a process whose reads fail, and returns how many of them did.
func underFaults(t *testing.T, o Options, reads fails, at int) (failed int, f looked) {
	t.Helper()
	program, err := os.Executable()
	hooktest.Must(t, err)
	when, log := strconv.Itoa(at), o.Path+".strace"
	if reads == readsFail {
		when += "+"
	}
	cmd := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", log, "-P", o.Path, "-P", o.Path+"-wal",
		"-e", "trace=pread64", "-e", "inject=pread64:error=EIO:when="+when, program, "-test.run=^TestLooksAtAStore$")
	cmd.Env = append(os.Environ(), lookVariable+"="+o.Path, failsVariable+"="+string(reads))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("read %d fails %s: %v: %s", at, reads, err, out)
	}
	trace, err := os.ReadFile(log)
	hooktest.Must(t, err)
	text, err := os.ReadFile(o.Path + ".looked")
	hooktest.Must(t, err)
	hooktest.Must(t, json.Unmarshal(text, &f))
	return strings.Count(string(trace), "(INJECTED)"), f
}

// taken returns how many events wait in a store after all that was set aside is taken back.
func taken(t *testing.T, o Options) int {
	t.Helper()
	all := look(t, o, readsDoNotFail).waits
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
