package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/proc"
)

// states reports the hooks that do not run as their files say: as the daemon has them,
// or as a daemon that starts now would.
func (v *visit) states() {
	hooks, loose := v.hooks, []client.Problem(nil)
	if v.status == nil {
		hooks = fromDisk(v.scan)
	}
	for _, p := range v.scan.Problems {
		loose = append(loose, client.Problem(p))
	}
	v.problems("hooks", loose)
	if v.status != nil {
		for _, p := range v.status.Problems { // a repository need not be trusted
			if strings.HasSuffix(p.File, "/.hookd/hooks") {
				v.say("projects", Note, p.Hint, "%s: %s", p.File, p.Message)
			}
		}
	}
	snoozed := map[string]time.Time{}
	for _, s := range discovery.NewMarkers(v.Config.DisabledDir()).Snoozed() {
		snoozed[s.Hook] = s.Until
	}
	var off []string
	active := 0
	for _, h := range hooks {
		switch hook.State(h.State) {
		case hook.Disabled:
			end, pauses := snoozed[h.Name]
			switch byFleet := byFleet(h); {
			case len(byFleet) > 0:
				v.problems("hook "+h.Name, byFleet)
			case pauses:
				v.say("hook "+h.Name, Note, "hookd snooze "+escape.Quote(h.Name)+" --end",
					"off until %s, then on again", end.Local().Format("2006-01-02 15:04"))
			default:
				off = append(off, h.Name)
			}
			continue
		case hook.Active:
			active++
		}
		v.problems("hook "+h.Name, v.toReport(h))
	}
	switch {
	case len(hooks) == 0:
		v.say("hooks", Note, "hookd new hello --lang sh", "there are none yet in %s", v.Config.HooksDir)
	case active > 0:
		v.say("hooks", OK, "", "%d of %d are active", active, len(hooks))
	}
	if len(off) > 0 {
		v.say("hooks", Note, "hookd enable "+escape.Quote(off[0]), "switched off: %s", names(off))
	}
}

// byFleet returns the problem of a hook that the fleet has switched off; nil = it has not.
func byFleet(h client.Hook) []client.Problem {
	return slices.DeleteFunc(slices.Clone(h.Problems), func(p client.Problem) bool {
		return !strings.HasPrefix(p.Hint, "hookd fleet enable ")
	})
}

// fromDisk returns the part of the daemon's answer that a scan can give.
func fromDisk(s *hook.Snapshot) (list []client.Hook) {
	for _, e := range s.Entries {
		h := client.Hook{Name: e.Name, State: string(e.State), File: e.File}
		for _, p := range e.Problems {
			h.Problems = append(h.Problems, client.Problem(p))
		}
		list = append(list, h)
	}
	return list
}

// problems reports the problems of loading: errors, and hooks that wait to be allowed,
// need the user.
func (v *visit) problems(check string, list []client.Problem) {
	for _, p := range list {
		level, do := Problem, "hookd validate "+escape.Quote(folderOf(p.File))
		bare := p
		bare.Hint = ""
		found := bare.String()
		switch {
		case command(p.Hint):
			do = p.Hint
		case p.Hint != "":
			found += " (" + p.Hint + ")"
		}
		if p.Warning && !strings.HasPrefix(p.Hint, "hookd allow ") && !strings.HasPrefix(p.Hint, "hookd trust ") {
			level = Note
		}
		v.say(check, level, do, "%s", found)
	}
}

// toReport returns the problems of a hook's file to report: the errors, and warnings only
// if there are none; none about a program or about tests that are reported already.
func (v *visit) toReport(h client.Hook) []client.Problem {
	list := slices.Clone(h.Problems)
	if sound, starts := v.sound[h.Name]; starts && !sound {
		list = slices.DeleteFunc(
			list,
			func(p client.Problem) bool { return p.Warning && strings.HasPrefix(p.Message, "command ") },
		)
	}
	list = slices.DeleteFunc(list, func(p client.Problem) bool { return slices.Contains(v.fail, p.Hint) })
	if slices.ContainsFunc(list, func(p client.Problem) bool { return !p.Warning }) {
		list = slices.DeleteFunc(list, func(p client.Problem) bool { return p.Warning })
	}
	return list
}

// command reports whether a hint can be typed as it is.
func command(hint string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(hint, "sudo "), " ")
	return slices.Contains([]string{"chmod", "chown", "setfacl", "hookd"}, first)
}

func folderOf(file string) string {
	if filepath.Base(file) == "HOOK.yaml" {
		return filepath.Dir(file)
	}
	return file
}

// programs checks the program that each hook starts: does it exist, can it be run, and is the
// interpreter of its first line in the PATH of hooks.
func (v *visit) programs() {
	broken := 0
	v.sound = map[string]bool{}
	for _, e := range v.scan.Entries {
		h := e.Hook
		if h == nil || e.State == hook.Disabled || e.State == hook.Refused || e.State == hook.Gone {
			continue
		}
		program := h.Path
		if h.Type == hook.Script {
			program = h.Shell
		}
		if program == "" {
			continue // built-ins have none; a command that was not found is a problem of the file
		}
		if v.reach(h, program) {
			v.sound[h.Name] = false
			broken++
			continue
		}
		err := proc.Check(v.spec(h, program))
		v.sound[h.Name] = err == nil
		if err == nil {
			continue
		}
		broken++
		found, do := advice(err)
		if name, missing := missingProgram(err); missing {
			if at := v.elsewhere(name); at != "" {
				found, do = found+"; your shell has it as "+at, "hookd install"
			}
		}
		v.say("hook "+h.Name, Problem, do, "%s", found)
	}
	if n := len(v.sound); n > 0 && broken == 0 {
		v.say("programs", OK, "", "all %d can be started, with their interpreters", n)
	}
}

