#include "textflag.h"

// func rawClone(flags, stack uintptr, p *program, inner uintptr) (pid int)
// The child never returns: it goes on in first, or in second where inner is not 0, on the stack that it was given.
TEXT ·rawClone(SB),NOSPLIT,$0-40
	MOVD flags+0(FP), R0
	MOVD stack+8(FP), R1
	MOVD p+16(FP), R19
	MOVD inner+24(FP), R20
	MOVD $·handTo(SB), R2
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD $220, R8 // clone
	SVC
	CBZ R0, child
	MOVD R0, pid+32(FP)
	RET
child:
	MOVD R19, 8(RSP)
	MOVD $·first(SB), R9
	CBZ R20, begin
	MOVD $·second(SB), R9
begin:
	CALL (R9)
	BRK
