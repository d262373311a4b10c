package box

import (
	"encoding/binary"
	"syscall"
)

// Instructions of classic BPF.
const (
	bpfLoad  = 0x20 // BPF_LD | BPF_W | BPF_ABS
	bpfEqual = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	bpfAbove = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	bpfAnd   = 0x54 // BPF_ALU | BPF_AND | BPF_K
	bpfSome  = 0x45 // BPF_JMP | BPF_JSET | BPF_K
	bpfEnd   = 0x06 // BPF_RET | BPF_K

	retAllow  = 0x7fff0000
	retErrno  = 0x00050000
	retNotify = 0x7fc00000

	// Places in struct seccomp_data.
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16

	x32Bit = 0x40000000
)

// filter is a seccomp filter that refuses the calls on a list and allows the rest.
type filter struct{ code []byte }

func (f *filter) add(code uint16, yes, no uint8, k uint32) {
	var b [8]byte
	binary.NativeEndian.PutUint16(b[:], code)
	b[2], b[3] = yes, no
	binary.NativeEndian.PutUint32(b[4:], k)
	f.code = append(f.code, b[:]...)
}

// never refuses system calls.
func (f *filter) never(numbers ...uint32) { f.answers(retErrno|uint32(syscall.EPERM), numbers) }

// answers has system calls answered in one way. The kernel tries a filter for each call that there is when it takes the
// filter, so that a box starts the faster, the fewer instructions there are.
func (f *filter) answers(how uint32, numbers []uint32) {
	for left := len(numbers) - 1; left >= 0; left-- {
		skip := uint8(0)
		if left == 0 {
			skip = 1
		}
		f.add(bpfEqual, uint8(left), skip, numbers[len(numbers)-1-left])
	}
	f.add(bpfEnd, 0, 0, how)
}

func (f *filter) refuse(errno syscall.Errno) { f.add(bpfEnd, 0, 0, retErrno|uint32(errno)) }

// whenArg refuses a system call if one of its arguments has one of some values.
func (f *filter) whenArg(number uint32, arg int, mask uint32, errno syscall.Errno, values ...uint32) {
	size := uint8(2 + 2*len(values) + 1)
	f.add(bpfEqual, 0, size, number)
	f.add(bpfLoad, 0, 0, uint32(dataArgs+8*arg)) // the low half: both machines are little-endian
	f.add(bpfAnd, 0, 0, mask)
	for _, v := range values {
		f.add(bpfEqual, 0, 1, v)
		f.refuse(errno)
	}
	f.add(bpfLoad, 0, 0, dataNumber)
}

// modeCall is a system call that gives a file a mode.
type modeCall struct {
	number      uint32
	flags, mode int // of its arguments; flags 0 = it always gives one
}

// whenMode refuses a system call if it gives a file a mode with one of some bits.
func (f *filter) whenMode(c modeCall, bits uint32) {
	if c.flags == 0 {
		f.add(bpfEqual, 0, 4, c.number)
	} else {
		f.add(bpfEqual, 0, 6, c.number)
		f.add(bpfLoad, 0, 0, uint32(dataArgs+8*c.flags))
		f.add(bpfSome, 0, 3, syscall.O_CREAT|oTmpfile) // else the mode is of no matter
	}
	f.add(bpfLoad, 0, 0, uint32(dataArgs+8*c.mode))
	f.add(bpfSome, 0, 1, bits)
	f.refuse(syscall.EPERM)
	f.add(bpfLoad, 0, 0, dataNumber)
}

