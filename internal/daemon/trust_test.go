package daemon

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/wire"
)

const otherUser = 65534

// trusting writes a guard and an observer, and starts a daemon on them.
func trusting(t *testing.T, mode string) (h *house, guard, observer string) {
	home := newHome(t)
	guard = writeHook(t, home, "guard", "events: [pre_tool_use]\n", "echo ran >>../../guard.ran\n")
	observer = writeHook(t, home, "watch", "events: ['*']\n", "echo ran >>../../watch.ran\n")
	h = start(t, home, func(c *config.Config) { c.FireStartup, c.ReloadMode = false, mode })
	if a := h.emit(rm); !a.Verdict.Allowed {
		t.Fatalf("denied from the start: %+v", a.Verdict)
	}
	h.until("the observer ran", func() bool { return len(ran(t, h, "watch")) > 0 })
	return h, guard, observer
}

func ran(t *testing.T, h *house, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.config.Home, name+".ran"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// Whatever lets another user change a hook between two runs, the next run is
// refused: a guard denies and names the command to type, and nothing is started. Once
// it is mended the hook runs again, at once.
func TestRefusedGuardsDeny(t *testing.T) {
	for _, tt := range []struct {
		name   string
		root   bool
		spoil  func(dir string) error
		mend   func(dir string) error
		advice string
	}{
		{"open-folder", false, func(dir string) error { return os.Chmod(dir, 0o777) }, func(dir string) error { return os.Chmod(dir, 0o755) }, "chmod go-w"},
		{"open-script", false, func(dir string) error { return os.Chmod(dir+"/run.sh", 0o757) }, func(dir string) error { return os.Chmod(dir+"/run.sh", 0o755) }, "chmod o-w"},
		{"open-parent", false, func(dir string) error { return os.Chmod(filepath.Dir(dir), 0o777) }, func(dir string) error { return os.Chmod(filepath.Dir(dir), 0o755) }, "chmod go-w"},
		{"setuid", false, func(dir string) error { return os.Chmod(dir+"/run.sh", 0o755|os.ModeSetuid) }, func(dir string) error { return os.Chmod(dir+"/run.sh", 0o755) }, "chmod ug-s"},
		{"others-script", true, func(dir string) error { return os.Chown(dir+"/run.sh", otherUser, 0) }, func(dir string) error { return os.Chown(dir+"/run.sh", 0, 0) }, "chown root"},
		{"others-definition", true, func(dir string) error { return os.Chown(dir+"/HOOK.yaml", otherUser, 0) }, func(dir string) error { return os.Chown(dir+"/HOOK.yaml", 0, 0) }, "chown root"},
		{"link-to-others", true, func(dir string) error {
			other := filepath.Join(filepath.Dir(filepath.Dir(dir)), "other")
			if err := os.WriteFile(other, []byte("#!/bin/sh\n"), 0o755); err != nil {
				return err
			}
			if err := os.Chown(other, otherUser, 0); err != nil {
				return err
			}
			if err := os.Rename(dir+"/run.sh", dir+"/run.old"); err != nil {
				return err
			}
			return os.Symlink(other, dir+"/run.sh")
		}, func(dir string) error { return os.Rename(dir+"/run.old", dir+"/run.sh") }, "chown root"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.root {
				hooktest.NeedRoot(t)
			}
			h, guard, _ := trusting(t, "auto")
			before := len(ran(t, h, "guard"))
			if err := tt.spoil(guard); err != nil {
				t.Fatal(err)
			}
			a := h.emit(rm)
			if a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, "refused: ") ||
				!strings.Contains(a.Verdict.Message, tt.advice) {
				t.Errorf("verdict %+v, want a denial that says %q", a.Verdict, tt.advice)
			}
			for _, r := range a.Runs {
				if r.Hook == "guard" && (r.Result != client.ResultSpawnError || !strings.Contains(r.Error, tt.advice)) {
					t.Errorf("run %+v, want one that did not start", r)
				}
			}
			if now := len(ran(t, h, "guard")); now != before {
				t.Errorf("the refused guard ran %d times", now-before)
			}
			h.until("the refusal is listed", func() bool {
				hook, err := h.client.Hook(t.Context(), "guard")
				return err == nil && hook.State == "refused" && len(hook.Problems) == 1 &&
					strings.Contains(hook.Problems[0].Hint, tt.advice)
			})
			if err := tt.mend(guard); err != nil {
				t.Fatal(err)
			}
			if a := h.emit(rm); !a.Verdict.Allowed {
				t.Errorf("mended, and still denied: %+v", a.Verdict)
			}
		})
	}
}

