package box

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// harmless are the devices that each box has, beside its terminal.
var harmless = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}

// Further names in /dev that a box keeps, and beginnings of such: terminals, memory, and processors for graphics.
var (
	usualDevices = []string{"pts", "shm", "fd", "net", "mqueue", "hugepages", "dri", "kvm"}
	usualKinds   = []string{"tty", "nvidia", "std"}
)

// hostDevices lists the devices that this user may use as others may not, and folders of devices. A read-only
// mount stops no write to a device: root, or a member of the group disk, would reach each file by its disk.
func hostDevices() (list []string) {
	all, _ := entries("/dev") // without it there are none
	for _, e := range all {
		path := "/dev/" + e.name
		device := e.kind == syscall.DT_CHR || e.kind == syscall.DT_BLK
		if e.kind != syscall.DT_DIR && !device || slices.Contains(harmless, path) ||
			slices.Contains(usualDevices, e.name) || anyIs(strings.HasPrefix, e.name, usualKinds) {
			continue
		}
		if !device || onlyOurs(path) {
			list = append(list, path)
		}
	}
	return list
}

func onlyOurs(device string) bool {
	const read, write = 4, 2
	var st syscall.Stat_t
	if err := syscall.Stat(device, &st); err != nil {
		return false
	}
	root := syscall.Geteuid() == 0
	ours := func(right uint32) bool {
		special := st.Mode&syscall.S_IFMT == syscall.S_IFBLK || st.Mode&right == 0
		return special && (root || syscall.Access(device, right) == nil)
	}
	return ours(read) || ours(write)
}

// ownTerminals lists the terminals that a process, which /proc has by that name, has as its input and output.
func ownTerminals(process string) (list []string) {
	for _, fd := range []string{"0", "1", "2"} {
		path, err := os.Readlink("/proc/" + process + "/fd/" + fd)
		if err == nil && strings.HasPrefix(path, "/dev/pts/") && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}

// hostSockets lists the sockets of the machine that have a name in the file system. A box without a
// network would still reach them. folders are where one with a relative name may be.
func hostSockets(folders []string) (list []string) {
	text, err := Contents("/proc/net/unix")
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		path := socketName(line)
		if path == "" || path[0] == '@' || path == "Path" || seen[path] {
			continue
		}
		seen[path] = true
		if path[0] != '/' { // a name in the folder that its process was in
			list = append(list, socketsAt(folders, path)...)
			continue
		}
		list = append(list, socketsAt([]string{"/"}, path)...)
	}
	return list
}

// socketName returns the name of a socket in a line of /proc/net/unix; "" = it has none.
func socketName(line []byte) string {
	const before = 7 // columns
	for range before {
		at := bytes.IndexByte(line, ' ')
		if at < 0 {
			return ""
		}
		line = bytes.TrimLeft(line[at:], " ")
	}
	return string(bytes.TrimRight(line, "\n"))
}

// socketsAt returns the sockets of that name below folders.
func socketsAt(folders []string, name string) (list []string) {
	for _, dir := range folders {
		path := filepath.Join(dir, name)
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
			continue
		}
		if path, err := filepath.EvalSymlinks(path); err == nil {
			list = append(list, path)
		}
	}
	return list
}