// seccompOf returns the filter of a box. Where mounts and the network have no namespaces of their
// own, sockets are refused as well, and changes of files wait for a supervisor.
func seccompOf(namespaces, supervised bool) []byte {
	f := &filter{}
	f.add(bpfLoad, 0, 0, dataArch)
	f.add(bpfEqual, 1, 0, auditArch)
	f.refuse(syscall.EPERM) // programs of 32 bits have other numbers
	f.add(bpfLoad, 0, 0, dataNumber)
	if x32 {
		f.add(bpfAbove, 0, 1, x32Bit)
		f.refuse(syscall.EPERM)
	}
	f.never(
		425, 426, 427, // io_uring
		syscall.SYS_KEYCTL, syscall.SYS_ADD_KEY, syscall.SYS_REQUEST_KEY,
		sysBPF, sysUserfaultfd, syscall.SYS_PERF_EVENT_OPEN,
		sysOpenByHandleAt, sysSetns, syscall.SYS_KEXEC_LOAD, sysKexecFileLoad,
		syscall.SYS_INIT_MODULE, sysFinitModule, syscall.SYS_DELETE_MODULE,
		syscall.SYS_MOUNT, syscall.SYS_UMOUNT2, syscall.SYS_PIVOT_ROOT, syscall.SYS_SWAPON, syscall.SYS_SWAPOFF,
		sysOpenTree, sysMoveMount, 430, 431, 432, 433, sysMountSetattr, // fsopen fsconfig fsmount fspick
		syscall.SYS_CHROOT, syscall.SYS_REBOOT, syscall.SYS_ACCT, syscall.SYS_QUOTACTL,
		syscall.SYS_SETTIMEOFDAY, syscall.SYS_CLOCK_SETTIME,
	)
	// Codes that write into the terminal's input, as if a person had typed them.
	f.whenArg(syscall.SYS_IOCTL, 1, 0xffffffff, syscall.EPERM, syscall.TIOCSTI, tiocLinux)
	// A user namespace of its own would give back the rights that the box took.
	f.whenArg(syscall.SYS_CLONE, 0, syscall.CLONE_NEWUSER, syscall.EPERM, syscall.CLONE_NEWUSER)
	f.whenArg(syscall.SYS_UNSHARE, 0, syscall.CLONE_NEWUSER, syscall.EPERM, syscall.CLONE_NEWUSER)
	f.add(bpfEqual, 0, 1, 435) // clone3 hides its flags; programs fall back to clone
	f.refuse(syscall.ENOSYS)
	families := []uint32{syscall.AF_PACKET, 40} // 40 = AF_VSOCK
	if !namespaces {
		families = append(families, syscall.AF_UNIX, syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK)
	}
	f.whenArg(syscall.SYS_SOCKET, 0, 0xffffffff, syscall.EPERM, families...)
	if namespaces {
		// A program that others run as its owner leaves a box that may write it.
		for _, c := range append(olderModes,
			modeCall{syscall.SYS_FCHMOD, 0, 1}, modeCall{syscall.SYS_FCHMODAT, 0, 2}, modeCall{sysFchmodat2, 0, 2},
			modeCall{syscall.SYS_MKNODAT, 0, 2}, modeCall{syscall.SYS_OPENAT, 2, 3}) {
			f.whenMode(c, syscall.S_ISUID) // a folder may have S_ISGID, and here it looks like a file
		}
		f.add(bpfEqual, 0, 1, sysOpenat2) // it hides its mode; programs fall back to openat
		f.refuse(syscall.ENOSYS)
	}
	if !namespaces {
		// Landlock does not look at owners, modes and attributes of files. It does at programs that trace each other.
		// Programs that copy files take it that a file system has no attributes, not that they may not.
		f.answers(retErrno|uint32(syscall.EOPNOTSUPP), []uint32{
			syscall.SYS_SETXATTR, syscall.SYS_LSETXATTR, syscall.SYS_FSETXATTR,
			syscall.SYS_REMOVEXATTR, syscall.SYS_LREMOVEXATTR, syscall.SYS_FREMOVEXATTR, 463, 466,
		})
		changes := append(byPath[:len(byPath):len(byPath)], syscall.SYS_FCHMOD, syscall.SYS_FCHMODAT, sysFchmodat2,
			syscall.SYS_FCHOWN, syscall.SYS_FCHOWNAT)
		if supervised {
			f.supervise(changes)
		} else {
			f.never(changes...)
		}
	}
	f.add(bpfEnd, 0, 0, retAllow)
	return f.code
}