// A guard that is refused from its first load on denies as well, an observer
// that is refused says so and delays no event.
func TestRefusedAtLoad(t *testing.T) {
	home := newHome(t)
	guard := writeHook(t, home, "guard", "events: [pre_tool_use]\n", "exit 0\n")
	watch := writeHook(t, home, "watch", "events: ['*']\n", "exit 0\n")
	for _, dir := range []string{guard, watch} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	if a := h.emit(rm); a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, "chmod go-w "+guard) {
		t.Errorf("verdict %+v, want a denial with the command", a.Verdict)
	}
	if a := h.emit(`{"event":"post_tool_use","wait":true}`); !a.Verdict.Allowed {
		t.Errorf("a refused observer denied: %+v", a.Verdict)
	}
	h.until("the observer's refusal is logged", func() bool {
		return h.logs.FilterLevelExact(zap.WarnLevel).
			FilterField(zap.String("hook", "watch")).
			FilterMessage("hook did not start").
			Len() >
			0
	})
	s, err := h.client.Status(t.Context())
	if err != nil || s.Hooks["refused"] != 2 {
		t.Errorf("hooks %v, %v; want two refused", s.Hooks, err)
	}
	// The file is broken on top: the guard that was never accepted is no last good version.
	writeFile(t, filepath.Join(guard, "HOOK.yaml"), "name: guard\n", 0o644)
	if hook, err := h.reload("guard"); err != nil || hook.State != "rejected" {
		t.Errorf("hook %+v, %v; want it rejected", hook, err)
	}
}

func (h *house) reload(name string) (client.Hook, error) {
	h.Daemon.Reload()
	return h.client.Hook(h.t.Context(), name)
}

// A script that is saved runs as it was saved at the very next event, and no
// version of the script runs before its digest is on record.
func TestAScriptSwappedAfterLoad(t *testing.T) {
	h, guard, _ := trusting(t, "auto")
	for i, text := range []string{"exit 2", "exit 0", "echo no >&2; exit 2"} {
		next := filepath.Join(guard, "next")
		writeFile(t, next, "#!/bin/sh\n"+text+"\n", 0o755)
		if err := os.Rename(next, filepath.Join(guard, "run.sh")); err != nil {
			t.Fatal(err)
		}
		if a := h.emit(rm); a.Verdict.Allowed != (i == 1) {
			t.Errorf("%q: verdict %+v", text, a.Verdict)
		}
		hook, err := h.client.Hook(t.Context(), "guard")
		if err != nil || len(hook.Changes) != i+2 || hook.Changes[0].To != hook.Digest ||
			hook.Changes[0].From != hook.Changes[1].To ||
			hook.Changes[0].Change != "changed" {
			t.Errorf("changes %+v, %v; want the one to digest %s on top", hook.Changes, err, hook.Digest)
		}
	}
}

// Where only the user reloads, a swapped script waits for that.
func TestAScriptSwappedInManualMode(t *testing.T) {
	h, guard, _ := trusting(t, "manual")
	writeFile(t, filepath.Join(guard, "run.sh"), "#!/bin/sh\nexit 0\n", 0o755)
	a := h.emit(rm)
	if a.Verdict.Allowed || strings.Contains(a.Verdict.Message, "hookd reload") {
		t.Errorf("verdict %+v, want a denial that tells a model no command", a.Verdict)
	}
	if run := h.fullRun("guard"); !strings.Contains(run.Error, "hookd reload") {
		t.Errorf("run %q, want an error that asks a person for a reload", run.Error)
	}
	h.Daemon.Reload()
	if a := h.emit(rm); !a.Verdict.Allowed {
		t.Errorf("reloaded, and still denied: %+v", a.Verdict)
	}
}

