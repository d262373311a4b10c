#include "textflag.h"

// start is the program's first code. The kernel leaves the number of arguments at the top of the stack, and the
// arguments and the environment behind it. Go's code reads its goroutine before the address in FS: there is none. When
// begin returns, Go starts, with the FS that was there: with cgo it is libc's.
TEXT ·start(SB), NOSPLIT|NOFRAME, $0
	MOVQ SP, BX
	ANDQ $~15, SP
	SUBQ $48, SP
	MOVQ BX, 32(SP)
	MOVQ $158, AX // arch_prctl
	MOVQ $0x1003, DI // ARCH_GET_FS
	LEAQ 24(SP), SI
	SYSCALL
	MOVQ $158, AX
	MOVQ $0x1002, DI // ARCH_SET_FS
	LEAQ ·thread+64(SB), SI
	SYSCALL
	MOVQ 32(SP), BX
	MOVQ BX, 0(SP)
	CALL ·begin(SB)
	MOVQ $158, AX
	MOVQ $0x1002, DI
	MOVQ 24(SP), SI
	SYSCALL
	MOVQ 32(SP), SP
	JMP  _rt0_amd64_linux(SB)
