#include "textflag.h"

// func plainLength(p []byte) int
//
// X0 is 2, X1 a space and X2 a backslash, in each of sixteen bytes. With one bit changed, a
// quote comes to lie right above the control characters: bytes that are then a space or less end
// the plain part. DX is where the sixteen bytes begin, BX where they end.
TEXT ·plainLength(SB), NOSPLIT, $0-32
	MOVQ	p_base+0(FP), SI
	MOVQ	p_len+8(FP), CX
	MOVQ	$0x0202020202020202, AX
	MOVQ	AX, X0
	PUNPCKLQDQ	X0, X0
	MOVQ	$0x2020202020202020, AX
	MOVQ	AX, X1
	PUNPCKLQDQ	X1, X1
	MOVQ	$0x5c5c5c5c5c5c5c5c, AX
	MOVQ	AX, X2
	PUNPCKLQDQ	X2, X2
	XORQ	DX, DX
	MOVQ	$16, BX
loop:
	MOVOU	(SI)(DX*1), X3
	MOVO	X3, X4
	PCMPEQB	X2, X3
	PXOR	X0, X4
	MOVO	X4, X5
	PMINUB	X1, X4
	PCMPEQB	X5, X4
	POR	X3, X4
	PMOVMSKB	X4, AX
	TESTL	AX, AX
	JNE	found
	CMPQ	BX, CX
	JEQ	all
	MOVQ	BX, DX
	ADDQ	$16, BX
	CMPQ	BX, CX
	JLS	loop
	MOVQ	CX, BX // the last sixteen again have some that were looked at
	LEAQ	-16(CX), DX
	JMP	loop
found:
	BSFL	AX, AX
	ADDQ	DX, AX
	MOVQ	AX, ret+24(FP)
	RET
all:
	MOVQ	CX, ret+24(FP)
	RET
