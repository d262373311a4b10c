// Package system says where the system daemon of this machine is, whether it must
// answer, and whether a process that listens on its socket is it.
//
// Its paths are compiled in: no variable, flag or file of a user moves them. In doubt it
// says that the daemon is there and must answer. It uses the standard library alone, as
// the bridge does; it reads one small file, dials nothing and decides nothing.
package system

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/hookd/hookd/internal/base/peer"
	"github.com/hookd/hookd/internal/base/readfile"
)

// The places of a program. Only the linker sets others, for a program to be tried:
// go build -ldflags "-X github.com/hookd/hookd/internal/base/system.folder=/tmp/x/etc".
var (
	folder = "/etc/hookd"
	socket = runFolder + "/hookd/hookd.sock"
	state  = stateFolder
)

// User is the name of the user that the system daemon runs as.
const User = "hookd"

// A Place is where a system daemon is.
type Place struct {
	Folder string // of its settings and hooks, root's alone
	Socket string // in a folder that the daemon's user owns
	State  string // of what it writes
	Root   int    // the uid that counts as root; 0 but in tests
}

var substitute atomic.Pointer[Place]

// Here returns the place of this machine's system daemon, which need not be there.
func Here() Place {
	if p := substitute.Load(); p != nil {
		return *p
	}
	return Place{Folder: folder, Socket: socket, State: state}
}

// Substitute makes Here return p until restore is called. It is for tests.
func Substitute(p Place) (restore func()) {
	was := substitute.Swap(&p)
	return func() { substitute.Store(was) }
}

// Folder is the folder of the settings, as compiled in. Package early calls it before Go has started.
//
//go:nosplit
func Folder() string { return folder }

// Settings is the file whose presence says that there is a system daemon.
func (p Place) Settings() string { return filepath.Join(p.Folder, "hookd.yaml") }

// Look returns whether this machine has a system daemon, and whether its answer is
// required. One whose settings cannot be read is required.
func (p Place) Look() (present, required bool) {
	if _, err := os.Lstat(p.Settings()); errors.Is(err, fs.ErrNotExist) {
		return false, false // most machines: a bridge asks at each start
	}
	text, err := readfile.Read(p.Settings(), readfile.Limit)
	return true, err != nil || Required(text)
}

// Required reports whether the text of a hookd.yaml says that the system daemon's answer
// is required. It knows no YAML: each line that has the word says so, unless it is a
// comment or `required: false`. The daemon refuses settings that mean another thing.
func Required(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		said, _, _ := strings.Cut(line, " #")
		switch {
		case !strings.Contains(line, "required"), strings.HasPrefix(strings.TrimLeft(line, " \t"), "#"):
		case strings.TrimRight(said, " \t") == "required: false":
		default:
			return true
		}
	}
	return false
}

// Check returns why a process that listens on the socket is not the system daemon; nil =
// it is. It must be root's or that of the user that owns the socket's folder, which root
// alone can have made.
func (p Place) Check(listener peer.Process) error {
	if listener.UID == p.Root {
		return nil
	}
	dir := filepath.Dir(p.Socket)
	owner, err := p.ownerOf(dir)
	switch {
	case err != nil:
		return err
	case listener.UID != owner:
		return fmt.Errorf("uid %d listens there with pid %d, and %s belongs to uid %d",
			listener.UID, listener.PID, dir, owner)
	}
	return nil
}

// ownerOf returns the owner of the socket's folder, if root decides which it is.
func (p Place) ownerOf(dir string) (uid int, err error) {
	above, err := os.Stat(filepath.Dir(dir))
	if err != nil {
		return 0, err
	}
	if owner := uidOf(above); owner != p.Root || above.Mode().Perm()&0o002 != 0 && above.Mode()&fs.ModeSticky == 0 {
		return 0, fmt.Errorf("%s is not root's alone", filepath.Dir(dir))
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return 0, err
	}
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return 0, fmt.Errorf("%s is no folder that its owner alone can write to", dir)
	}
	return uidOf(info), nil
}

func uidOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// Shown reports whether a user may see the daemon's files and its state: root, and the user that it runs as.
// Where that is not known, any may.
func (p Place) Shown(uid int) bool {
	info, err := os.Stat(filepath.Dir(p.Socket))
	return uid == p.Root || err != nil || uidOf(info) == uid
}
