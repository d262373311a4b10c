package daemon

import (
	"testing"

	"github.com/hookd/hookd/internal/base/config"
)

// A persistent hook that guards has its worker before the first event, and so has a hook
// that says so; others wait for it.
func TestWarm(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "guard", "events: pre_tool_use\nmode: persistent\n", answering)
	writeHook(t, home, "watch", "events: pre_tool_use\nmode: persistent\nshadow: true\n", answering)
	writeHook(t, home, "cold", "events: pre_tool_use\nmode: persistent\nwarm: false\n", answering)
	writeHook(t, home, "audit", "events: ['*']\nmode: persistent\n", answering)
	writeHook(t, home, "eager", "events: ['*']\nmode: persistent\nwarm: true\n", answering)
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	for _, name := range []string{"guard", "watch", "eager"} {
		h.until("the worker of "+name+" starts", func() bool { return len(h.hook(name).Persistent.Copies) == 1 })
	}
	for _, name := range []string{"cold", "audit"} {
		if got := h.hook(name).Persistent; got.Starts != 0 {
			t.Errorf("%s has had %d workers, and no event", name, got.Starts)
		}
	}
	h.emit(`{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"cmd":"ls"}},"wait":true}`)
	for _, name := range []string{"guard", "eager"} {
		h.until(name+" answers", func() bool { return h.hook(name).Counts["ok"] == 1 })
		if got := h.hook(name).Persistent.Starts; got != 1 {
			t.Errorf("%s has had %d workers, want the first one", name, got)
		}
	}
}
