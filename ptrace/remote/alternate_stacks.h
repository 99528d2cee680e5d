/*
 * Alternate signal stacks: after sigaltstack() has returned, the kernel may be
 * the only one to know the address. Each thread is made to call sigaltstack()
 * to read it.
 *
 * Runs in: keeper, collector, the command.
 */
#ifndef PTRACE_REMOTE_ALTERNATE_STACKS_H
#define PTRACE_REMOTE_ALTERNATE_STACKS_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "ptrace/live/threads.h"

/*
 * The kernel accepts no smaller one (MINSIGSTKSZ of x86-64, part of the ABI).
 */
#define MU_ALTERNATE_STACK_MIN 2048

/*
 * Add the start of each alternate stack of THREADS, which are stopped, to
 * SNAP's kernel values. *UNASKED is the number of threads that could not be
 * asked: those in another stop than ours, those that must not be made to do a
 * system call (mu_remote_thread_check()), and those for which time ran out. The
 * limit is half of the time left until STOP_NS (CLOCK_MONOTONIC), when the
 * threads have to continue.
 *
 * MU_OK: all that were stopped still are. MU_ERR_TIMEOUT: a call that had begun
 * was not over at STOP_NS, and the other threads were released.
 * MU_ERR_TARGET_GONE: one was killed.
 */
enum mu_status mu_alternate_stacks_add(struct mu_snapshot *snap,
    struct mu_threads *threads, struct mu_arena *arena, uint64_t stop_ns,
    size_t *unasked, struct mu_why *why);

#endif
