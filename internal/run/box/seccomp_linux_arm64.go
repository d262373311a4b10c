package box

// byPath is empty: this machine never had the older calls.
var byPath []uint32

const (
	auditArch = 0xc00000b7 // AUDIT_ARCH_AARCH64
	x32       = false

	sysBPF             = 280
	sysUserfaultfd     = 282
	sysOpenByHandleAt  = 265
	sysSetns           = 268
	sysKexecFileLoad   = 294
	sysFinitModule     = 273
	sysProcessVMReadv  = 270
	sysProcessVMWritev = 271

	tiocLinux = 0x541c
)