// A broken HOOK.yaml keeps the last good version, and that goes on with a
// script that is saved meanwhile.
func TestLastGoodWithANewScript(t *testing.T) {
	h, guard, _ := trusting(t, "auto")
	writeFile(t, filepath.Join(guard, "HOOK.yaml"), "name: guard\nevents: [\n", 0o644)
	writeFile(t, filepath.Join(guard, "run.sh"), "#!/bin/sh\necho new >&2; exit 2\n", 0o755)
	if a := h.emit(rm); a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, "new") {
		t.Errorf("verdict %+v, want the new script's", a.Verdict)
	}
	if hook, err := h.reload("guard"); err != nil || hook.State != "degraded" {
		t.Errorf("hook %+v, %v; want it degraded", hook, err)
	}
}

// The home and the settings decide which programs run, so they are held to the same.
func TestTheHomeIsTheUsers(t *testing.T) {
	refused := func(t *testing.T, home, advice string) {
		t.Helper()
		d, err := New(Options{Config: config.Default(home)})
		if err == nil {
			t.Fatalf("hookd starts: %v", d)
		}
		if mend := Mend(err); !strings.Contains(mend, advice) || !strings.Contains(err.Error(), advice) {
			t.Errorf("error %v, mended by %q; want %q", err, mend, advice)
		}
	}
	t.Run("open", func(t *testing.T) {
		home := newHome(t)
		if err := os.Chmod(home, 0o777); err != nil {
			t.Fatal(err)
		}
		refused(t, home, "chmod go-w "+home)
	})
	t.Run("others", func(t *testing.T) {
		hooktest.NeedRoot(t)
		home := newHome(t)
		if err := os.Chown(home, otherUser, 0); err != nil {
			t.Fatal(err)
		}
		refused(t, home, "chown root "+home)
	})
	t.Run("others-lock", func(t *testing.T) {
		hooktest.NeedRoot(t)
		home := newHome(t)
		writeFile(t, filepath.Join(home, "hookd.lock"), "", 0o600)
		if err := os.Chown(filepath.Join(home, "hookd.lock"), otherUser, 0); err != nil {
			t.Fatal(err)
		}
		refused(t, home, "chown root "+filepath.Join(home, "hookd.lock"))
	})
	t.Run("open-settings", func(t *testing.T) {
		home := newHome(t)
		file := filepath.Join(home, "hookd.yaml")
		writeFile(t, file, "env: {A: b}\n", 0o600)
		if err := os.Chmod(file, 0o666); err != nil {
			t.Fatal(err)
		}
		refused(t, home, "chmod go-w "+file)
	})
	t.Run("private", func(t *testing.T) {
		home := newHome(t)
		if err := os.MkdirAll(filepath.Join(home, "hookd", "data"), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(home, "hookd.lock"), "", 0o644)
		h := start(t, home, nil)
		for name, want := range map[string]os.FileMode{"hookd": 0o700, "hookd/data": 0o700, "hookd.lock": 0o600, "hookd.sock": 0o600, "hookd/changes.log": 0o600} {
			h.until(name+" is there", func() bool {
				_, err := os.Stat(filepath.Join(home, name))
				return err == nil || name == "hookd/changes.log"
			})
			if info, err := os.Stat(filepath.Join(home, name)); err == nil && info.Mode().Perm() != want {
				t.Errorf("%s has mode %04o, want %04o", name, info.Mode().Perm(), want)
			}
		}
	})
	t.Run("made", func(t *testing.T) {
		home := filepath.Join(newHome(t), "h")
		start(t, home, nil)
		if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the home has mode %v, %v; want 0700", info.Mode(), err)
		}
	})
}

