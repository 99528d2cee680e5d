/*
 * Signal frames in a thread's memory, by which it restores its own registers
 * and signal mask after a system call that it makes for us. Normally the tracer
 * restores these. If the tracer is killed before, the kernel continues the
 * thread, which then restores itself. A child that it has started uses separate
 * frames: it exits at once, under the name MU_REMOTE_COPY, and is reaped.
 *
 * The frames of the first thread lie in the lowest, unused part of its stack.
 * For another thread, or if that part is in use, they lie where the kernel
 * would build a signal frame: below the stack pointer and the red zone. This
 * must be the thread's own stack, with enough room: below the stack of a
 * coroutine there may be other data. The previous contents are restored.
 *
 * Runs in: keeper, collector.
 */
#ifndef PTRACE_REMOTE_REMOTE_RETURN_H
#define PTRACE_REMOTE_REMOTE_RETURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/sys.h"

struct mu_remote_thread;

/* The vector registers take up to 11 KiB (AMX). */
#define MU_REMOTE_RETURN_MAX ((size_t)16 << 10)

/* Room for what a call writes to memory; also holds the name for a child. */
#define MU_REMOTE_ANSWER 64
#define MU_REMOTE_COPY "mu-copy"

struct mu_remote_return {
	_Alignas(64) unsigned char bytes[MU_REMOTE_RETURN_MAX];
	uintptr_t at; /* address in the thread's memory; 0 if none */
	size_t size, vector_size;
	bool foreign;   /* it lies on the first thread's stack; this is another
			   thread */
	int memory;     /* /proc/TID/mem, open while the frames are in place */
	size_t written; /* bytes written so far */
};

/*
 * Find room for the frames of THREAD, whose registers and code are known. If
 * other threads of the process run, only its own stack is used. Returns false
 * if there is no room or its vector registers cannot be read.
 */
bool mu_remote_return_find(struct mu_remote_thread *thread);

/*
 * Addresses to pass to a call: the room for its answer, and what clone() needs.
 */
uintptr_t mu_remote_return_answer(const struct mu_remote_thread *thread);
uintptr_t mu_remote_return_child_stack(const struct mu_remote_thread *thread);
uintptr_t mu_remote_return_child_pid(const struct mu_remote_thread *thread);

/*
 * Open /proc/TID/mem, which keeps referring to this program's memory even if
 * the thread executes another program. Returns 0 or -errno.
 */
long mu_remote_return_open(struct mu_remote_thread *thread);

/* Write the frames; MASK is the thread's own. Returns 0 or -errno. */
long mu_remote_return_write(struct mu_remote_thread *thread, mu_sigmask mask);

/* Set GENERAL so that the thread restores itself at once. */
void mu_remote_return_set_now(
    const struct mu_remote_thread *thread, uintptr_t *general);

/*
 * Set GENERAL, which is about to make a call, to restore the thread after the
 * call; with CHILD, after waiting for the child whose number is at
 * mu_remote_return_child_pid().
 */
void mu_remote_return_set_after(
    const struct mu_remote_thread *thread, bool child, uintptr_t *general);

/* The address of the frame by which the child of THREAD exits. */
uintptr_t mu_remote_return_child_end(const struct mu_remote_thread *thread);

/*
 * Remove the frames: copy SIZE bytes of the answer to ANSWER, restore the
 * previous contents, and close the file. May be called at any time.
 */
void mu_remote_return_remove(
    struct mu_remote_thread *thread, void *answer, size_t size);

#endif
