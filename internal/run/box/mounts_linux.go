package box

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

const (
	atFdCwd       = ^uintptr(99) // -100
	atRecursive   = 0x8000
	openTreeClone = 1
	fromEmptyPath = 4 // MOVE_MOUNT_F_EMPTY_PATH
	attrReadOnly  = 1 // MOUNT_ATTR_RDONLY
	attrSize      = 32
	newNamespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC |
		syscall.CLONE_NEWNET
	covers         = "/proc" // it is mounted again afterwards
	hiddenFolder   = covers + "/folder"
	hiddenFile     = covers + "/file"
	hiddenSocket   = covers + "/socket" // programs that copy a folder take it as they took the socket
	overlaying     = "put a layer over caches"
	modeOfHidden   = 0
	flagsOfPrivate = syscall.MS_NOSUID | syscall.MS_NODEV
)

// private are folders that each box has empty ones of.
var private = []string{"/tmp", "/var/tmp", "/dev/shm"}

// namespaces is the plan of a box by namespaces and mounts.
func (p *program) namespaces(s *Spec) error {
	p.flags, p.reaper = newNamespaces, true
	p.do("end with the wrapper", syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL))
	p.writes("/proc/self/setgroups", "deny")
	p.writes("/proc/self/uid_map", oneID(os.Getuid()))
	p.writes("/proc/self/gid_map", oneID(os.Getgid()))

	p.mount("keep mounts to itself", "", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	t := p.take(s)
	p.setattr("make the file system read-only", "/", attrReadOnly)
	p.mount("mount covers", "tmpfs", covers, "tmpfs", flagsOfPrivate, "mode=0755")
	p.overlay(s.Overlay)
	p.place(s, t)
	p.protect(s)
	p.hide(s)
	p.mount("mount /proc", "proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	p.setattr("make /proc read-only", "/proc", attrReadOnly) // root's settings of the kernel are files there
	p.terminals()
	p.loopback()
	if s.Proxy != nil {
		if err := p.makeProxySocket(); err != nil {
			return err
		}
	}
	p.privileges()
	return nil
}

// oneID maps a user or group to itself: programs see the owner that they know.
func oneID(id int) string { n := strconv.Itoa(id); return n + " " + n + " 1" }

// writes has the child write a file of /proc.
func (p *program) writes(file, content string) {
	says := "write " + file
	p.do(says, syscall.SYS_OPENAT, atFdCwd, p.text(file), syscall.O_WRONLY|syscall.O_CLOEXEC).put = 1
	p.do(says, syscall.SYS_WRITE, 0, p.text(content), uintptr(len(content))).get = [2]int8{1, 1}
	p.do(says, syscall.SYS_CLOSE).get = [2]int8{1, 1}
}

func (p *program) mount(says, source, target, kind string, flags uintptr, data string) {
	p.do(says, syscall.SYS_MOUNT, p.text(source), p.text(target), p.text(kind), flags, p.text(data))
}

// setattr sets attributes of the mount at path and all below it.
func (p *program) setattr(says, path string, set uint64) {
	attr := binary.NativeEndian.AppendUint64(nil, set)
	attr = append(attr, make([]byte, attrSize-len(attr))...)
	p.do(says, sysMountSetattr, atFdCwd, p.text(path), atRecursive, p.bytes(attr), attrSize)
}

// trees are folders that are put back into their places when everything else is read-only.
type trees struct {
	paths []string
	fds   []int // in the child
	write int   // so many of the first may be written
}

// take opens the folders that the program writes, and the folders that private ones would hide.
func (p *program) take(s *Spec) (t trees) {
	t.paths = append(t.paths, s.Write...)
	t.write = len(t.paths)
	for _, path := range s.Show {
		if privateOf(path) != "" && !coveredBy(path, s.Write) {
			t.paths = append(t.paths, path)
		}
	}
	how := p.bytes(binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(
		binary.NativeEndian.AppendUint64(nil, oPath|syscall.O_CLOEXEC), 0), noLinks))
	for _, path := range t.paths {
		says := "take " + path
		p.do(says, sysOpenat2, atFdCwd, p.text(path), how, sizeOfHow).put = 2
		o := p.do(says, sysOpenTree, 0, p.text(""), openTreeClone|atRecursive|atEmptyPath|syscall.O_CLOEXEC)
		o.get, o.put = [2]int8{2, 1}, 1
		t.fds = append(t.fds, p.keeps(says))
		p.do(says, syscall.SYS_CLOSE).get = [2]int8{2, 1}
	}
	return t
}

// keeps has the child move the descriptor of its first register to a number that is known here.
func (p *program) keeps(says string) int {
	fd, err := syscall.Open("/", syscall.O_RDONLY|syscall.O_CLOEXEC, 0) // keeps a number free
	if err != nil {
		fd = -1 // the op fails
	} else {
		p.closes(fd)
	}
	p.do(says, syscall.SYS_DUP3, 0, uintptr(fd), syscall.O_CLOEXEC).get = [2]int8{1, 1}
	p.do(says, syscall.SYS_CLOSE).get = [2]int8{1, 1}
	return fd
}

// overlay puts one over a folder. It takes all changes, and is thrown away with the box.
func (p *program) overlay(dir string) {
	if dir == "" {
		return
	}
	for _, name := range []string{"/upper", "/work"} {
		p.do(overlaying, syscall.SYS_MKDIRAT, atFdCwd, p.text(covers+name), 0o755)
	}
	p.mount(overlaying, "overlay", dir, "overlay", flagsOfPrivate,
		"userxattr,lowerdir="+dir+",upperdir="+covers+"/upper,workdir="+covers+"/work")
}

