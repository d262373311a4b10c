package box

import "syscall"

// byPath change modes and owners of files by their paths, in the older way; older do the same to names.
var (
	byPath = []uint32{syscall.SYS_CHMOD, syscall.SYS_CHOWN, syscall.SYS_LCHOWN}
	older  = []uint32{
		syscall.SYS_CREAT, syscall.SYS_MKDIR, syscall.SYS_RMDIR, syscall.SYS_RENAME, syscall.SYS_LINK,
		syscall.SYS_UNLINK, syscall.SYS_SYMLINK, syscall.SYS_MKNOD,
	}
)

// olderModes are the older system calls that give a file a mode.
var olderModes = []modeCall{
	{syscall.SYS_CHMOD, 0, 1}, {syscall.SYS_CREAT, 0, 1}, {syscall.SYS_MKNOD, 0, 1}, {syscall.SYS_OPEN, 1, 2},
}

// modern turns an older system call into its successor, which has a folder for each path.
func modern(number uintptr, a [6]uint64) (uintptr, [6]uint64) {
	const cwd = uint64(atFdCwd)
	switch number {
	case syscall.SYS_OPEN:
		return syscall.SYS_OPENAT, [6]uint64{cwd, a[0], a[1], a[2]}
	case syscall.SYS_CREAT:
		return syscall.SYS_OPENAT, [6]uint64{cwd, a[0], syscall.O_CREAT | syscall.O_WRONLY | syscall.O_TRUNC, a[1]}
	case syscall.SYS_MKDIR:
		return syscall.SYS_MKDIRAT, [6]uint64{cwd, a[0], a[1]}
	case syscall.SYS_MKNOD:
		return syscall.SYS_MKNODAT, [6]uint64{cwd, a[0], a[1], a[2]}
	case syscall.SYS_UNLINK:
		return syscall.SYS_UNLINKAT, [6]uint64{cwd, a[0]}
	case syscall.SYS_RMDIR:
		return syscall.SYS_UNLINKAT, [6]uint64{cwd, a[0], atRemoveDir}
	case syscall.SYS_RENAME:
		return sysRenameat2, [6]uint64{cwd, a[0], cwd, a[1]}
	case syscall.SYS_LINK:
		return syscall.SYS_LINKAT, [6]uint64{cwd, a[0], cwd, a[1]}
	case syscall.SYS_SYMLINK:
		return syscall.SYS_SYMLINKAT, [6]uint64{a[0], cwd, a[1]}
	case syscall.SYS_CHMOD:
		return syscall.SYS_FCHMODAT, [6]uint64{cwd, a[0], a[1]}
	case syscall.SYS_CHOWN:
		return syscall.SYS_FCHOWNAT, [6]uint64{cwd, a[0], a[1], a[2]}
	case syscall.SYS_LCHOWN:
		return syscall.SYS_FCHOWNAT, [6]uint64{cwd, a[0], a[1], a[2], atNoFollow}
	}
	return number, a
}

const (
	auditArch = 0xc000003e // AUDIT_ARCH_X86_64
	x32       = true       // the machine has a second table of system calls

	sysBPF            = 321
	sysUserfaultfd    = 323
	sysOpenByHandleAt = 304
	sysSetns          = 308
	sysKexecFileLoad  = 320
	sysFinitModule    = 313
	sysProcessVMReadv = 310
	sysRenameat2      = 316
	sysSeccomp        = 317
	sysFstatat        = syscall.SYS_NEWFSTATAT
	olderOpen         = syscall.SYS_OPEN

	tiocLinux = 0x541c
)
