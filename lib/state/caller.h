/*
 * The context of the calling thread, which is not stopped. It was taken where
 * the program called the library.
 */
#ifndef LIB_STATE_CALLER_H
#define LIB_STATE_CALLER_H

#include "lib/state/image.h"
#include "mu/arch/cpu.h"

/* The context of the asking thread, taken where the program called us. */
struct mu_caller {
	uintptr_t sp; /* 0: none (the thread of a signal) */
	uintptr_t tp;
	uintptr_t saved[MU_CALLEE_SAVED];
};

/*
 * Add the calling thread to image->snap, unless the call has no stack. Runs in:
 * any.
 */
enum mu_status mu_caller_add(struct mu_image *image);

/*
 * Note the address of the calling thread's alternate signal stack, for
 * mu_caller_add(). Runs in: original, in the calling thread.
 */
void mu_caller_note_stack(struct mu_image *image);

/*
 * Take the caller's context. Must be inline: a separate frame would save
 * registers in which the program keeps pointers below SP.
 */
static inline __attribute__((always_inline)) void
mu_caller_capture(struct mu_caller *caller)
{
	mu_arch_callee_saved(caller->saved);
	caller->sp = mu_arch_sp();
	caller->tp = mu_arch_tp();
}

#endif
