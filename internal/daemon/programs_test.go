package daemon

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/wire"
)

// Programs are counted by agent and name. The form of a model's command alone is told, once an hour, and
// the counts outlast the process.
func TestPrograms(t *testing.T) {
	home := newHome(t)
	h := start(t, home, func(c *config.Config) { c.WatchPrograms, c.RedactHistory = true, true })
	c := *h.Daemon.config.Load()
	p := h.programs
	p.mu.Lock()
	p.agents[1] = events.ClaudeCode
	p.mu.Unlock()
	line := `source /h/shell-snapshots/a.sh && shopt -u extglob 2>/dev/null || true && eval 'TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 ./x' < /dev/null && pwd -P >| /tmp/c`
	for _, s := range []proc.Started{
		{Agent: 1, Args: []string{"/bin/ls"}, Asked: true},
		{Agent: 1, Args: []string{"/bin/ls"}, Asked: true, Later: true},
		{Agent: 1, Args: []string{"/usr/bin/git", "status"}},
		{Agent: 1, Args: []string{"/bin/bash", "-c", line}},
		{Agent: 1, Args: []string{"/bin/bash", "-c", line}},
		{Agent: 1, Args: []string{"git", "log"}},
		{Agent: 1},
	} {
		p.started(s)
	}
	check := func(list []wire.Unguarded) {
		t.Helper()
		if len(list) != 1 || list[0].Agent != events.ClaudeCode || list[0].Executed == nil {
			t.Fatalf("got %+v", list)
		}
		x := list[0].Executed
		var names []string
		for _, one := range x.Programs {
			names = append(names, one.Name)
		}
		if x.Asked != 2 || x.Later != 1 || x.Unasked != 5 || x.Commands != 2 || !slices.Equal(names, []string{"", "git", "bash"}) {
			t.Errorf("got %+v", x)
		}
		bash := x.Programs[2]
		if !bash.Command || bash.Count != 2 || strings.Contains(bash.Example, "ghp_") || !strings.HasSuffix(bash.Example, " ./x") {
			t.Errorf("got %+v", bash)
		}
	}
	check(p.addTo(nil))
	told := func() (n int) {
		list, err := h.client.Accepted(t.Context(), wire.EventQuery{Event: events.EventUnguarded})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	h.until("hookd:unguarded was emitted", func() bool { return told() > 0 })
	if n := told(); n != 1 {
		t.Errorf("told %d times", n)
	}
	p.save()
	check(newPrograms(h.Daemon, c).addTo(nil))
	if err := os.WriteFile(c.ProgramsFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list := newPrograms(h.Daemon, c).addTo(nil); len(list) != 0 {
		t.Errorf("of a broken file: %+v", list)
	}
}

// The calls of the last day that the record has count after a restart, too.
func TestUnguardedIsRecalled(t *testing.T) {
	home := newHome(t)
	h := start(t, home, nil)
	h.emit(`{"event":"UserPromptSubmit","session_id":"s","dialect":"claude-code","data":{"session_id":"s","prompt":"x"}}`)
	h.emit(`{"event":"PostToolUse","session_id":"s","dialect":"claude-code","data":{"session_id":"s","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"ls"},"tool_response":{"stdout":"x"}}}`)
	count := func(h *house) int64 {
		st, err := h.client.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range st.Unguarded {
			return u.NotAsked
		}
		return 0
	}
	wait := func(h *house) { h.until("a call is counted", func() bool { return count(h) == 1 }) }
	wait(h)
	h.stop()
	wait(start(t, home, nil))
}
