#include "go_asm.h"
#include "textflag.h"

#define SYS_exit_group 94
#define SYS_rt_sigprocmask 135
#define SYS_clone3 435
#define SIG_SETMASK 2

// func vfork(c *child)
//
// R19 is c, R20 the step. A system call changes R0 alone. The child runs on the stack of
// this thread, to which it writes nothing.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-8
	MOVD	c+0(FP), R19
	MOVD	$SIG_SETMASK, R0
	ADD	$child_all, R19, R1
	ADD	$child_mask, R19, R2
	MOVD	$8, R3
	MOVD	$SYS_rt_sigprocmask, R8
	SVC
	ADD	$child_clone, R19, R0
	MOVD	$cloneArgs__size, R1
	MOVD	$SYS_clone3, R8
	SVC
	CBZ	R0, child
	MOVD	R0, child_result(R19)
	MOVD	$SIG_SETMASK, R0
	ADD	$child_mask, R19, R1
	MOVD	$0, R2
	MOVD	$8, R3
	MOVD	$SYS_rt_sigprocmask, R8
	SVC
	RET

child:
	ADD	$child_steps, R19, R20
next:
	MOVD	(step_args+0)(R20), R0
	MOVD	(step_args+8)(R20), R1
	MOVD	(step_args+16)(R20), R2
	MOVD	(step_args+24)(R20), R3
	MOVD	step_number(R20), R8
	SVC
	CMN	$4095, R0
	BCC	done
	MOVD	step_tolerated(R20), R1
	CBZ	R1, failed
done:
	ADD	$step__size, R20
	B	next
failed:
	NEG	R0, R0
	MOVD	R0, child_failed(R19)
end:
	MOVD	$253, R0
	MOVD	$SYS_exit_group, R8
	SVC
	B	end
