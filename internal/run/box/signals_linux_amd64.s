#include "textflag.h"

// handOn is a handler of signals: it sends one to the process handTo. It does not send what the terminal sent for a
// key, which has reached the box, too. Where there is no process yet it ends this one. Nothing of Go may be used here.
TEXT ·handOn(SB),NOSPLIT|NOFRAME,$0
	MOVL ·handTo(SB), AX
	TESTL AX, AX
	JEQ none
	CMPL DI, $2 // SIGINT
	JEQ key
	CMPL DI, $3 // SIGQUIT
	JNE send
key:
	CMPL 8(SI), $0x80 // si_code is SI_KERNEL
	JEQ out
send:
	MOVL DI, SI
	MOVL AX, DI
	MOVL $62, AX // kill
	SYSCALL
out:
	RET
none:
	ADDL $128, DI
	MOVL $231, AX // exit_group
	SYSCALL
	INT $3

// The kernel has a handler return here.
TEXT ·handedOn(SB),NOSPLIT|NOFRAME,$0
	MOVL $15, AX // rt_sigreturn
	SYSCALL
	INT $3

// func handler() (handle, restore uintptr)
TEXT ·handler(SB),NOSPLIT,$0-16
	MOVQ $·handOn(SB), AX
	MOVQ AX, handle+0(FP)
	MOVQ $·handedOn(SB), AX
	MOVQ AX, restore+8(FP)
	RET
