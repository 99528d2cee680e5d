/*
 * What is to be put back in a thread that makes a system call for us, where
 * another process than its tracer can read it: if the tracer ends in the
 * middle, the kernel lets the thread run on with our registers.
 *
 * Runs in: keeper, guardian. Uses no malloc, no errno, no libc lock.
 */
#ifndef PTRACE_REMOTE_NOTE_H
#define PTRACE_REMOTE_NOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/arch.h"
#include "mu/sys.h"

struct mu_remote_note {
	int valid; /* written last, and cleared when all is put back */
	pid_t tid;
	uintptr_t args[6];                    /* of our call */
	uintptr_t code;                       /* where it is made */
	uintptr_t general[MU_PRSTATUS_WORDS]; /* the thread's own */
	mu_sigmask mask;
};

void mu_remote_note_set(struct mu_remote_note *note);
void mu_remote_note_clear(struct mu_remote_note *note);

/*
 * The tracer is gone: catch the thread of process PID on its way out of our
 * call and put back what NOTE has, until DEADLINE_NS. Does nothing if NOTE is
 * not valid, or if the thread has its own registers again.
 */
void mu_remote_note_undo(
    struct mu_remote_note *note, pid_t pid, uint64_t deadline_ns);

#endif
