#include "textflag.h"

// start is the program's first code. The kernel leaves the number of arguments at the top of the stack, and the
// arguments and the environment behind it. When begin returns, Go starts.
TEXT ·start(SB), NOSPLIT|NOFRAME, $0
	MOVD $0, g
	MOVD RSP, R19
	SUB  $48, RSP
	MOVD R19, 32(RSP)
	MOVD R19, 8(RSP)
	CALL ·begin(SB)
	MOVD 32(RSP), R19
	MOVD R19, RSP
	JMP  _rt0_arm64_linux(SB)
