package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hangfs"
)

// Guards on a file system that hangs deny at their deadline, then at once;
// everything else goes on, the collector included, and they work again when the
// file system does.
func TestFilesThatDoNotAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		yaml, script string // of the guard; MNT is the mount
		hang         []hangfs.Op
	}{
		"program looked at":    {yaml: "command: MNT/run\nargs: []\n"},
		"program read":         {yaml: "command: MNT/run\nargs: []\n", hang: []hangfs.Op{hangfs.Read}},
		"program opened":       {yaml: "command: MNT/run\nargs: []\n", hang: []hangfs.Op{hangfs.Open}},
		"interpreter read":     {script: "#!MNT/interpreter\n", hang: []hangfs.Op{hangfs.Read}},
		"program held open":    {yaml: "command: MNT/run\nargs: []\n", hang: []hangfs.Op{hangfs.Read, hangfs.Flush}},
		"interpreter held":     {script: "#!MNT/interpreter\n", hang: []hangfs.Op{hangfs.Read, hangfs.Flush}},
		"working directory":    {yaml: "working_dir: MNT\n"},
		"persistent":           {yaml: "command: MNT/run\nargs: []\nmode: persistent\nwarm: false\n", hang: []hangfs.Op{hangfs.Read}},
		"persistent looked at": {yaml: "command: MNT/run\nargs: []\nmode: persistent\nwarm: false\n"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := "#!/bin/sh\nexit 0\n"
			if strings.Contains(tt.yaml, "persistent") {
				answer = "#!/bin/sh\nwhile read -r line; do id=${line#*event_id\\\":\\\"}; echo \"{\\\"event_id\\\":\\\"${id%%\\\"*}\\\"}\"; done\n"
			}
			m := hangfs.New(t, map[string]string{"run": answer, "interpreter": "#!/bin/sh\nexit 0\n"})
			home := newHome(t)
			place := func(s string) string { return strings.ReplaceAll(s, "MNT", m.Dir) }
			yaml := place(tt.yaml)
			if !strings.Contains(yaml, "command:") {
				yaml += "command: ./run.sh\n"
			}
			for hook, events := range map[string]string{"guard": "[pre_tool_use]", "observer": "['post_tool_use']"} {
				dir := writeHook(t, home, hook, "", "exit 0\n")
				writeFile(
					t,
					filepath.Join(dir, "HOOK.yaml"),
					"name: "+hook+"\nevents: "+events+"\ntimeout: 300ms\n"+yaml,
					0o644,
				)
				if tt.script != "" {
					writeFile(t, filepath.Join(dir, "run.sh"), place(tt.script), 0o755)
				}
			}
			writeHook(t, home, "other", "events: [user_prompt_submit, agent:step]\n", "exit 0\n")
			h := start(
				t,
				home,
				func(c *config.Config) { c.FireStartup, c.SlotsDecidable, c.SlotsObservers = false, 1, 1 },
			)
			if !strings.Contains(yaml, "persistent") { // a copy that lives needs no file
				h.until("it answers before it hangs", func() bool { return h.emit(rm).Verdict.Allowed })
			}

			m.Hang(tt.hang...)
			t.Cleanup(m.Answer)
			h.emit(`{"event":"post_tool_use"}`)
			for i := range 2 {
				a := h.emit(rm)
				if a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, "did not answer") ||
					!strings.Contains(a.Verdict.Message, m.Dir) {
					t.Errorf("verdict %d: %+v, want a denial that names the file", i+1, a.Verdict)
				}
				want := []client.Result{client.ResultTimeout, client.ResultSpawnError}[i]
				if len(a.Runs) != 1 || a.Runs[0].Result != want {
					t.Errorf("runs = %+v, want one %s", a.Runs, want)
				}
			}
			runtime.GC() // needs every processor
			if a := h.emit(`{"event":"user_prompt_submit","wait":true}`); len(a.Runs) != 1 ||
				a.Runs[0].Result != client.ResultOK {
				t.Errorf("another guard: %+v", a.Runs)
			}
			h.emit(`{"event":"agent:step"}`)
			h.until("the observers' slot is free", func() bool {
				runs, err := h.client.Runs(t.Context(), client.RunQuery{Hook: "other", Limit: 10})
				return err == nil && len(runs) == 2
			})
			if r := h.fullRun("observer"); r.Result != client.ResultTimeout ||
				!strings.Contains(r.Error, "did not answer") ||
				r.DurationMS > float64(10*time.Second/time.Millisecond) {
				t.Errorf("the observer's run: %+v, want a timeout", r)
			}

			m.Answer()
			h.until("the guard works again", func() bool { return h.emit(rm).Verdict.Allowed })
		})
	}
}

// A reload returns while files hang that hooks, their folders and sources are
// made of, guards that need none of them decide, and the daemon comes to its end.
func TestReloadWhileFilesDoNotAnswer(t *testing.T) {
	m := hangfs.New(t, map[string]string{
		"run": "#!/bin/sh\nexit 0\n", "HOOK.yaml": "name: linked\nevents: [agent:end]\ntype: script\nscript: exit 0\n",
		"AGENT.md": "---\nname: a\nhooks:\n  - {event: beforeToolCall, action: script, script: exit 0}\n---\n",
	})
	home := newHome(t)
	writeHook(t, home, "guard", "events: [user_prompt_submit]\n", "exit 2\n")
	writeFile(t, filepath.Join(home, "hooks", "far", "HOOK.yaml"), "name: far\nevents: [pre_tool_use]\ncommand: "+m.Dir+"/run\nargs: []\n", 0o644)
	if err := os.Symlink(m.Dir, filepath.Join(home, "hooks", "linked")); err != nil {
		t.Fatal(err)
	}
	h := start(t, home, func(c *config.Config) {
		c.FireStartup = false
		c.Sources = []config.Source{{Type: "familiar", Path: filepath.Join(m.Dir, "AGENT.md")}}
	})
	if hooks := h.discovery.Current().Runnable(); len(hooks) != 4 {
		t.Fatalf("hooks before it hangs: %d, %v", len(hooks), h.discovery.Current().Problems)
	}
	m.Hang()
	t.Cleanup(m.Answer)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := h.client.Reload(ctx)
		cancel()
		if refused := (*client.Error)(nil); err != nil && !errors.As(err, &refused) { // what hangs is a problem
			t.Fatalf("reload: %v", err)
		}
	}
	if a := h.emit(`{"event":"user_prompt_submit","wait":true}`); a.Verdict.Allowed {
		t.Errorf("the guard: %+v, want a denial", a.Verdict)
	}
	ended := make(chan struct{})
	go func() {
		h.stop()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the daemon does not end while files hang")
		m.Answer()
		<-ended
	}
}
