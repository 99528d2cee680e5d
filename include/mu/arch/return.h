/*
 * How a thread restores its own registers: rt_sigreturn restores all of them,
 * and the signal mask, from a frame in memory as the kernel builds one for a
 * signal handler. MU_RETURN_... describe where the code for that call and its
 * address are found; mu_arch_return_...() build frames.
 *
 * - MU_RETURN_END: the end of that code, MU_RETURN_END_SIZE bytes.
 * - MU_RETURN_SHADOW: the line of /proc/PID/status for a shadow stack.
 * - MU_RETURN_SKIP_MAX, MU_RETURN_TAIL: limits of the bytes popped, and of the
 *   length of the code up to a return. MU_RETURN_BEFORE: length of the code
 *   that mu_arch_return_number() looks at.
 * - MU_RETURN_FIRST: offset in a frame of the first argument of the call that
 *   the frame restores.
 *
 * Runs in: keeper, collector.
 */
#ifndef MU_ARCH_RETURN_H
#define MU_ARCH_RETURN_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mu/arch/chosen.h"
#include "mu/arch/remote.h"
#include "mu/sys.h"

/*
 * Neither SS_DISABLE, SS_ONSTACK nor 0: do_sigaltstack() refuses the value, and
 * rt_sigreturn ignores that error (restore_altstack() in kernel/signal.c). So
 * the thread keeps its alternate stack, which we do not know.
 */
#define MU_RETURN_NO_STACK 0x40

/*
 * A system call instruction, and the code that leads from it to rt_sigreturn.
 */
struct mu_return_code {
	uintptr_t call; /* the system call instruction */
	uintptr_t back; /* the code that calls rt_sigreturn */
	unsigned skip;  /* bytes of stack that are popped before the return */
};

/*
 * The vector registers for a frame. AT is the address in the thread's memory at
 * which they will lie.
 */
struct mu_return_vector {
	const void *set;
	size_t size;
	uintptr_t at;
};

/* The frame as the kernel builds it; the CPU's file defines the struct. */
struct mu_return_frame;

/*
 * True if the code at TAIL, which follows a system call instruction, returns
 * for any register values, given those that mu_arch_return_after() sets. *SKIP
 * is the number of stack bytes that it pops first.
 */
static inline bool mu_arch_return_tail(
    const unsigned char *tail, size_t size, unsigned *skip);

/*
 * True if the thread was interrupted in a call that restart_syscall continues.
 */
static inline bool mu_arch_return_waits(const uintptr_t *general);

/*
 * Build a frame that restores GENERAL and MASK, and VECTOR; without VECTOR the
 * vector registers are cleared.
 */
static inline void mu_arch_return_fill(struct mu_return_frame *frame,
    const uintptr_t *general, mu_sigmask mask,
    const struct mu_return_code *code, const struct mu_return_vector *vector);

/*
 * GENERAL is set up for a call; make that call return through the frame at
 * FRAME.
 */
static inline void mu_arch_return_after(
    uintptr_t *general, const struct mu_return_code *code, uintptr_t frame);

/* The stack pointer for a child of such a call. */
static inline uintptr_t mu_arch_return_stack(
    const struct mu_return_code *code, uintptr_t frame);

/* Make GENERAL restore FRAME at once, without another call first. */
static inline void mu_arch_return_now(
    uintptr_t *general, const struct mu_return_code *code, uintptr_t frame);

/*
 * Apply to GENERAL what the kernel does with an interrupted call when no signal
 * follows. rt_sigreturn discards the state for restart_syscall: the call NUMBER
 * begins anew instead, or ends with EINTR if the number is -1, not known.
 */
static inline void mu_arch_return_restart(uintptr_t *general, long number);

/*
 * Convert SIZE bytes of the vector set, as ptrace returns them, to the layout
 * of a signal frame. The four bytes after them may be written.
 */
static inline void mu_arch_return_vector(void *set, size_t size);

#include MU_ARCH(return.h)

/*
 * The number of an interrupted call that restart_syscall has restarted once.
 * The registers no longer hold it; it is read from the code before the call
 * instruction. -1 if it is not known.
 */
static inline long mu_arch_return_number(
    const unsigned char before[MU_RETURN_BEFORE]);

/*
 * The address of code that calls rt_sigreturn, or 0. FOUND is where
 * MU_RETURN_END occurs in BYTES, which is a copy of the thread's memory at
 * ADDRESS.
 */
static inline uintptr_t mu_return_code_at(
    const char *found, const char *bytes, uintptr_t address);

#endif
