package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/proc"
)

// whose finds the user that the daemon acts as: the user of the process that has the home, else
// the user of the system daemon, else the person who asks.
func (v *visit) whose() {
	if pid, _ := v.holder(); pid > 0 {
		if uid, known := proc.UIDOf(pid); known {
			v.uid = uid
			return
		}
	}
	if !v.Config.System {
		return
	}
	if u, err := user.Lookup(system.User); err == nil {
		if uid, err := strconv.Atoi(u.Uid); err == nil {
			v.uid = uid
			return
		}
	}
	if info, err := os.Stat(v.Config.State); err == nil { // a unit with another user
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			v.uid = int(st.Uid)
		}
	}
}

// name is the user that the daemon acts as, for people.
func (v *visit) name() string {
	if v.uid == os.Geteuid() {
		return "you"
	}
	if u, err := user.LookupId(strconv.Itoa(v.uid)); err == nil {
		return "user " + u.Username
	}
	return "user " + strconv.Itoa(v.uid)
}

// home checks the folder and the settings, which the daemon refuses when other users
// can change them.
func (v *visit) home() {
	dir := v.Config.Home
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		do, maker := "hookd serve", "the daemon makes it"
		if v.Config.System {
			do, maker = "hookd install", "that makes it"
		} else if above := existing(dir); closed(v.uid, above) {
			v.say("home", Problem, chooseHome, "%s cannot be made: %s may not be written by %s", dir, above, v.name())
			return
		}
		v.say("home", Note, do, "%s does not exist yet; %s", dir, maker)
		return
	case err != nil:
		v.say("home", Problem, "ls -ld "+escape.Quote(dir), "%v", err)
		return
	case !info.IsDir():
		v.say("home", Problem, "mv "+escape.Quote(dir)+" "+escape.Quote(dir+".old"), "%s is not a folder", dir)
		return
	case closed(v.uid, dir):
		v.say("home", Problem, "chmod u+rwx "+escape.Quote(dir), "%s, mode %04o, may not be written by %s", dir,
			info.Mode().Perm(), v.name())
		return
	}
	files := trust.Files{Folder: dir, Read: []string{v.Config.SettingsFile()}}
	if v.Config.System {
		files.Read = append(files.Read, v.Config.HooksDir)
	}
	refusals := slices.Clone(v.Config.CheckerOf(v.uid).Seal(files).Refusals())
	refusals = append(refusals, trust.Of(v.uid).Database(v.Config.StorePath)...)
	for _, r := range refusals {
		v.say("home", Problem, r.Do, "%s %s: hookd does not start like that", r.Path, r.Fact)
	}
	if held := v.Config.Held; len(held) > 0 {
		v.say(
			"settings",
			Problem,
			"hookd allow --settings",
			"hookd.yaml has changed and waits to be allowed: %s; until then the settings before stay in force",
			strings.Join(held, ", "),
		)
	}
	if len(refusals) == 0 {
		v.say("home", OK, "", "%s, mode %04o", dir, info.Mode().Perm())
	}
}

// chooseHome is typed where the home can be none.
const chooseHome = "export LIBREFANG_HOME=/some/folder"

// existing is the nearest folder above path that is there.
func existing(path string) string {
	for {
		path = filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
	}
}

// closed reports whether a user, where that is the caller, may not write into a folder.
func closed(uid int, folder string) bool {
	return uid == os.Geteuid() && unix.Access(folder, unix.W_OK|unix.X_OK) != nil
}

// maxSocket is the longest path that a socket can have here.
const maxSocket = len(unix.RawSockaddrUnix{}.Path) - 1

// socket checks the file, and returns whether a daemon could answer there; daemon
// checks whether one does.
func (v *visit) socket() bool {
	path := v.Client.Socket()
	if len(path) > maxSocket {
		v.say(
			"socket",
			Problem,
			`export HOOKD_SOCKET="$HOME/.hookd.sock"`,
			"the path %s has %d bytes, this system allows %d",
			path,
			len(path),
			maxSocket,
		)
		return false
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.say("socket", OK, "", "%s is not there; the daemon makes it", path)
	case err != nil:
		v.say("socket", Problem, "ls -ld "+escape.Quote(filepath.Dir(path)), "%v", err)
		return false
	case info.Mode()&fs.ModeSocket == 0:
		v.say(
			"socket",
			Problem,
			"mv "+escape.Quote(path)+" "+escape.Quote(path+".old"),
			"%s is not a socket, and in its way",
			path,
		)
		return false
	case v.Config.System && info.Mode().Perm()&0o006 != 0o006:
		v.say("socket", Problem, v.restart(), "%s has mode %04o: agents of other users are not answered",
			path, info.Mode().Perm())
	case !v.Config.System && info.Mode().Perm()&0o077 != 0:
		v.say(
			"socket",
			Problem,
			"chmod 600 "+escape.Quote(path),
			"%s has mode %04o: others may try to connect",
			path,
			info.Mode().Perm(),
		)
	default:
		v.say("socket", OK, "", "%s, mode %04o", path, info.Mode().Perm())
	}
	return true
}