// Settings that others could have written are not put into force.
func TestOpenSettingsAreNotReloaded(t *testing.T) {
	home := newHome(t)
	file := filepath.Join(home, "hookd.yaml")
	writeFile(t, file, "log: {level: info}\n", 0o600)
	asked := 0
	d, err := New(
		Options{
			Config:      config.Default(home),
			Reconfigure: func() (config.Config, error) { asked++; return config.Default(home), nil },
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	hooktest.Until(t, "it serves", d.ready.Load)
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	did := d.Reload()
	if asked != 0 || len(did.Problems) != 1 || !strings.Contains(did.Problems[0].Message, "chmod go-w "+file) {
		t.Errorf("read %d times, problems %+v; want none read and the command", asked, did.Problems)
	}
}

// A change while no daemon ran is on record at the next start.
func TestChangesAreRecordedAcrossRestarts(t *testing.T) {
	home := newHome(t)
	quiet := func(c *config.Config) { c.FireStartup = false }
	writeHook(t, home, "a", "events: [x]\n", "exit 0\n")
	writeHook(t, home, "b", "events: [x]\n", "exit 0\n")
	h := start(t, home, quiet)
	h.stop()
	writeHook(t, home, "a", "events: [x, y]\n", "exit 0\n")
	if err := os.RemoveAll(filepath.Join(home, "hooks", "b")); err != nil {
		t.Fatal(err)
	}
	h = start(t, home, quiet)
	hook, err := h.client.Hook(t.Context(), "a")
	if err != nil || len(hook.Changes) != 2 || hook.Changes[0].Change != "changed" ||
		hook.Changes[0].To != hook.Digest ||
		!strings.Contains(hook.Changes[0].By, "HOOK.yaml of ") {
		t.Errorf("changes %+v, %v; want it added and changed", hook.Changes, err)
	}
	h.stop()
	text, err := os.ReadFile(h.config.ChangesFile())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		var c wire.Change
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.Time.IsZero() {
			t.Errorf("line %q: %v", line, err)
		}
		got = append(got, c.Hook+" "+c.Change)
	}
	if want := "a added, b added, a changed, b removed"; strings.Join(got, ", ") != want {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

// Saving a guard again and again, as editors do, fails no run.
func TestSavesFailNoRun(t *testing.T) {
	h, guard, _ := trusting(t, "auto")
	saved, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for range 40 {
			next := filepath.Join(guard, "next")
			if err := os.WriteFile(next, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
				t.Error(err)
			}
			if err := os.Rename(next, filepath.Join(guard, "run.sh")); err != nil {
				t.Error(err)
			}
			saved <- struct{}{}
		}
	}()
	for runs := 0; ; runs++ {
		select {
		case <-saved:
		case <-done:
			return
		}
		if a := h.emit(rm); !a.Verdict.Allowed {
			t.Errorf("run %d: %+v", runs, a.Verdict)
		}
	}
}

// A guard starts also while another process goes on writing a file that is among its
// arguments, each time as a version that has been read.
func TestAnArgumentThatGoesOnChanging(t *testing.T) {
	for _, mode := range []string{"spawn", "persistent"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			notes := filepath.Join(home, "notes")
			hooktest.Write(t, notes, "", 0o644)
			writeHook(t, home, "guard",
				"events: [pre_tool_use]\nargs: ["+notes+"]\nmode: "+mode+"\n", answering)
			h := start(t, home, nil)
			ctx, end := context.WithCancel(t.Context())
			var writing sync.WaitGroup
			writing.Go(func() {
				for ctx.Err() == nil {
					if err := os.WriteFile(notes, []byte(rand.Text()), 0o644); err != nil {
						t.Error(err)
					}
				}
			})
			for run := range 30 {
				if a := h.emit(`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"Bash"}}`); !a.Verdict.Allowed {
					t.Errorf("run %d: %+v", run, a.Verdict)
				}
			}
			end()
			writing.Wait()
		})
	}
}

