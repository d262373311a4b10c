package box

import (
	"bytes"
	"cmp"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// supervisor makes system calls for the programs of a box by Landlock. Landlock grants a right to a folder with
// all below it, so the top folder of a project, and .git, would take no new file. The filter has these calls wait.
// This process, which Landlock does not bind, makes a call where the profile grants it, and else lets it go on: then
// Landlock decides. A change of modes never goes on, since Landlock does not look at modes.
//
// A program may change its memory and its folders at any time. So each path is copied once, and its folder is opened
// once. The profile is asked about the real name of that folder, and the call is made on one name in it, without
// following a link. One thread serves one call after the other.
type supervisor struct {
	listener int
	spec     *Spec
	tmp      string
	write    []string // the profile's, and tmp
	kept     []string // below write, that cannot be written
	pinned   []string // that keep their names, as do the folders above them
	filters  int      // how many a program of the box has; a program with more is in another box
	umask    int      // of this process now
	begun    bool
	off      bool      // it serves nothing
	before   int       // umask of this process
	able     [6]uint32 // capabilities of this process before: effective, permitted, inheritable, twice

	call    notice
	opened  []int // descriptors to close after the call
	gives   int   // descriptor that the call returns; -1 = none
	givenIs int   // flags of its number: O_CLOEXEC
	waits   []notice
	buf     [8 << 10]byte
}

// notice is struct seccomp_notif.
type notice struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

const (
	withListener = 1<<3 | 1<<5 // NEW_LISTENER, WAIT_KILLABLE_RECV

	notifReceive, notifAnswer, notifValid = 0xc0502100, 0xc0182101, 0x40082102
	notifGive, notifFlags                 = 0xc0182103, 0x40082104

	sysPidfdOpen, sysOpenat2, sysFchmodat2 = 434, 437, 452

	oPath, oTmpfile = 0x200000, 0x400000
	noMagicLinks    = 2
	noLinks         = 4
	sizeOfHow       = 24
	atNoFollow      = 0x100
	atRemoveDir     = 0x200
	atFollow        = 0x400
	atEmptyPath     = 0x1000
	setIDs          = syscall.S_ISUID | syscall.S_ISGID
	mostLinks       = 40
	mostWaits       = 64
	procMagic       = 0x9fa0
	sharedMemory    = "/dev/shm"
)

// Errors that are none of the call.
const (
	goOn  = syscall.Errno(1<<12 + iota) // the kernel makes it
	again                               // to be asked once more, now
	later                               // to be asked once more, after a while
	gone                                // its program has ended
)

// grants notes the paths of the profile.
func (b *supervisor) grants() {
	if real, err := filepath.EvalSymlinks(b.tmp); err == nil {
		b.tmp = real
	}
	s := b.spec
	b.write = append(s.Write[:len(s.Write):len(s.Write)], b.tmp)
	b.kept = append(s.Protect[:len(s.Protect):len(s.Protect)], s.Hide...)
	b.pinned = append(append(b.kept[:len(b.kept):len(b.kept)], s.Watch...), b.write...)
}

// supervise has the calls that a supervisor makes wait for it, and some more.
func (f *filter) supervise(more []uint32) {
	f.answers(retNotify, append(append(more, older...), sysOpenat2, syscall.SYS_MKDIRAT, syscall.SYS_MKNODAT,
		syscall.SYS_UNLINKAT, syscall.SYS_SYMLINKAT, syscall.SYS_LINKAT, syscall.SYS_RENAMEAT, sysRenameat2,
		syscall.SYS_TRUNCATE))
	f.superviseOpen(syscall.SYS_OPENAT, 2)
	if olderOpen > 0 {
		f.superviseOpen(olderOpen, 1)
	}
}

// superviseOpen has calls that open a file to write it wait. Each bash opens its terminal, in a form in which
// hardly a file is opened: it need not wait.
func (f *filter) superviseOpen(number uint32, flags int) {
	const writes = syscall.O_WRONLY | syscall.O_RDWR | syscall.O_CREAT | syscall.O_TRUNC | oTmpfile
	f.add(bpfEqual, 0, 5, number)
	f.add(bpfLoad, 0, 0, uint32(dataArgs+8*flags))
	f.add(bpfEqual, 2, 0, syscall.O_RDWR|syscall.O_NONBLOCK)
	f.add(bpfSome, 0, 1, writes)
	f.add(bpfEnd, 0, 0, retNotify)
	f.add(bpfEnd, 0, 0, retAllow)
}

// serve serves calls until the program has ended.
func (b *supervisor) serve(pid int) {
	exit, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(pid), 0, 0)
	if errno != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL) // nothing would answer it
		return
	}
	defer syscall.Close(int(exit))
	defer b.end()
	const near = 1 // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: on the processor of the program that waits
	_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(b.listener), notifFlags, near)
	type polled struct {
		fd         int32
		events, is int16
	}
	const in, hangUp = 1, 16
	list := [2]polled{{fd: int32(b.listener), events: in}, {fd: int32(exit), events: in}}
	for list[1].is == 0 {
		var wait *syscall.Timespec
		if waits := b.waits; len(waits) > 0 {
			b.waits, wait = nil, &syscall.Timespec{Nsec: 5e6}
			for _, b.call = range waits {
				b.answer()
			}
		}
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&list)), uintptr(len(list)),
			uintptr(unsafe.Pointer(wait)), 0, 0, 0)
		switch {
		case errno != 0:
			list[1].is = 0
		case list[0].is&in != 0:
			b.call = notice{}
			if _, errno := b.ioctl(notifReceive, unsafe.Pointer(&b.call)); errno == 0 { // else its program has ended
				b.answer()
			}
		case list[0].is&hangUp != 0:
			list[0].fd = -1
		}
	}
}

