#include "go_asm.h"
#include "textflag.h"

#define SYS_rt_sigprocmask 14
#define SYS_exit_group 231
#define SYS_clone3 435
#define SIG_SETMASK 2

// func vfork(c *child)
//
// R12 is c, R13 the step. A system call changes AX, CX and R11 alone. The child runs on
// the stack of this thread, to which it writes nothing.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ	c+0(FP), R12
	MOVQ	$SIG_SETMASK, DI
	LEAQ	child_all(R12), SI
	LEAQ	child_mask(R12), DX
	MOVQ	$8, R10
	MOVQ	$SYS_rt_sigprocmask, AX
	SYSCALL
	LEAQ	child_clone(R12), DI
	MOVQ	$cloneArgs__size, SI
	MOVQ	$SYS_clone3, AX
	SYSCALL
	TESTQ	AX, AX
	JEQ	child
	MOVQ	AX, child_result(R12)
	MOVQ	$SIG_SETMASK, DI
	LEAQ	child_mask(R12), SI
	XORQ	DX, DX
	MOVQ	$8, R10
	MOVQ	$SYS_rt_sigprocmask, AX
	SYSCALL
	RET

child:
	LEAQ	child_steps(R12), R13
next:
	MOVQ	(step_args+0)(R13), DI
	MOVQ	(step_args+8)(R13), SI
	MOVQ	(step_args+16)(R13), DX
	MOVQ	(step_args+24)(R13), R10
	MOVQ	step_number(R13), AX
	SYSCALL
	CMPQ	AX, $0xfffffffffffff001
	JCS	done
	CMPQ	step_tolerated(R13), $0
	JEQ	failed
done:
	ADDQ	$step__size, R13
	JMP	next
failed:
	NEGQ	AX
	MOVQ	AX, child_failed(R12)
end:
	MOVQ	$253, DI
	MOVQ	$SYS_exit_group, AX
	SYSCALL
	JMP	end
