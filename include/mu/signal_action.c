/*
 * Without unwinding information, and behind a byte that no function's covers:
 * only so do libgcc and gdb look at the code, which they know, and see a
 * signal's frame (MD_FALLBACK_FRAME_STATE_FOR). A thread that is cancelled in
 * a handler that we hand a signal on to is unwound through here.
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