// ioctl makes a call on the listener, which a signal may end early.
func (b *supervisor) ioctl(request uintptr, with unsafe.Pointer) (uintptr, syscall.Errno) {
	for {
		r, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(b.listener), request, uintptr(with))
		if errno != syscall.EINTR {
			return r, errno
		}
	}
}

// answer answers the call that waits.
func (b *supervisor) answer() {
	defer b.close()
	nr, args := modern(uintptr(b.call.number), b.call.args)
	err := b.attempt(nr, args)
	if err == again {
		err = b.attempt(nr, args)
	}
	r := struct {
		id, value uint64
		err       int32
		flags     uint32
	}{id: b.call.id, err: -int32(err)}
	switch err {
	case gone:
		return
	case later:
		b.waits = append(b.waits, b.call)
		return
	case goOn:
		switch nr {
		case syscall.SYS_FCHMOD, syscall.SYS_FCHMODAT, sysFchmodat2, syscall.SYS_FCHOWN, syscall.SYS_FCHOWNAT:
			r.err = -int32(syscall.EPERM)
		default:
			r.err, r.flags = 0, 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
	case 0:
		if b.gives < 0 {
			break
		}
		give := struct {
			id                    uint64
			flags, fd, new, newIs uint32
		}{id: b.call.id, fd: uint32(b.gives), newIs: uint32(b.givenIs)}
		// Not with the answer in one: if a signal ended that early, the call would return 0.
		fd, errno := b.ioctl(notifGive, unsafe.Pointer(&give))
		if r.err = -int32(errno); errno == 0 {
			r.value = uint64(fd)
		}
	}
	_, _ = b.ioctl(notifAnswer, unsafe.Pointer(&r)) // its program may have ended
}

func (b *supervisor) close() {
	for _, fd := range b.opened {
		syscall.Close(fd)
	}
	b.opened = b.opened[:0]
}

// attempt makes the call that waits. An error may say how to go on.
func (b *supervisor) attempt(nr uintptr, args [6]uint64) syscall.Errno {
	b.close()
	b.gives = -1
	act := b.plan(nr, args)
	if act == nil {
		return goOn
	}
	if !b.begun {
		b.begun = true
		b.begin()
		return again
	}
	text := b.status(strconv.Itoa(int(b.call.pid))) // its number may be of another program by now
	umask, filters := number(text, "\nUmask:\t"), number(text, "\nSeccomp_filters:\t")
	if umask < 0 || filters != b.filters {
		return goOn
	}
	if _, errno := b.ioctl(notifValid, unsafe.Pointer(&b.call.id)); errno != 0 {
		return gone
	}
	if umask != b.umask {
		syscall.Umask(umask)
		b.umask = umask
	}
	return act()
}

// begin prepares this process for the first call. Root has no rights here that the box has not.
func (b *supervisor) begin() {
	b.before = syscall.Umask(0)
	b.filters = 1 + number(b.status("thread-self"), "\nSeccomp_filters:\t")
	b.off = b.folds()
	if errno := capabilities(syscall.SYS_CAPGET, &b.able); errno == 0 && b.able[0]|b.able[3] == 0 {
		return
	}
	runtime.LockOSThread()
	less := b.able
	less[0], less[3] = 0, 0
	b.off = b.off || capabilities(syscall.SYS_CAPSET, &less) != 0
}

// end undoes begin.
func (b *supervisor) end() {
	b.close()
	if b.begun {
		syscall.Umask(b.before)
	}
	if b.able[0]|b.able[3] != 0 {
		_ = capabilities(syscall.SYS_CAPSET, &b.able)
		runtime.UnlockOSThread()
	}
}

func capabilities(trap uintptr, list *[6]uint32) syscall.Errno {
	header := [2]uint32{capabilityVersion, 0} // of this thread
	_, _, errno := syscall.RawSyscall(trap, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(list)), 0)
	return errno
}

