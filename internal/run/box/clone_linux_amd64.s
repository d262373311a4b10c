#include "textflag.h"

// func rawClone(flags, stack uintptr, p *program, inner uintptr) (pid int)
// The child never returns: it goes on in first, or in second where inner is not 0, on the stack that it was given.
TEXT ·rawClone(SB),NOSPLIT,$0-40
	MOVQ flags+0(FP), DI
	MOVQ stack+8(FP), SI
	MOVQ p+16(FP), R12
	MOVQ inner+24(FP), R13
	MOVQ $·handTo(SB), DX
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JEQ child
	MOVQ AX, pid+32(FP)
	RET
child:
	MOVQ R12, 0(SP)
	MOVQ $·first(SB), AX
	TESTQ R13, R13
	JEQ begin
	MOVQ $·second(SB), AX
begin:
	CALL AX
	INT $3
