package daemon

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
)

// script is one version of a guard, which says on stderr which it is, for one event.
func script(version string) string {
	return "#!/bin/sh\nread -r line\necho " + version + ` >&2
id=${line#*'"event_id":"'}
echo "{\"event_id\":\"${id%%'"'*}\"}"
`
}

// listing is a call that nothing but the guard looks at.
const listing = `{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell","tool_input":{"cmd":"ls"}}}`

// A guard's script is exchanged for another one for some milliseconds and put back, again
// and again. An answer of the other version never counts as one of the first: under
// reload.mode ask it never counts at all. HOOKD_SWAPS is how many calls are made of each kind.
func TestAnswersOfASwappedGuard(t *testing.T) {
	calls := hooktest.Amount(60, 20)
	if many, err := strconv.Atoi(os.Getenv("HOOKD_SWAPS")); err == nil {
		calls = many
	}
	for _, mode := range []string{"ask", "auto"} {
		for name, yaml := range map[string]string{
			"program":  "command: ./guard.sh\n",
			"argument": "command: sh guard.sh\n",
			"shell":    "type: script\nscript: . ./guard.sh\n",
			"folder":   "command: ./part/guard.sh\n",
			"worker":   "command: ./guard.sh\nmode: persistent\n",
		} {
			t.Run(mode+"/"+name, func(t *testing.T) {
				t.Parallel()
				underSwaps(t, mode, name == "folder", yaml, calls)
			})
		}
	}
}

func underSwaps(t *testing.T, mode string, wholeFolder bool, yaml string, calls int) {
	home := newHome(t)
	dir := filepath.Join(home, "hooks", "guard")
	good, bad := filepath.Join(dir, "guard.sh"), filepath.Join(home, "other.sh")
	if wholeFolder {
		good, bad = filepath.Join(dir, "part", "guard.sh"), filepath.Join(home, "other", "guard.sh")
	}
	for path, text := range map[string]string{good: script("allowed"), bad: script("swapped")} {
		hooktest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		writeFile(t, path, text, 0o755)
	}
	if wholeFolder {
		good, bad = filepath.Dir(good), filepath.Dir(bad)
	}
	writeFile(t, filepath.Join(dir, "HOOK.yaml"), "name: guard\nevents: [pre_tool_use]\n"+yaml, 0o644)
	var c config.Config
	h := start(t, home, func(settings *config.Config) {
		settings.ReloadMode, settings.FireStartup = mode, false
		c = *settings
	})
	for _, w := range catalog.Waiting(c) {
		hooktest.Must(t, catalog.Allow(c, w))
	}
	_, _ = h.client.Reload(t.Context())
	if a := h.emit(listing); !a.Verdict.Allowed {
		t.Fatalf("denied as it is: %+v", a.Verdict)
	}
	first := h.fullRun("guard").Digest

	ctx, end := context.WithCancel(t.Context())
	var swapping sync.WaitGroup
	swapping.Go(func() {
		exchange := func() {
			hooktest.Must(t, unix.Renameat2(unix.AT_FDCWD, good, unix.AT_FDCWD, bad, unix.RENAME_EXCHANGE))
		}
		for ctx.Err() == nil {
			exchange()
			<-time.After(rand.N(3 * time.Millisecond))
			exchange()
			<-time.After(rand.N(12 * time.Millisecond))
		}
	})
	counted, unchecked, allowed := map[string]int{}, 0, 0
	for range calls {
		a := h.emit(listing)
		if a.Verdict.Allowed {
			allowed++
		}
		for _, one := range a.Runs {
			if one.RunID == "" { // it was not awaited to its end: its answer does not count
				counted["not awaited"]++
				continue
			}
			var run client.Run
			h.until("the run is recorded", func() (there bool) {
				var err error
				run, err = h.client.Run(t.Context(), one.RunID)
				return err == nil
			})
			said := strings.TrimSpace(run.Stderr.Head)
			counted[string(run.Result)+" "+said]++
			if run.Result == client.ResultOK && said == "swapped" && (mode == "ask" || run.Digest == first) {
				unchecked++
			}
		}
	}
	end()
	swapping.Wait()
	t.Logf("%d calls, %d allowed, runs %v", calls, allowed, counted)
	if unchecked > 0 {
		t.Errorf("%d of %d answers are of a version that was not checked", unchecked, calls)
	}
	h.until("the guard answers again", func() bool { return h.emit(listing).Verdict.Allowed })
}