// status reads a program's file of /proc; nil = it cannot be read.
func (b *supervisor) status(pid string) []byte {
	fd := b.opens(-1, "/proc/"+pid+"/status", syscall.O_RDONLY, 0)
	n, err := syscall.Read(fd, b.buf[:])
	if err != nil {
		return nil
	}
	return b.buf[:n]
}

// number returns the number behind a word in a text, to base 8 where it begins with 0; -1 = there is none.
func number(text []byte, word string) int {
	at := bytes.Index(text, []byte(word))
	if at < 0 {
		return -1
	}
	digits, _, _ := bytes.Cut(text[at+len(word):], []byte("\n"))
	n, err := strconv.ParseInt(string(digits), 0, 32)
	if err != nil {
		return -1
	}
	return int(n)
}

// plan returns the function that makes the call, where the profile grants it; nil = the kernel is to answer.
func (b *supervisor) plan(nr uintptr, a [6]uint64) (act func() syscall.Errno) {
	if b.write == nil {
		b.grants()
	}
	switch nr {
	case syscall.SYS_OPENAT:
		return b.open(a[0], a[1], int(a[2]), a[3], 0)
	case sysOpenat2:
		var how [3]uint64 // flags, mode, resolve
		const size = unsafe.Sizeof(how)
		if a[3] == uint64(size) && b.memory(a[2], unsafe.Slice((*byte)(unsafe.Pointer(&how)), size)) {
			return b.open(a[0], a[1], int(how[0]), how[1], how[2])
		}
	case syscall.SYS_MKDIRAT:
		return on(b.find(a[0], a[1], ofFolder, 0), nr, a[2])
	case syscall.SYS_MKNODAT:
		switch a[2] & syscall.S_IFMT {
		case 0, syscall.S_IFREG, syscall.S_IFIFO:
			return on(b.find(a[0], a[1], 0, 0), nr, a[2]&^setIDs)
		}
	case syscall.SYS_UNLINKAT:
		how := removed
		if uint32(a[2]) == atRemoveDir {
			how |= ofFolder
		}
		return on(b.find(a[0], a[1], how, 0), nr, a[2])
	case syscall.SYS_SYMLINKAT:
		to, ok := b.text(a[0])
		if at := b.find(a[1], a[2], 0, 0); at != nil && ok {
			return func() syscall.Errno {
				_, _, errno := syscall.Syscall(nr, uintptr(c(to)), uintptr(at.dir), uintptr(c(at.name)))
				return errno
			}
		}
	case syscall.SYS_LINKAT:
		switch uint32(a[4]) {
		case 0:
			return two(nr, b.find(a[0], a[1], 0, 0), b.find(a[2], a[3], 0, 0), 0)
		case atFollow:
			return two(nr, b.find(a[0], a[1], followed, 0), b.find(a[2], a[3], 0, 0), 0)
		}
	case syscall.SYS_RENAMEAT:
		a[4], nr = 0, sysRenameat2
		fallthrough
	case sysRenameat2:
		const whiteout = 4
		if a[4]&whiteout == 0 {
			const how = removed | ofFolder
			return two(nr, b.find(a[0], a[1], how, 0), b.find(a[2], a[3], how, 0), a[4])
		}
	case syscall.SYS_TRUNCATE:
		if o := b.object(uint64(atFdCwd), a[0], 0); o != nil {
			return func() syscall.Errno { return errnoOf(syscall.Truncate(openName(o.dir), int64(a[1]))) }
		}
	case syscall.SYS_FCHMOD:
		return chmod(b.object(a[0], 0, byNumber), a[1])
	case syscall.SYS_FCHMODAT:
		return chmod(b.object(a[0], a[1], 0), a[2])
	case sysFchmodat2:
		return chmod(b.object(a[0], a[1], uint64(uint32(a[3]))), a[2])
	case syscall.SYS_FCHOWN:
		return on(b.object(a[0], 0, byNumber), syscall.SYS_FCHOWNAT, a[1], a[2], atEmptyPath)
	case syscall.SYS_FCHOWNAT:
		return on(b.object(a[0], a[1], uint64(uint32(a[4]))), nr, a[2], a[3], atEmptyPath)
	}
	return nil
}

