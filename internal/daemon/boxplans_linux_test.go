package daemon

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/base/hangfs"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

// A plan whose folders do not answer is left to the bridge, which has to claim the ticket then.
func TestAPlanThatHangsIsLeftToTheBridge(t *testing.T) {
	p, claimed := newBoxPlans(), atomic.Int64{}
	k := bridge.BoxKeeper{
		Look: func(string, wire.BoxStart) wire.BoxBegun {
			return wire.BoxBegun{Approved: true, Profile: []byte(`{"name":"read","base":"read"}`)}
		},
		Begin: func(string, wire.BoxStart) wire.BoxBegun {
			claimed.Add(1)
			return wire.BoxBegun{Approved: true}
		},
	}
	plan := func(home string) bool {
		_, files, ok := p.plan(wire.Handed{
			Args: []string{"box", "--level", "landlock", "--call", "id", "--", "bash", "-c", "true"},
			Env:  []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")},
		}, os.Getpid(), k)
		if ok {
			syscall.Close(files[0])
			syscall.Close(files[1])
		}
		return ok
	}
	if !plan(t.TempDir()) {
		t.Skip("this machine makes no box by Landlock")
	}
	m := hangfs.New(t, map[string]string{"home/file": ""})
	m.Hang()
	if plan(filepath.Join(m.Dir, "home")) {
		t.Error("a plan was made")
	}
	m.Held()
	m.Answer()
	hooktest.Until(t, "the plan has ended", func() bool { return len(p.busy) == 0 })
	if n := claimed.Load(); n != 1 {
		t.Errorf("%d tickets are claimed, want that of the first plan", n)
	}
}
