package box

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
)

// harmless are the devices that each box has, beside terminals.
var harmless = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}

// usualDevices are further names in /dev that a box keeps: terminals, memory, and processors for graphics.
var usualDevices = []string{"pts", "shm", "fd", "net", "mqueue", "hugepages", "dri", "kvm", "tty*", "nvidia*", "std*"}

// hostDevices lists the devices that this user may use as others may not, and folders of devices. A read-only
// mount stops no write to a device: root, or a member of the group disk, would reach each file by its disk.
func hostDevices() (list []string) {
	names, _ := os.ReadDir("/dev") // without it there are none
	for _, n := range names {
		path := "/dev/" + n.Name()
		if anyFits(usualDevices, n.Name()) || has(harmless, path) || n.Type()&(os.ModeDevice|os.ModeDir) == 0 {
			continue
		}
		if n.IsDir() || onlyOurs(path) {
			list = append(list, path)
		}
	}
	return list
}

func anyFits(patterns []string, name string) bool {
	for _, p := range patterns {
		if fits(p, name) {
			return true
		}
	}
	return false
}

func onlyOurs(device string) bool {
	const read, write = 4, 2
	var st syscall.Stat_t
	if err := syscall.Stat(device, &st); err != nil {
		return false
	}
	ours := func(right uint32) bool {
		return (st.Mode&syscall.S_IFMT == syscall.S_IFBLK || st.Mode&right == 0) && syscall.Access(device, right) == nil
	}
	return ours(read) || ours(write)
}

// hostSockets lists the sockets of the machine that have a name in the file system. A box without a
// network would still reach them.
func hostSockets() (list []string) {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		at := bytes.IndexByte(line, '/')
		if at < 0 || bytes.IndexByte(line[:at], '@') >= 0 {
			continue
		}
		path := string(bytes.TrimRight(line[at:], "\n"))
		if seen[path] {
			continue
		}
		seen[path] = true
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSocket == 0 {
			continue
		}
		if path, err = filepath.EvalSymlinks(path); err == nil {
			list = append(list, path)
		}
	}
	return list
}
