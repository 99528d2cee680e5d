/*
 * Alternate signal stacks: once sigaltstack() has returned, only the kernel may
 * know its address. Each thread is made to call sigaltstack() for its own.
 *
 * Runs in: keeper, collector, the command.
 */
#ifndef PTRACE_LIVE_ALTERNATE_STACKS_H
#define PTRACE_LIVE_ALTERNATE_STACKS_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "ptrace/live/threads.h"

/* No alternate stack is smaller (MINSIGSTKSZ of x86-64, fixed in the ABI). */
#define MU_ALTERNATE_STACK_MIN 2048

/*
 * Add the begin of each of the THREADS' alternate stacks to SNAP's words of the
 * kernel. They are all stopped, and stay so. How many could not be asked: those
 * that are not in the stop of ours, that must not be made to do a system call
 * (mu_remote_thread_check), and for which there was no time: half of what is
 * left until STOP_NS (CLOCK_MONOTONIC), when the threads are to go on.
 */
size_t mu_alternate_stacks_add(struct mu_snapshot *snap,
    struct mu_threads *threads, struct mu_arena *arena, uint64_t stop_ns);

#endif
