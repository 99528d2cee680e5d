/*
 * Read the registers of an interrupted thread from the frame of its signal
 * handler, in the form in which ptrace returns them: NT_PRSTATUS, the vector
 * set.
 *
 * Runs in: original.
 */
#ifndef MU_ARCH_SIGNAL_FRAME_H
#define MU_ARCH_SIGNAL_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "mu/arch/chosen.h"
#include "mu/arch/registers.h"
#include "mu/sys.h"

#define MU_FRAME_BASES 2 /* x86-64: fs and gs; aarch64: only the first */

/*
 * The parts of the vector set. Read once, because the instructions that tell
 * are slow.
 */
struct mu_frame_layout;
static inline void mu_frame_layout_read(struct mu_frame_layout *layout);

/* Read the calling thread's own bases; no frame holds them. */
static inline void mu_frame_bases(uintptr_t bases[MU_FRAME_BASES]);

/* Copy the vector set to OUT, at most MAX bytes. Returns its length. */
static inline size_t mu_frame_vector(const ucontext_t *frame,
    const struct mu_frame_layout *layout, void *out, size_t max);

#include MU_ARCH(signal_frame.h)

/*
 * Fill OUT (NT_PRSTATUS) from FRAME and BASES. Registers that neither holds are
 * set to 0.
 */
static inline void mu_frame_general(const ucontext_t *frame,
    const uintptr_t bases[MU_FRAME_BASES], uintptr_t out[MU_PRSTATUS_WORDS]);

#endif