// place covers shared folders with private ones, and puts the trees into their places.
func (p *program) place(s *Spec, t trees) {
	made := map[string]bool{}
	for _, dir := range private {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			p.mount("mount a private "+dir, "tmpfs", dir, "tmpfs", flagsOfPrivate, "mode=1777")
			made[dir] = true
		}
	}
	for _, l := range s.Links {
		p.makeFolders(private[0], filepath.Dir(l[0]), 0o755, made)
		p.do("link "+l[0], syscall.SYS_SYMLINKAT, p.text(l[1]), atFdCwd, p.text(l[0]))
	}
	for i, path := range t.paths {
		if dir := privateOf(path); dir != "" && made[dir] {
			p.makeFolders(dir, path, 0o555, made) // what is written beside it would be gone with the box
		}
		p.do("mount "+path, sysMoveMount, uintptr(t.fds[i]), p.text(""), atFdCwd, p.text(path), fromEmptyPath)
		if i >= t.write {
			p.setattr("make "+path+" read-only", path, attrReadOnly)
		}
	}
}

// makeFolders makes the folders inside a private folder that lead to path, with a mode.
func (p *program) makeFolders(dir, path string, mode uintptr, made map[string]bool) {
	for at := dir; at != path; {
		if at = nextOn(at, path); made[at] {
			continue
		}
		made[at] = true
		p.do("make "+at, syscall.SYS_MKDIRAT, atFdCwd, p.text(at), mode).may = syscall.EEXIST
	}
}

// nextOn returns the folder one step from at towards path, which lies below at.
func nextOn(at, path string) string {
	rest := path[len(at)+1:]
	for i := range rest {
		if rest[i] == '/' {
			return path[:len(at)+1+i]
		}
	}
	return path
}

// protect makes the listed paths read-only, and each folder on the way to one a mount of its own: a
// folder that has another name now would not be protected any more.
func (p *program) protect(s *Spec) {
	bound := map[string]bool{}
	for _, path := range s.Write {
		bound[path] = true
	}
	for _, path := range s.Protect {
		top := ""
		for _, w := range s.Write {
			if within(path, w) {
				top = w
			}
		}
		if top == "" {
			continue
		}
		for at := top; at != path; {
			at = nextOn(at, path)
			if bound[at] {
				continue
			}
			bound[at] = true
			p.mount("bind "+at, at, at, "", syscall.MS_BIND|syscall.MS_REC, "")
		}
		p.setattr("make "+path+" read-only", path, attrReadOnly)
	}
	for _, path := range s.Watch { // the folders that they would be made in keep their names
		if dir := filepath.Dir(path); !bound[dir] && coveredBy(dir, s.Write) {
			if info, err := os.Lstat(dir); err == nil && info.IsDir() {
				bound[dir] = true
				p.mount("bind "+dir, dir, dir, "", syscall.MS_BIND|syscall.MS_REC, "")
			}
		}
	}
}

// hide covers the hidden paths with a folder or a file that cannot be opened. It tells more than an
// empty one: a program learns that it may not, not that there is nothing.
func (p *program) hide(s *Spec) {
	var list []string
	all := append(s.Hide[:len(s.Hide):len(s.Hide)], hostSockets(s.Sockets)...)
	for _, path := range append(all, hostDevices()...) {
		if coveredBy(path, list) {
			continue
		}
		if privateOf(path) == "" || coveredBy(path, s.Write) {
			list = append(list, path)
		}
	}
	p.do("make a cover", syscall.SYS_MKDIRAT, atFdCwd, p.text(hiddenFolder), modeOfHidden)
	p.do("make a cover", syscall.SYS_MKNODAT, atFdCwd, p.text(hiddenFile), syscall.S_IFREG|modeOfHidden, 0)
	p.do("make a cover", syscall.SYS_MKNODAT, atFdCwd, p.text(hiddenSocket), syscall.S_IFSOCK|modeOfHidden, 0)
	p.setattr("make covers read-only", covers, attrReadOnly)
	for _, path := range list {
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) != nil {
			continue
		}
		cover := hiddenFile
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFDIR:
			cover = hiddenFolder
		case syscall.S_IFSOCK:
			cover = hiddenSocket
		}
		p.mount("hide "+path, cover, path, "", syscall.MS_BIND, "")
		if cover == hiddenSocket { // its program may have removed it since
			p.ops[len(p.ops)-1].may = syscall.ENOENT
		}
	}
	p.do("put covers away", syscall.SYS_UMOUNT2, p.text(covers), syscall.MNT_DETACH)
}

// terminals gives the box terminals of its own: those of the user's other programs would take what it writes, and
// give it what is typed. Its own terminal stays open, and has the name of the console.
func (p *program) terminals() {
	if info, err := os.Lstat("/dev/pts"); err != nil || !info.IsDir() {
		return
	}
	if _, err := os.Lstat("/dev/console"); err == nil {
		if own := ownTerminals("self"); len(own) > 0 {
			p.mount("bind "+own[0], own[0], "/dev/console", "", syscall.MS_BIND, "")
		}
	}
	p.mount("mount terminals", "devpts", "/dev/pts", "devpts", syscall.MS_NOSUID|syscall.MS_NOEXEC,
		"newinstance,ptmxmode=0666,mode=0620")
}

// loopback brings the box's own loopback device up.
func (p *program) loopback() {
	request := make([]byte, 40) // struct ifreq
	copy(request, "lo")
	binary.NativeEndian.PutUint16(request[16:], syscall.IFF_UP|syscall.IFF_RUNNING)
	p.do("open a socket", syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0).put = 1
	p.do("bring loopback up", syscall.SYS_IOCTL, 0, syscall.SIOCSIFFLAGS, p.bytes(request)).get = [2]int8{1, 1}
	p.do("close a socket", syscall.SYS_CLOSE).get = [2]int8{1, 1}
}