// spec returns the part of a hook's start that can be checked: its program, the PATH in
// which env would look, and its folder, unless events choose that.
func (v *visit) spec(h *hook.Hook, program string) proc.Spec {
	lookup := func(name string) string {
		if name == "PATH" {
			return v.path
		}
		return os.Getenv(name)
	}
	s := proc.Spec{Path: program, Env: append([]string{"PATH=" + v.path}, h.Environ(lookup)...)}
	if !h.InEventCwd {
		s.Dir = h.RunDir("", lookup)
	}
	return s
}

// advice splits an error of package proc into the fact and the command.
func advice(err error) (found, do string) {
	found, do, _ = strings.Cut(strings.TrimPrefix(err.Error(), "start "), "; type: ")
	return found, do
}

// missingProgram returns the program that env did not find.
func missingProgram(err error) (string, bool) {
	var start *proc.StartError
	if !errors.As(err, &start) {
		return "", false
	}
	_, rest, ok := strings.Cut(start.Message, "asks env for ")
	name, _, _ := strings.Cut(rest, ",")
	return name, ok
}

const (
	recently = 24 * time.Hour
	longAgo  = 7 * 24 * time.Hour
	manyRuns = 3 // that failed, and no other, are worth a note
)

// history reports hooks that did not start lately, that always fail, and that never
// ran.
func (v *visit) history(ctx context.Context) {
	if v.status == nil {
		v.say("history", OK, "", "not looked at: only the daemon reads it")
		return
	}
	ctx, cancel := v.ask(ctx)
	defer cancel()
	v.spawnErrors(ctx)
	lately, err := v.Client.Stats(ctx, client.StatsQuery{Since: time.Now().Add(-recently)})
	if err != nil {
		return // clock has reported that the history cannot be read
	}
	for _, s := range lately {
		if sound, starts := v.sound[s.Hook]; s.Runs >= manyRuns && s.Failures == s.Runs && (sound || !starts) {
			why, do := v.lastError(ctx, s.Hook)
			v.say("hook "+s.Hook, Note, cmp.Or(do, "hookd log runs --hook "+escape.Quote(s.Hook)),
				"all of its %d runs of the last day failed%s", s.Runs, why)
		}
	}
	v.idle(ctx)
}

// lastError returns ": " and the error of a hook's newest run, and the command to type; "" = that
// is not known.
func (v *visit) lastError(ctx context.Context, name string) (why, do string) {
	runs, err := v.Client.Runs(ctx, client.RunQuery{Hook: name, Limit: 1})
	if err != nil && !errors.Is(err, client.ErrRecent) || len(runs) == 0 || runs[0].Error == "" {
		return "", ""
	}
	found, do := advice(errors.New(runs[0].Error))
	return ": " + found, do
}

// spawnErrors reports active hooks whose newest run did not start, unless their
// programs are reported already.
func (v *visit) spawnErrors(ctx context.Context) {
	runs, err := v.Client.Runs(
		ctx,
		client.RunQuery{Result: client.ResultSpawnError, Since: time.Now().Add(-recently), Limit: 200},
	)
	if err != nil {
		return // clock has reported it
	}
	seen := map[string]bool{}
	for _, r := range runs { // newest first
		if seen[r.Hook] {
			continue
		}
		seen[r.Hook] = true
		newest, err := v.Client.Runs(ctx, client.RunQuery{Hook: r.Hook, Limit: 1})
		sound, starts := v.sound[r.Hook]
		if err != nil || len(newest) != 1 || newest[0].ID != r.ID || !v.active(r.Hook) || starts && !sound {
			continue
		}
		found, do := advice(errors.New(r.Error))
		if sound {
			v.say(
				"hook "+r.Hook,
				Note,
				"hookd test "+escape.Quote(r.Hook),
				"its last run, at %s, did not start; it seems to be mended since: %s",
				r.Started.Local().Format("2006-01-02 15:04:05"),
				found,
			)
		} else {
			v.say("hook "+r.Hook, Problem, cmp.Or(do, "hookd log output "+r.ID),
				"its last run, at %s, did not start: %s", r.Started.Local().Format("2006-01-02 15:04:05"), found)
		}
	}
}

func (v *visit) active(name string) bool {
	return slices.ContainsFunc(
		v.hooks,
		func(h client.Hook) bool { return h.Name == name && h.State == string(hook.Active) },
	)
}

// idle reports hooks that were loaded long ago and never ran.
func (v *visit) idle(ctx context.Context) {
	all, err := v.Client.Stats(ctx, client.StatsQuery{})
	if err != nil {
		return
	}
	var never []string
	for _, h := range v.hooks {
		info, err := os.Stat(h.File)
		ran := h.LastRun != nil || slices.ContainsFunc(all, func(s client.HookStats) bool { return s.Hook == h.Name })
		if h.State == string(hook.Active) && !ran && err == nil && time.Since(info.ModTime()) > longAgo {
			never = append(never, h.Name)
		}
	}
	if len(never) > 0 {
		v.say(
			"hooks",
			Note,
			"hookd show "+escape.Quote(never[0]),
			"older than a week and never run, as far as the history goes: %s",
			names(never),
		)
	}
}
