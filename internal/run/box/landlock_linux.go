package box

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// Rights of Landlock on files, by the bits of the kernel.
const (
	fsExecute = 1 << iota
	fsWriteFile
	fsReadFile
	fsReadDir
	fsRemoveDir
	fsRemoveFile
	fsMakeChar
	fsMakeDir
	fsMakeReg
	fsMakeSock
	fsMakeFifo
	fsMakeBlock
	fsMakeSym
	fsRefer
	fsTruncate
	fsIoctlDev

	fsAll   = 1<<16 - 1
	fsRead  = fsReadFile | fsExecute
	fsWrite = fsAll &^ (fsExecute | fsReadFile | fsReadDir | fsMakeChar | fsMakeBlock)
	ofFile  = fsExecute | fsWriteFile | fsReadFile | fsTruncate | fsIoctlDev // rights that a file can have

	scopeAbstract = 1 << 0
	scopeSignal   = 1 << 1

	netBind, netConnect = 1 << 0, 1 << 1
)

// leastABI is the first version of Landlock that keeps signals in. Below it a program in the box
// could end hookd, so there is no box by Landlock.
const leastABI = 6

type landlockAttr struct{ fs, net, scoped uint64 }

// landlockABI returns the version of Landlock that the kernel enforces; 0 = none.
func landlockABI() (int, error) {
	const versionFlag = 1
	v, _, errno := syscall.Syscall(sysLandlockCreate, 0, 0, versionFlag)
	switch errno {
	case 0:
		return int(v), nil
	case syscall.EOPNOTSUPP:
		return 0, os.NewSyscallError("Landlock is switched off", errno)
	}
	return 0, os.NewSyscallError("Landlock", errno)
}

// ruleset is a Landlock ruleset that is being made.
type ruleset struct{ fd int }

func newRuleset() (*ruleset, error) {
	attr := landlockAttr{fs: fsAll, net: netBind | netConnect, scoped: scopeAbstract | scopeSignal}
	fd, _, errno := syscall.Syscall(sysLandlockCreate, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	syscall.CloseOnExec(int(fd))
	return &ruleset{int(fd)}, nil
}

// allow gives rights on path and all below it. A path that is not there is left out.
func (r *ruleset) allow(path string, rights uint64) error { return r.allowBut(path, rights, nil) }

// add gives rights that suit the kind of path.
func (r *ruleset) add(path string, rights uint64) error {
	fd, err := openReal(path, oPath|syscall.O_NOFOLLOW)
	if err != nil {
		return nil //nolint:nilerr // what cannot be opened cannot be used in the box either
	}
	defer syscall.Close(fd)
	beneath := struct {
		rights uint64
		fd     int32
	}{rights, int32(fd)}
	const pathBeneath = 1
	if _, _, errno := syscall.Syscall6(sysLandlockAdd, uintptr(r.fd), pathBeneath,
		uintptr(unsafe.Pointer(&beneath)), 0, 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_add_rule "+path, errno)
	}
	return nil
}

// allowBut gives rights on path and all below it but paths that are, or lie below, one of not. Landlock
// knows no exception, so each neighbour on the way gets a rule: names that are made later have none.
func (r *ruleset) allowBut(path string, rights uint64, not []string) error {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return nil
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
		return r.below(path, rights, not)
	case syscall.S_IFLNK:
		return nil
	}
	if coveredBy(path, not) {
		return nil
	}
	return r.add(path, rights&ofFile)
}

// below is allowBut for a folder.
func (r *ruleset) below(dir string, rights uint64, not []string) error {
	inside := not[:0:0]
	for _, n := range not {
		if within(dir, n) {
			return nil
		}
		if within(n, dir) {
			inside = append(inside, n)
		}
	}
	if len(inside) == 0 {
		return r.add(dir, rights)
	}
	list, err := entries(dir)
	if err != nil {
		return nil //nolint:nilerr // the same user cannot read it in the box either
	}
	dir = strings.TrimSuffix(dir, "/") + "/"
	for _, e := range list {
		at := dir + e.name
		switch {
		case e.kind == syscall.DT_DIR:
			err = r.below(at, rights, inside)
		case e.kind != syscall.DT_LNK && !slices.Contains(inside, at):
			err = r.add(at, rights&ofFile)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openReal opens a path that had no link on its way: a program may have put one there since.
func openReal(path string, flags int) (int, error) {
	how := [3]uint64{uint64(flags | syscall.O_CLOEXEC), 0, noLinks}
	fd, _, errno := syscall.Syscall6(sysOpenat2, atFdCwd, uintptr(c(path)), uintptr(unsafe.Pointer(&how)),
		unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// renameIn gives a file in a folder another name there. No link is followed.
func renameIn(dir, from, to string) error {
	fd, err := openReal(dir, oPath|syscall.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Renameat(fd, from, fd, to)
}

// entry is a name in a folder and its kind, syscall.DT_*.
type entry struct {
	name string
	kind byte
}

// entries lists a folder. Package os would make a poller, and start threads.
func entries(dir string) (list []entry, err error) {
	fd, err := openReal(dir, syscall.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	for buf := make([]byte, 8<<10); ; {
		n, err := syscall.ReadDirent(fd, buf)
		if n <= 0 {
			return list, err
		}
		for rest := buf[:n]; len(rest) > 0; {
			const size, kind, name = 16, 18, 19 // places in struct linux_dirent64
			one := rest[:binary.NativeEndian.Uint16(rest[size:])]
			rest = rest[len(one):]
			e := entry{kind: one[kind]}
			if e.name = string(one[name : name+bytes.IndexByte(one[name:], 0)]); e.name == "." || e.name == ".." {
				continue
			}
			if e.kind == syscall.DT_UNKNOWN { // of some file systems
				var st syscall.Stat_t
				if syscall.Lstat(dir+"/"+e.name, &st) != nil {
					continue
				}
				e.kind = byte(st.Mode & syscall.S_IFMT >> 12)
			}
			list = append(list, e)
		}
	}
}