// Whatever starts it, the script of a guard is a part of the hook: it waits to
// be allowed when it changes, and another user's is refused.
func TestWhatRunsIsThePart(t *testing.T) {
	for name, yaml := range map[string]string{
		"option":           "command: sh -e guard.sh\n",
		"option-m":         "command: sh -m guard.sh\n",
		"rcfile":           "command: env ENV=guard.sh sh -i\n",
		"env-S":            "command: env\nargs: [-S, 'sh guard.sh']\n",
		"xargs":            "command: xargs sh guard.sh\n",
		"nice":             "command: nice sh guard.sh\n",
		"text":             "command: sh\nargs: [-c, '. ./guard.sh']\n",
		"shebang-argument": "command: ./run.sh\n",
		"working-dir":      "command: sh guard.sh\nworking_dir: sub\n",
		"own-path":         "command: env guard.sh\nenv: {PATH: '${env.LIBREFANG_HOME}/hooks/guard/sub:${env.PATH}'}\n",
		"script":           "type: script\nscript: sh guard.sh\n",
		"preload":          "command: sh -i\nenv: {ENV: ./guard.sh}\n",
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			t.Setenv("LIBREFANG_HOME", home)
			dir := filepath.Join(home, "hooks", "guard")
			script := filepath.Join(dir, "guard.sh")
			if name == "working-dir" || name == "own-path" {
				script = filepath.Join(dir, "sub", "guard.sh")
			}
			if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, script, "#!/bin/sh\nexit 0\n", 0o755)
			writeFile(t, filepath.Join(dir, "run.sh"), "#!/usr/bin/env -S sh "+script+"\n", 0o755)
			writeFile(t, filepath.Join(dir, "HOOK.yaml"), "name: guard\nevents: [pre_tool_use]\n"+yaml, 0o644)
			c := config.Config{Home: home}
			h := start(
				t,
				home,
				func(settings *config.Config) { settings.ReloadMode, settings.FireStartup = "ask", false; c = *settings },
			)
			waiting := catalog.Waiting(c)
			if len(waiting) != 1 {
				t.Fatalf("%d hooks wait, want 1", len(waiting))
			}
			if err := catalog.Allow(c, waiting[0]); err != nil {
				t.Fatal(err)
			}
			if _, err := h.reload("guard"); err != nil {
				t.Fatal(err)
			}
			if a := h.emit(rm); !a.Verdict.Allowed {
				t.Fatalf("denied as it was allowed: %+v", a.Verdict)
			}
			writeFile(t, script, "#!/bin/sh\nexit 0 # x\n", 0o755)
			if a := h.emit(rm); a.Verdict.Allowed {
				t.Error("what was never allowed ran")
			}
			if os.Getuid() != 0 {
				return
			}
			writeFile(t, script, "#!/bin/sh\nexit 0\n", 0o755)
			if err := os.Chown(script, otherUser, 0); err != nil {
				t.Fatal(err)
			}
			if a := h.emit(rm); a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, "is owned by") {
				t.Errorf("a script of another user: %+v", a.Verdict)
			}
		})
	}
}

// A PATH with an empty entry, and an interpreter with a relative name, mean
// another program in each directory. In a PATH with a folder that is open to all,
// another user chooses the program of a name.
func TestWhatDependsOnTheDirectoryIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ yaml, script string }{
		"empty-entry":          {"env: {PATH: ':/usr/bin:/bin'}\n", "#!/bin/sh\n"},
		"relative-entry":       {"env: {PATH: '/usr/bin:/bin:.'}\n", "#!/bin/sh\n"},
		"relative-interpreter": {"", "#!./sh\n"},
		"open-folder":          {"env: {PATH: 'HOME/open:/usr/bin:/bin'}\n", "#!/bin/sh\n"},
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			dir := writeHook(t, home, "guard", "events: [pre_tool_use]\n"+strings.ReplaceAll(tt.yaml, "HOME", home), "")
			writeFile(t, filepath.Join(dir, "run.sh"), tt.script, 0o755)
			hooktest.Must(t, os.Mkdir(filepath.Join(home, "open"), 0o700))
			hooktest.Must(t, os.Chmod(filepath.Join(home, "open"), 0o777))
			h := start(t, home, func(c *config.Config) { c.FireStartup = false })
			if a := h.emit(rm); a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, "refused") {
				t.Errorf("got %+v", a.Verdict)
			}
		})
	}
}