// place is a name in a folder that is open here; a file that is open itself has no name.
type place struct {
	dir  int
	name string
	kind uint32 // of the file; 0 = there is none
}

// on makes a call on a place.
func on(at *place, nr uintptr, args ...uint64) func() syscall.Errno {
	if at == nil {
		return nil
	}
	return func() syscall.Errno {
		var a [4]uintptr
		for i, arg := range args {
			a[i] = uintptr(arg)
		}
		_, _, errno := syscall.Syscall6(nr, uintptr(at.dir), uintptr(c(at.name)), a[0], a[1], a[2], a[3])
		return errno
	}
}

// two makes a call on two places.
func two(nr uintptr, from, to *place, flags uint64) func() syscall.Errno {
	if from == nil || to == nil {
		return nil
	}
	return func() syscall.Errno {
		first, second := c(from.name), c(to.name)
		_, _, errno := syscall.Syscall6(nr, uintptr(from.dir), uintptr(first), uintptr(to.dir), uintptr(second),
			uintptr(flags), 0)
		return errno
	}
}

// chmod makes no program that runs with its owner's rights.
func chmod(o *place, mode uint64) func() syscall.Errno {
	if o != nil && o.kind != syscall.S_IFDIR && mode&setIDs != 0 {
		return nil
	}
	return on(o, sysFchmodat2, mode, atEmptyPath)
}

// open opens a file, or makes it.
func (b *supervisor) open(dir, text uint64, flags int, mode, resolve uint64) func() syscall.Errno {
	const exclusive = syscall.O_CREAT | syscall.O_EXCL
	how, access := followed, flags&syscall.O_ACCMODE
	if flags&syscall.O_NOFOLLOW != 0 || flags&exclusive == exclusive {
		how = 0
	}
	var at *place
	if flags&oTmpfile == oTmpfile && resolve == 0 {
		if at = b.object(dir, text, 0); at != nil {
			at.name = "."
		}
	} else if flags&oTmpfile == 0 {
		at = b.find(dir, text, how, resolve)
	}
	switch {
	case at == nil || flags&oPath != 0:
		return nil
	case at.name == ".":
	case at.kind == 0 && flags&syscall.O_CREAT != 0:
	case at.kind == syscall.S_IFREG && (access != syscall.O_RDONLY || flags&syscall.O_TRUNC != 0):
	case at.kind == syscall.S_IFIFO && access != syscall.O_RDONLY:
	default:
		return nil
	}
	if flags&(syscall.O_CREAT|oTmpfile) == 0 {
		mode = 0
	}
	// Nothing that the file may be has the supervisor wait, or become its terminal.
	const own = syscall.O_NOFOLLOW | syscall.O_CLOEXEC | syscall.O_NONBLOCK | syscall.O_NOCTTY
	return func() syscall.Errno {
		fd, err := syscall.Openat(at.dir, at.name, flags|own, uint32(mode&^setIDs))
		waits := err == syscall.ENXIO && at.kind == syscall.S_IFIFO && flags&syscall.O_NONBLOCK == 0
		switch {
		case waits && len(b.waits) < mostWaits:
			return later // nothing reads it yet
		case err != nil:
			return errnoOf(err)
		}
		b.gives, b.givenIs, b.opened = fd, flags&syscall.O_CLOEXEC, append(b.opened, fd)
		if flags&syscall.O_NONBLOCK == 0 {
			_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_SETFL, uintptr(flags))
			return errno
		}
		return 0
	}
}

