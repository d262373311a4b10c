package box

import "syscall"

// byPath change modes and owners of files by their paths, in the older way.
var byPath = []uint32{syscall.SYS_CHMOD, syscall.SYS_CHOWN, syscall.SYS_LCHOWN}

const (
	auditArch = 0xc000003e // AUDIT_ARCH_X86_64
	x32       = true       // the machine has a second table of system calls

	sysBPF             = 321
	sysUserfaultfd     = 323
	sysOpenByHandleAt  = 304
	sysSetns           = 308
	sysKexecFileLoad   = 320
	sysFinitModule     = 313
	sysProcessVMReadv  = 310
	sysProcessVMWritev = 311

	tiocLinux = 0x541c
)