// holder returns the pid of the process that has the home, 0 for none.
func (v *visit) holder() (int, error) {
	f, err := os.OpenFile(v.Config.LockFile(), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block for ever
	if err != nil {
		return 0, err
	}
	defer f.Close() // releases the lock
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != unix.EWOULDBLOCK {
		return 0, nil
	}
	text := make([]byte, 32)
	n, _ := f.Read(text) // without a number it has just been taken
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil || pid <= 0 {
		return 0, nil // it has just been taken
	}
	return pid, nil
}

// restart returns the command that ends a daemon, which takes as long as its hooks may run, and starts the next one.
func (v *visit) restart() string { return v.Config.Restart() }

// replace is restart for a daemon that does not answer, whose process has the number pid.
func (v *visit) replace(pid int) string {
	if v.Config.System {
		return v.restart()
	}
	return fmt.Sprintf("kill %[1]d; while kill -0 %[1]d 2>/dev/null; do sleep 1; done; hookd serve", pid)
}

// start returns a command that starts a daemon.
func (v *visit) start() string {
	if v.Config.System {
		return v.restart()
	}
	return "hookd serve"
}

// lock checks that the process that has the home is the process that answers.
func (v *visit) lock() {
	path := v.Config.LockFile()
	pid, err := v.holder()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		v.say("lock", Problem, "ls -l "+escape.Quote(path), "%v", err)
	case pid > 0 && v.status == nil && proc.Stopped(pid):
		v.say("lock", Problem, fmt.Sprintf("kill -CONT %d", pid), "pid %d has the lock of this home and is stopped, by SIGSTOP or Ctrl-Z", pid)
	case pid > 0 && v.status == nil:
		v.say(
			"lock",
			Problem,
			v.replace(pid),
			"pid %d has the lock of this home and does not answer on the socket: it hangs (then it takes kill -9), starts, or has another socket",
			pid,
		)
	case pid > 0 && v.status.PID != pid:
		v.say(
			"lock",
			Problem,
			"hookd status",
			"pid %d has the lock of this home, but pid %d answers on the socket",
			pid,
			v.status.PID,
		)
	case pid > 0:
		v.say("lock", OK, "", "held by pid %d", pid)
	case v.status != nil && v.status.Home == v.Config.Home:
		v.say(
			"lock",
			Problem,
			v.restart(),
			"the daemon that answers has lost its lock (was %s removed?): a second one could start",
			path,
		)
	case v.status == nil && v.left():
		v.say("lock", OK, "", "free; the socket is what a killed daemon left, and the next one replaces it")
	default:
		v.say("lock", OK, "", "free")
	}
}

// left reports whether the socket of a daemon that has ended still exists.
func (v *visit) left() bool {
	info, err := os.Lstat(v.Client.Socket())
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

// files checks the files that only the user may read: the history and the token.
func (v *visit) files() {
	private, _ := filepath.Glob(v.Config.StorePath + "*") // a strange pattern finds nothing
	private = append(private, v.Config.TokenFile(), v.Config.MetricsTokenFile(), filepath.Join(v.Config.Home, "hookd"))
	bad, seen := false, []string{}
	for _, path := range private {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		seen = append(seen, filepath.Base(path))
		if v.uid != 0 && !mayUse(path, v.uid, nil, 0o6) {
			do := "sudo chown " + strconv.Itoa(v.uid) + " " + escape.Quote(path)
			v.say("files", Problem, do, "%s cannot be written by the daemon, %s", path, v.name())
			bad = true
		}
		if info.Mode().Perm()&0o077 != 0 && !isTokenFile(v.Config, path) { // those are reported by what uses them
			v.say(
				"files",
				Problem,
				"chmod go= "+escape.Quote(path),
				"%s has mode %04o: others may read what agents and hooks said",
				path,
				info.Mode().Perm(),
			)
			bad = true
		}
	}
	if slices.Sort(seen); len(seen) > 0 && !bad {
		v.say("files", OK, "", "%s are readable by %s alone", strings.Join(seen, ", "), v.name())
	}
}
