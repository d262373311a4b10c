package box

import (
	"os"
	"path/filepath"
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
// could end hookd, so level B is not offered.
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
func (r *ruleset) allow(path string, rights uint64) error {
	const oPath = 0x200000
	fd, err := syscall.Open(path, oPath|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil //nolint:nilerr // what cannot be opened cannot be used in the box either
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return os.NewSyscallError("fstat "+path, err)
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
	case syscall.S_IFLNK:
		return nil
	default:
		rights &= ofFile
	}
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
	inside := false
	for _, n := range not {
		if within(path, n) {
			return nil
		}
		inside = inside || within(n, path)
	}
	if !inside {
		return r.allow(path, rights)
	}
	names, err := os.ReadDir(path)
	if err != nil {
		return nil //nolint:nilerr // the same user cannot read it in the box either
	}
	for _, name := range names {
		if err := r.allowBut(filepath.Join(path, name.Name()), rights, not); err != nil {
			return err
		}
	}
	return nil
}
