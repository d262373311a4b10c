package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzSettings: whatever hookd.yaml holds, nothing panics. Accepted settings are read
// the same way again and are in range, and a refusal names the file.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{
		"", "---\n", "slots: {observers: 3, decidable: 4}\n", "history.max_age: 30d\nhistory: {max_bytes: 1GiB, payload: full}\n",
		"sources: [{type: docker-agent, path: ./a.yaml}]\nenv: {A: b, 'C': 1}\n", "agents: {x: {command: [a, b], prompt: stdin}}\n",
		"providers: {p: {type: openai, base_url: 'http://127.0.0.1:1/v1', api_key_env: K}}\n", "http: {listen: '127.0.0.1:7780'}\nlog: {level: debug}\n",
		"hooks_dir: ~/h\nsocket: s\npath: /bin\n", "env: &a {A: *a}\n", "slots: &a\n  slots: *a\n", "a: 1\n---\nb: 2\n", "\tx", "cgroup: maybe\n", "? {a: b}\n: c\n", "timeouts: {command: 5}\n",
	} {
		f.Add([]byte(s))
	}
	home := f.TempDir()
	file := filepath.Join(home, "hookd.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(home, nil, nil)
		if err != nil {
			if !strings.HasPrefix(err.Error(), file) {
				t.Fatalf("%q does not begin with the file", err)
			}
			return
		}
		again, err := Load(home, nil, nil)
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Fatalf("a second time: %+v, %v; want %+v", again, err, c)
		}
		checkRanges(t, c)
	})
}

func checkRanges(t *testing.T, c Config) {
	t.Helper()
	for name, n := range map[string]int64{
		"slots.observers": int64(c.SlotsObservers), "slots.decidable": int64(c.SlotsDecidable), "queue.max_events": int64(c.QueueMaxEvents),
		"queue.max_bytes": c.QueueMaxBytes, "max_event_bytes": c.MaxEventBytes, "history.max_runs": int64(c.HistoryMaxRuns),
		"timeouts.command": int64(c.TimeoutCommand), "timeouts.model": int64(c.TimeoutModel), "history.max_age": int64(c.HistoryMaxAge),
	} {
		if n <= 0 {
			t.Errorf("%s is accepted as %d", name, n)
		}
	}
	for name, path := range map[string]string{"hooks_dir": c.HooksDir, "socket": c.Socket, "store.path": c.StorePath} {
		if !filepath.IsAbs(path) {
			t.Errorf("%s is accepted as %q", name, path)
		}
	}
	for name := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			t.Errorf("a variable is accepted as %q", name)
		}
	}
}
