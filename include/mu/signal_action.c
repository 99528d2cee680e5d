/*
 * The code that a signal handler returns to. It has no unwind information, and
 * the byte before it belongs to no function: only then do libgcc and gdb look
 * at the code itself, recognise it, and see a signal frame
 * (MD_FALLBACK_FRAME_STATE_FOR). If a thread is cancelled in a handler that we
 * pass a signal on to, it is unwound through this code.
 *
 * Runs in: any.
 */
#include "mu/signal_action.h"

#ifdef MU_SIGRETURN_CODE
__asm__(".text\n\t.p2align 4\n\tnop\n\t"
	".globl mu_signal_return\n\t.hidden mu_signal_return\n\t"
	".type mu_signal_return, %function\n"
	"mu_signal_return:\n\t" MU_SIGRETURN_CODE "\n\t"
	".size mu_signal_return, .-mu_signal_return\n\t");
#endif
