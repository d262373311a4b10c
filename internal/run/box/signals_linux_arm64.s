#include "textflag.h"

// handOn is a handler of signals: it sends one to the process handTo. It does not send what the terminal sent for a
// key, which has reached the box, too. Where there is no process yet it ends this one. Nothing of Go may be used here.
TEXT ·handOn(SB),NOSPLIT|NOFRAME,$0
	MOVWU ·handTo(SB), R3
	CBZ R3, none
	CMPW $2, R0 // SIGINT
	BEQ key
	CMPW $3, R0 // SIGQUIT
	BNE send
key:
	MOVWU 8(R1), R4
	CMPW $0x80, R4 // si_code is SI_KERNEL
	BEQ out
send:
	MOVD R0, R1
	MOVD R3, R0
	MOVD $129, R8 // kill
	SVC
out:
	RET
none:
	ADD $128, R0
	MOVD $94, R8 // exit_group
	SVC
	BRK

// The kernel has a handler return here.
TEXT ·handedOn(SB),NOSPLIT|NOFRAME,$0
	MOVD $139, R8 // rt_sigreturn
	SVC
	BRK

// func handler() (handle, restore uintptr)
TEXT ·handler(SB),NOSPLIT,$0-16
	MOVD $·handOn(SB), R0
	MOVD R0, handle+0(FP)
	MOVD $·handedOn(SB), R0
	MOVD R0, restore+8(FP)
	RET
