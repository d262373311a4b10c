// Package doctor examines everything that hookd depends on and reports each fault:
// the home and its files, the daemon, the machine, the hooks and their programs, and
// the way from an agent to its hooks.
//
// It promises: each problem, and each note that a person can act on, has the command
// that mends it. It works without a daemon, and then reports less. A check that cannot
// be made is reported as such, not as a problem. It changes nothing, with two
// exceptions: a probe is one event through an agent's bridge, so hooks that match a
// tool call run; and it locks the lock file for a moment, to see whether a process
// holds it.
//
// Files are judged as the process that they are about judges them: the daemon, which may
// act as another user than the person who asks.
//
// It mends nothing, and asks no service manager.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/wire"
)

// Level is how bad a finding is.
type Level string

const (
	OK      Level = "ok"
	Note    Level = "note"    // worth knowing; nothing is broken
	Problem Level = "problem" // needs the user
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"` // what was looked at: home, socket, hook, …
	Level Level  `json:"level"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // the command to type next; "" = none is needed
}

// Options of Look.
type Options struct {
	Config   config.Config
	Client   *client.Client
	Patience time.Duration // how long the daemon may take for one answer; 0 = 10 s

	Version  string // of this program; "" = not compared
	UserPath string // PATH of the user's shell
}

// visit is one examination of everything.
type visit struct {
	Options
	found []Finding

	uid    int                // the user that the daemon acts as, or would
	status *client.DaemonInfo // nil = the daemon does not answer
	hooks  []client.Hook      // as the daemon has them
	scan   *hook.Snapshot
	path   string          // PATH of hooks
	sound  map[string]bool // hooks by whether their program can be started; others have none
	fail   []string        // the commands that run the tests of guards whose tests fail
	hung   map[string]bool // what look has found not to answer
	dial   bool            // a daemon could answer
}

// Look makes every check, in the order in which things depend on each other.
func Look(ctx context.Context, o Options) []Finding {
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	v := &visit{Options: o, path: o.Config.Path, uid: os.Geteuid()}
	if v.path == "" {
		v.path = o.UserPath
	}
	home, store, hooks := v.Config.Home, v.Config.StorePath, v.Config.HooksDir
	v.look(short, "home", home, (*visit).whose)
	v.look(short, "home", home, (*visit).home)
	v.look(short, "socket", v.Client.Socket(), func(v *visit) { v.dial = v.socket() })
	if v.dial {
		v.daemon(ctx)
	}
	v.look(short, "lock", home, (*visit).lock)
	v.look(short, "files", home, (*visit).files)
	v.look(short, "token", "agents' settings", (*visit).httpToken)
	v.look(short, "metrics", "the token of metrics", (*visit).metricsToken)
	v.look(short, "memory", "/dev/shm", (*visit).memory)
	v.look(short, "disk", filepath.Dir(store), (*visit).disk)
	v.store()
	v.look(short, "watches", "/proc", (*visit).watches)
	v.look(long, "clock", filepath.Dir(store), func(v *visit) { v.clock(ctx) })
	v.look(short, "path", "a folder of PATH", (*visit).searchPath)
	v.look(long, "hooks", hooks, (*visit).scanned)
	if v.scan != nil {
		v.look(long, "programs", "a program of a hook", (*visit).programs)
		v.tests(ctx)
		v.states()
		v.look(long, "history", hooks, func(v *visit) { v.history(ctx) })
	}
	return v.found
}

// scanned reads the hooks as the daemon would.
func (v *visit) scanned() {
	local := v.Config
	local.Path = v.path
	v.scan = catalog.Scan(local)
}

// How long a look may take: at a few files, and at those of all hooks, or with
// questions to the daemon, which have bounds of their own.
const (
	short = 5 * time.Second
	long  = 30 * time.Second
)

// look calls f with a copy of v, which replaces it unless the file system that f looks at
// does not answer. Then that is reported once, and no other look is taken there.
func (v *visit) look(patience time.Duration, check, at string, f func(*visit)) {
	v.found = slices.Clip(v.found) // f may still add to its own when it is given up
	if !v.hung[at] && !inTime(patience, v, f) {
		v.hangs(check, at)
	}
}

// hangs reports that a file system does not answer.
func (v *visit) hangs(check, at string) {
	v.hung = maps.Clone(v.hung)
	if v.hung == nil {
		v.hung = map[string]bool{}
	}
	v.hung[at] = true
	v.say(check, Problem, "df", "not examined: the file system of %s does not answer", at)
}

// inTime calls f with a copy of s, and puts it in the place of s if f has returned
// within limit.
func inTime[S any](limit time.Duration, s *S, f func(*S)) bool {
	next := *s
	if !readfile.NewPatience(limit, nil).Try("", func() { f(&next) }) {
		return false
	}
	*s = next
	return true
}

// say adds a finding. do is typed for the user's own daemon: for the system's it is root's.
func (v *visit) say(check string, level Level, do, format string, args ...any) {
	if rest, own := strings.CutPrefix(do, "hookd "); own && v.Config.System {
		do = "sudo hookd --system " + rest
	}
	v.found = append(v.found, Finding{check, level, fmt.Sprintf(format, args...), do})
}

// ask returns a context for one request to the daemon.
func (v *visit) ask(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, v.Patience)
}

// daemon gets the daemon's status and hooks.
func (v *visit) daemon(ctx context.Context) {
	ctx, cancel := v.ask(ctx)
	defer cancel()
	st, err := v.Client.Status(ctx)
	if err != nil {
		if pid, _ := v.holder(); pid > 0 {
			return // to start another one is no use; lock reports this one
		}
	}
	switch {
	case errors.Is(err, client.ErrForeign):
		v.say("daemon", Problem, "export LIBREFANG_HOME=~/.librefang", "%v", err)
		return
	case errors.Is(err, client.ErrNotRunning):
		v.say("daemon", Problem, v.start(), "hookd is not running, so no hook runs")
		return
	case err != nil:
		v.say("daemon", Problem, "hookd status", "hookd does not answer: %v", err)
		return
	}
	v.status = &st
	if st.Path != "" {
		v.path = st.Path
	}
	if list, err := v.Client.Hooks(ctx); err == nil {
		v.hooks = list.Hooks
	}
	v.say(
		"daemon",
		OK,
		"",
		"runs with pid %d since %s, version %s",
		st.PID,
		st.Started.Local().Format("2006-01-02 15:04:05"),
		st.Version,
	)
	v.condition(st)
	v.checkGuarded(st.Unguarded)
	v.checkForward(st.Forward)
	v.fleet(ctx, st.Fleet)
}

// Unread reports whether hookd.yaml has changed since the daemon with this status read it.
func Unread(c config.Config, st client.DaemonInfo) bool {
	return st.Home == c.Home && st.Settings != "" && st.Settings != trust.Sum(c.File)
}

// condition reports the faults of a daemon that answers.
func (v *visit) condition(st client.DaemonInfo) {
	switch {
	case st.Draining:
		v.say("daemon", Note, "hookd status", "it is stopping, and takes no new events")
	case !st.Ready && st.Store.OK:
		v.say("daemon", Note, "hookd status", "it is starting")
	}
	if v.Version != "" && st.Version != v.Version {
		v.say(
			"daemon",
			Note,
			v.restart(),
			"it is version %s, this program is %s",
			st.Version,
			v.Version,
		)
	}
	if st.Home != v.Config.Home {
		v.say(
			"daemon",
			Note,
			"export LIBREFANG_HOME="+escape.Quote(st.Home),
			"it serves the home %s, these settings are of %s",
			st.Home,
			v.Config.Home,
		)
	}
	if Unread(v.Config, st) {
		v.say("settings", Problem, "hookd reload", "%s has changed since hookd read it: the old settings are in force",
			v.Config.SettingsFile())
	}
	for _, name := range slices.Sorted(maps.Keys(st.Restart)) {
		v.say("settings", Problem, v.restart(), "%s has changed, and hookd runs with %s until it is started again",
			name, cmp.Or(st.Restart[name], "none"))
	}
	if st.Queued > v.Config.QueueMaxEvents/2 {
		v.say(
			"daemon",
			Note,
			"hookd stats",
			"%d runs wait in memory: hooks are slower than their events come",
			st.Queued,
		)
	}
	if st.Behind {
		v.say(
			"daemon",
			Note,
			"hookd stats",
			"events wait on disk for room in the queue: hooks are slower than their events come",
		)
	}
}

// checkGuarded says which agents do not call hookd, or did not do as it said.
func (v *visit) checkGuarded(list []client.Unguarded) {
	for _, u := range list {
		if u.Gone != "" {
			v.say("agents", Problem, u.Do, "%s is not guarded: %s", u.Agent, u.Gone)
		}
		if u.Disobeyed > 0 {
			v.say("agents", Problem, "hookd log --disobeyed",
				"%s ran %s against the answer within a day", u.Agent, card.Plural(int(u.Disobeyed), "call"))
		}
		if u.NotAsked > 0 {
			v.say("agents", Problem, "hookd blindspots "+string(u.Agent),
				"%s ran %s within a day that hookd was not asked about", u.Agent, card.Plural(int(u.NotAsked), "call"))
		}
	}
}

// WaitingText says how many decisions wait for a target of forward. They are counted up to a limit.
func WaitingText(f client.Forward) string {
	if f.Waiting >= wire.MostWaiting {
		return fmt.Sprintf("%d or more", f.Waiting)
	}
	return fmt.Sprint(f.Waiting)
}

// checkForward says which targets of the setting forward do not get decisions.
func (v *visit) checkForward(list []client.Forward) {
	for _, f := range list {
		switch {
		case f.Error != "":
			v.say("forward", Problem, "hookd status", "decisions are not handed on to %s (%s): %s", f.Name, f.To, f.Error)
		case f.Missed > 0:
			v.say("forward", Note, "hookd status", "%d decisions were pruned before they were handed on to %s", f.Missed, f.Name)
		default:
			v.say("forward", OK, "", "%s has the decisions; %s wait", f.Name, WaitingText(f))
		}
	}
}

// Worst returns the highest level of findings; OK for none.
func Worst(found []Finding) Level {
	worst := OK
	for _, f := range found {
		if f.Level == Problem || worst == OK {
			worst = f.Level
		}
	}
	return worst
}

// names returns a list of names for people: of many, the first few.
func names(list []string) string {
	const most = 8
	slices.Sort(list)
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}
