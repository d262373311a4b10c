package attack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/peer/listener"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// known is a command that guards of a machine often deny. It is sent, and never run.
const known = "mkfs /dev/sdzz"

// askSystem is the answer to a call of an agent whose user settings do not call hookd:
// where its settings for all users do, the system daemon is asked.
func askSystem(ctx context.Context, o Options, command string) answer {
	if managed(events.Dialect(agent())) == "" {
		return answer{false, "", "the call passes: no settings of root call hookd, see: sudo hookd connect " + agent() + " --managed"}
	}
	got := o.bridge(ctx, []string{agent()}, os.Environ(), command)
	if !got.denied && command != known {
		if other := o.bridge(ctx, []string{agent()}, os.Environ(), known); other.denied {
			other.seen = "the own guard is out; root's settings still call hookd, and the system daemon denies: " + known
			return other
		}
	}
	return got
}

// managed is the file of an agent's settings for all users, where it calls hookd; "" = it does not.
func managed(d events.Dialect) string {
	s := dialect.Settings(d)
	if s == nil {
		return ""
	}
	path := s.Managed.Linux
	if runtime.GOOS == "darwin" {
		path = s.Managed.MacOS
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "hookd") {
		return ""
	}
	return path
}

// trySystem makes the attempts on the system daemon; none where there is none.
func (o Options) trySystem(ctx context.Context) (list []AttackResult) {
	place := system.Here()
	present, required := place.Look()
	if !present {
		none := "this machine has none: sudo hookd install --system"
		return []AttackResult{{Layer: System, What: "attack the system daemon", Seen: none}}
	}
	add := func(what string, worked bool, seen string) {
		list = append(list, AttackResult{Layer: System, What: what, Worked: worked, Seen: seen, Tried: true})
	}
	for _, folder := range []struct{ what, path string }{
		{"add or change its hooks", filepath.Join(place.Folder, "hooks")},
		{"replace its settings", place.Folder},
		{"replace its socket", filepath.Dir(place.Socket)},
	} {
		err := canAdd(folder.path)
		if errors.Is(err, fs.ErrNotExist) {
			err = canAdd(filepath.Dir(folder.path))
		}
		add(folder.what, err == nil, seenOf(err, "files can be made in "+folder.path))
	}
	err := canWrite(place.Settings())
	add("write its settings", err == nil, seenOf(err, place.Settings()+" can be written"))
	for _, program := range []string{o.Program, o.Bridge} {
		write, folder := canWrite(program), canAdd(filepath.Dir(program))
		if write == nil || folder == nil {
			add("replace "+filepath.Base(program), true, program+" can be replaced")
		} else {
			add("replace "+filepath.Base(program), false, seenOf(folder, ""))
		}
	}
	upper := client.New(client.Options{Socket: place.Socket, Timeout: 5 * time.Second})
	return append(append(list, managedSettings()...), killDaemon(place), readSystem(ctx, upper),
		o.moveEnvironment(ctx, upper, required))
}

// readSystem asks the system daemon for root's hooks, history and asks.
func readSystem(ctx context.Context, upper *client.Client) AttackResult {
	r := AttackResult{Layer: System, What: "read its hooks, history and asks"}
	_, err := upper.Hooks(ctx)
	if errors.Is(err, client.ErrNotRunning) {
		r.Seen = "not tried: " + err.Error()
		return r
	}
	r.Tried, r.Worked, r.Seen = true, err == nil, seenOf(err, "it answers")
	return r
}

// moveEnvironment tries to have the bridge ask another daemon.
func (o Options) moveEnvironment(ctx context.Context, upper *client.Client, required bool) AttackResult {
	what := "have the bridge pass it by: HOOKD_SOCKET, LIBREFANG_HOME, HOME, PATH, and a daemon that allows everything"
	r := AttackResult{Layer: System, What: what}
	before := o.bridge(ctx, []string{agent()}, os.Environ(), known)
	if !before.denied {
		r.Seen = "not tried: no guard of the system denies `" + known + "`"
		if upper.Alive(ctx) != nil && !required {
			r.Seen = "not tried: the system daemon does not answer, and required is false"
		}
		return r
	}
	c, err := o.newCopy(ctx)
	if err != nil {
		r.Seen = "not tried: " + err.Error()
		return r
	}
	defer c.end()
	if err := c.ownDaemon(); err != nil {
		r.Seen = "not tried: " + err.Error()
		return r
	}
	env := c.environ(append(c.env, "HOME="+c.dir, "PATH="+c.dir, "XDG_CACHE_HOME="+c.dir)...)
	after := o.bridge(ctx, c.args, env, known)
	r.Tried, r.Worked, r.Seen, r.Denier = true, !after.denied, after.seen, after.by
	return r
}

// managedSettings are attempts on the settings that root wrote for agents.
func managedSettings() (list []AttackResult) {
	for _, d := range events.Dialects() {
		path := managed(d)
		if path == "" {
			continue
		}
		write, add := canWrite(path), canAdd(filepath.Dir(path))
		list = append(list, AttackResult{
			Layer: System, What: "change the settings of " + string(d) + " for all users", Tried: true,
			Worked: write == nil || add == nil, Seen: seenOf(errors.Join(write, add), path+" can be changed"),
		})
	}
	return list
}

// killDaemon sends signal 0 to the process that listens, which shows whether others would
// reach it.
func killDaemon(place system.Place) AttackResult {
	r := AttackResult{Layer: System, What: "kill it"}
	process, err := listener.Of(place.Socket)
	if err != nil {
		r.Seen = "not tried: " + err.Error()
		return r
	}
	err = syscall.Kill(process.PID, 0)
	r.Tried, r.Worked, r.Seen = true, err == nil, seenOf(err, fmt.Sprintf("pid %d takes signals", process.PID))
	return r
}

// outside are ways past every guard: an agent that does not call it.
func outside(ctx context.Context) []AttackResult {
	list := []AttackResult{{
		Layer: Outside, What: "start an agent without its hooks: another program, a copy of the agent, or a shell of one's own",
		Tried: true, Worked: true, Seen: "hookd is asked by agents alone; what a user runs is for the system to limit",
	}}
	r := AttackResult{Layer: Outside, What: "hide /etc from an agent in a user namespace, which its starter must make first"}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		r.Seen = "not tried: there is no unshare"
		return append(list, r)
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, unshare, "--user", "--map-root-user", "--mount", "true").CombinedOutput()
	r.Tried, r.Worked, r.Seen = true, err == nil, "the system lets users make namespaces"
	if err != nil {
		r.Seen = "refused: " + firstLine(out)
	}
	return append(list, r)
}

// canWrite opens a file for writing, and writes nothing.
func canWrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ETXTBSY) {
		return nil // it runs, and could be written otherwise
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// canAdd makes a file in a folder and removes it: a user who may can replace others. Hooks
// and settings whose names begin with a dot are not read.
func canAdd(dir string) error {
	f, err := os.CreateTemp(dir, ".hookd-attack-*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func seenOf(err error, possible string) string {
	if err == nil {
		return possible
	}
	return "refused: " + strings.ReplaceAll(err.Error(), "\n", "; ")
}
