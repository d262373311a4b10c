// Package matchtest makes hooks and snapshots for the tests of rooms that match
// events. It reads no files and promises nothing but that patterns are compiled.
package matchtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// Hook returns a command with the given name and patterns; it panics when a pattern
// cannot be compiled, so that tables can be made of hooks.
func Hook(name string, patterns ...string) *hook.Hook {
	h := &hook.Hook{ID: name, Name: name, Type: hook.Command, Timeout: 5 * time.Second, Enabled: true}
	for _, text := range patterns {
		p, err := pattern.Compile(text)
		if err != nil {
			panic(err)
		}
		h.Patterns = append(h.Patterns, p)
	}
	return h
}

// With returns h after change.
func With(h *hook.Hook, change func(*hook.Hook)) *hook.Hook {
	change(h)
	return h
}

// Snapshot returns a snapshot of active hooks.
func Snapshot(hooks ...*hook.Hook) *hook.Snapshot {
	s := &hook.Snapshot{Generation: 1}
	for _, h := range hooks {
		s.Entries = append(s.Entries, hook.Entry{Hook: h, Name: h.Name, State: hook.Active})
	}
	return s
}

// Many returns 10,000 hooks as people write them: 70 % plain names, 25 % prefixes, 5 %
// other globs.
func Many(tb testing.TB) *hook.Snapshot {
	tb.Helper()
	var hooks []*hook.Hook
	for i := range 10_000 {
		text := fmt.Sprintf("app%d:done", i)
		switch {
		case i%40 == 0:
			text = fmt.Sprintf("*:step%d", i)
		case i%40 == 20:
			text = fmt.Sprintf("{app,job}%d:st?p", i)
		case i%4 == 1:
			text = fmt.Sprintf("app%d:*", i)
		}
		h := Hook(fmt.Sprint("hook", i), text)
		hooks = append(hooks, h)
	}
	return Snapshot(hooks...)
}
