/*
 * A thread's way back from a system call that it makes for us, stored in its
 * memory: signal frames that restore its own registers and signal mask. The
 * tracer restores these itself; but if it is killed before, the kernel
 * continues the thread, which then restores them by itself. A child that it has
 * started then ends at once, by separate frames, under the name MU_REMOTE_COPY,
 * and is reaped.
 *
 * The frames of the first thread lie in the lowest part of its stack, which has
 * not been used so far. Those of another thread, or if that part is used, lie
 * where the kernel would build one for a signal: below the stack pointer and
 * the red zone. This must be the stack of the thread, with enough room: the
 * stack of a coroutine may have other memory right below. The previous contents
 * are put back.
 *
 * Runs in: keeper, collector.
 */
#ifndef PTRACE_LIVE_REMOTE_RETURN_H
#define PTRACE_LIVE_REMOTE_RETURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/sys.h"

struct mu_remote_thread;

/* The vector registers have up to 11 KiB (AMX). */
#define MU_REMOTE_RETURN_MAX ((size_t)16 << 10)

/* Bytes for what a call writes to memory; a child finds its name there. */
#define MU_REMOTE_ANSWER 64
#define MU_REMOTE_COPY "mu-copy"

struct mu_remote_return {
	_Alignas(64) unsigned char bytes[MU_REMOTE_RETURN_MAX];
	uintptr_t at; /* where it lies; 0: nowhere */
	size_t size, vector_size;
	bool foreign; /* on the first thread's stack, and that is another */
	int memory;   /* /proc/TID/mem while it lies there */
	size_t laid;  /* bytes of it */
};

/*
 * Look for room in THREAD, whose registers and code are known; its process's
 * other threads may run, but then only its own stack is taken. False: there is
 * none, or its vector registers cannot be read.
 */
bool mu_remote_return_find(struct mu_remote_thread *thread);

/* What a call may be given: room for its answer, and what clone() takes. */
uintptr_t mu_remote_return_answer(const struct mu_remote_thread *thread);
uintptr_t mu_remote_return_child_stack(const struct mu_remote_thread *thread);
uintptr_t mu_remote_return_child_pid(const struct mu_remote_thread *thread);

/*
 * /proc/TID/mem is opened: it shows this program's memory even when the thread
 * runs another one. 0 or -errno.
 */
long mu_remote_return_open(struct mu_remote_thread *thread);

/* Lay the frames; MASK is the thread's own. 0 or -errno. */
long mu_remote_return_lay(struct mu_remote_thread *thread, mu_sigmask mask);

/* Registers that lead back at once. */
void mu_remote_return_now(
    const struct mu_remote_thread *thread, uintptr_t *general);

/*
 * Registers that are to make a call come back behind it; with CHILD, after
 * waiting for the child whose number is at mu_remote_return_child_pid().
 */
void mu_remote_return_after(
    const struct mu_remote_thread *thread, bool child, uintptr_t *general);

/* Where the child of THREAD finds the frame by which it ends. */
uintptr_t mu_remote_return_child_end(const struct mu_remote_thread *thread);

/*
 * Nothing of it is needed any more: SIZE bytes of the answer go to ANSWER, what
 * was there before is put back, and the file closed. May be called at any time.
 */
void mu_remote_return_lift(
    struct mu_remote_thread *thread, void *answer, size_t size);

#endif
