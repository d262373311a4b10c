package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A hook that replays its own event, and a hook that tests itself, come to an end as a hook
// that emits does. The events come through the real socket, and the process tells their hook.
func TestHooksThatAskForThemselvesEnd(t *testing.T) {
	need(t, "curl")
	const ask = `id=$(sed -n 's/.*"event_id":"\([^"]*\)".*/\1/p')
echo run >> "$RUNS"
curl -s -o "$RUNS.answer" --unix-socket "$SOCKET" -X POST http://localhost%s || true
grep -q too_deep "$RUNS.answer" && touch "$RUNS.refused"
exit 0
`
	for name, path := range map[string]string{"replay": "/v1/events/$id/replay", "test": "/v1/hooks/me/test"} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			runs := filepath.Join(home, "runs")
			writeHook(
				t,
				home,
				"me",
				"events: ask:me\ntimeout: 60s\nenv: {RUNS: "+runs+", SOCKET: "+filepath.Join(home, "hookd.sock")+"}\n",
				fmt.Sprintf(ask, path),
			)
			h := start(t, home, nil)
			h.emit(`{"event":"ask:me","data":{}}`)
			h.until("it was refused", func() bool { _, err := os.Stat(runs + ".refused"); return err == nil })
			h.stop()
			text, err := os.ReadFile(runs)
			if got := strings.Count(string(text), "\n"); err != nil || got != 9 {
				t.Errorf("it ran %d times (%v), want 9: depth 0 to 8", got, err)
			}
		})
	}
}