// How a name is looked for.
const (
	followed = 1 << iota // where it is a link, the link is followed
	removed              // the name may be gone after the call, or be that of another file
	ofFolder             // a slash behind it is right where it is a folder's
)

// find finds a name that may be written; nil = it may not be.
func (b *supervisor) find(dir, text uint64, how int, resolve uint64) *place {
	path, ok := b.text(text)
	plain := path
	if how&ofFolder != 0 {
		plain = strings.TrimRight(path, "/")
	}
	base := b.base(dir, path, resolve)
	for range mostLinks {
		cut := strings.LastIndexByte(plain, '/') + 1
		at := &place{name: plain[cut:]}
		if !ok || at.name == "" || at.name == "." || at.name == ".." {
			return nil
		}
		at.dir = b.opens(base, cmp.Or(plain[:cut], "."), oPath|syscall.O_DIRECTORY, resolve|noMagicLinks)
		real := b.link(-1, openName(at.dir))
		switch real {
		case "":
			return nil // the kernel says why there is no such folder
		case sharedMemory:
			real = b.tmp + "/shm"
			_ = syscall.Mkdir(real, 0o700)
			at.dir = b.opens(-1, real, oPath|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, noMagicLinks)
		}
		var st syscall.Stat_t
		_, _, errno := syscall.Syscall6(sysFstatat, uintptr(at.dir), uintptr(c(at.name)), uintptr(unsafe.Pointer(&st)),
			atNoFollow, 0, 0)
		if errno == 0 {
			at.kind = st.Mode & syscall.S_IFMT
		}
		if at.kind != syscall.S_IFLNK || how&followed == 0 {
			full := strings.TrimSuffix(real, "/") + "/" + at.name
			slash := plain != path && at.kind != 0 && at.kind != syscall.S_IFDIR
			if slash || !b.may(full) || how&removed != 0 && b.isPinned(full) {
				return nil
			}
			return at
		}
		var fs syscall.Statfs_t // links of /proc lead elsewhere than they say
		if resolve != 0 || syscall.Fstatfs(at.dir, &fs) != nil || fs.Type == procMagic {
			return nil
		}
		base, path = at.dir, b.link(at.dir, at.name)
		plain = path
	}
	return nil
}

// byNumber is a flag of object: there is no path, but the number of a descriptor.
const byNumber = 1 << 32

// object opens a file that may be written; nil = it may not be.
func (b *supervisor) object(dir, text, flags uint64) *place {
	path, ok, fd := "", true, -1
	if flags != byNumber {
		path, ok = b.text(text)
	}
	if rest, is := strings.CutPrefix(path, "/proc/self/fd/"); is { // as libc does where the kernel has no call for it
		n, err := strconv.ParseUint(rest, 10, 31)
		path, dir, flags, ok = "", n, byNumber, err == nil
	}
	switch {
	case !ok || flags&^(atNoFollow|atEmptyPath|byNumber) != 0:
		return nil
	case path != "":
		how := oPath
		if flags&atNoFollow != 0 {
			how |= syscall.O_NOFOLLOW
		}
		fd = b.opens(b.base(dir, path, 0), path, how, noMagicLinks)
	case flags&byNumber != 0 && int32(dir) >= 0 || flags&atEmptyPath != 0:
		fd = b.base(dir, path, 0)
	}
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || !b.may(b.link(-1, openName(fd))) {
		return nil
	}
	return &place{dir: fd, kind: st.Mode & syscall.S_IFMT}
}

