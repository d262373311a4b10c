package box

import "syscall"

// byPath, older and olderModes are empty: this machine never had the older calls.
var (
	byPath, older []uint32
	olderModes    []modeCall
)

func modern(number uintptr, a [6]uint64) (uintptr, [6]uint64) { return number, a }

const (
	auditArch = 0xc00000b7 // AUDIT_ARCH_AARCH64
	x32       = false

	sysBPF            = 280
	sysUserfaultfd    = 282
	sysOpenByHandleAt = 265
	sysSetns          = 268
	sysKexecFileLoad  = 294
	sysFinitModule    = 273
	sysProcessVMReadv = 270
	sysRenameat2      = 276
	sysSeccomp        = 277
	sysFstatat        = syscall.SYS_FSTATAT
	olderOpen         = 0

	tiocLinux = 0x541c
)
