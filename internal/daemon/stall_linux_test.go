package daemon

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/hangfs"
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
		"working directory":    {yaml: "working_dir: MNT\n"},
		"persistent":           {yaml: "command: MNT/run\nargs: []\nmode: persistent\n", hang: []hangfs.Op{hangfs.Read}},
		"persistent looked at": {yaml: "command: MNT/run\nargs: []\nmode: persistent\n"},
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
				if a := h.emit(rm); !a.Verdict.Allowed {
					t.Fatalf("before it hangs: %+v", a)
				}
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