// may reports whether the profile has a path written: a real one.
func (b *supervisor) may(path string) bool {
	return !b.off && coveredBy(path, b.write) && !coveredBy(path, b.kept)
}

// isPinned reports whether a path keeps its name.
func (b *supervisor) isPinned(path string) bool {
	return slices.ContainsFunc(b.pinned, func(p string) bool { return within(p, path) })
}

// folds reports whether a folder above a pinned name takes it in other letters, too: then no name is safe.
func (b *supervisor) folds() bool {
	for _, path := range b.pinned {
		for ; path != "/" && coveredBy(path, b.write); path = filepath.Dir(path) {
			dir, name := filepath.Split(path)
			other := strings.ToUpper(name)
			if other == name {
				other = strings.ToLower(name)
			}
			var is, st syscall.Stat_t
			there := other != name && syscall.Lstat(path, &is) == nil && syscall.Lstat(dir+other, &st) == nil
			if there && is.Ino == st.Ino {
				return true
			}
		}
	}
	return false
}

// base opens the folder that a program's path begins in; cwd where it begins at the top.
func (b *supervisor) base(dir uint64, path string, resolve uint64) int {
	if resolve == 0 && strings.HasPrefix(path, "/") {
		return -1
	}
	name := "/proc/" + strconv.Itoa(int(b.call.pid))
	if int32(dir) == -100 { // AT_FDCWD
		return b.opens(-1, name+"/cwd", oPath, 0)
	}
	return b.opens(-1, name+"/fd/"+strconv.Itoa(int(int32(dir))), oPath, 0)
}

// opens opens a file until the call is answered; -1 = it cannot.
func (b *supervisor) opens(dir int, path string, flags int, resolve uint64) int {
	how := [3]uint64{uint64(flags | syscall.O_CLOEXEC), 0, resolve}
	fd, _, errno := syscall.Syscall6(sysOpenat2, uintptr(dir), uintptr(c(path)), uintptr(unsafe.Pointer(&how)),
		unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return -1
	}
	b.opened = append(b.opened, int(fd))
	return int(fd)
}

// openName is a name of an open file, as a link that leads to its real one.
func openName(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// link returns where a link leads; "" = it is none.
func (b *supervisor) link(dir int, name string) string {
	n, _, errno := syscall.Syscall6(syscall.SYS_READLINKAT, uintptr(dir), uintptr(c(name)),
		uintptr(unsafe.Pointer(&b.buf[0])), uintptr(len(b.buf)), 0, 0)
	if errno != 0 {
		return ""
	}
	return string(b.buf[:n])
}

// text copies a text from the program's memory.
func (b *supervisor) text(at uint64) (string, bool) {
	const page = 4096
	for have := 0; have < page; {
		part := b.buf[have:min(page, have+page-int(at%page))]
		if !b.memory(at, part) {
			return "", false
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(b.buf[:have+end]), true
		}
		have, at = have+len(part), at+uint64(len(part))
	}
	return "", false
}

// memory copies the program's memory.
func (b *supervisor) memory(at uint64, to []byte) bool {
	local := syscall.Iovec{Base: &to[0], Len: uint64(len(to))}
	remote := [2]uint64{at, uint64(len(to))}
	n, _, errno := syscall.Syscall6(sysProcessVMReadv, uintptr(b.call.pid), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
	return errno == 0 && int(n) == len(to)
}

// c is a text for a system call. It is never on a stack.
//
//go:noinline
func c(s string) unsafe.Pointer { return unsafe.Pointer(&append([]byte(s), 0)[0]) }

func errnoOf(err error) syscall.Errno {
	errno, _ := err.(syscall.Errno) //nolint:errorlint // of a system call
	return errno
}
