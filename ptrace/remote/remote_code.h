/*
 * The parts of a process's memory that a stopped thread needs to make a system
 * call for us: the instruction, the code that restores its registers
 * afterwards, and a stack.
 *
 * Runs in: keeper, collector.
 */
#ifndef PTRACE_REMOTE_REMOTE_CODE_H
#define PTRACE_REMOTE_REMOTE_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/arch/return.h"
#include "mu/range.h"

struct mu_remote_code {
	struct mu_return_code at;
	struct mu_range stack; /* the mapping [stack], or empty */
};

/*
 * Find these for thread TID, which is stopped. Returns false if there is no
 * such code. The system call instruction is taken only from the vDSO: that page
 * belongs to the kernel, not to a file or shared memory that another process
 * could write to. A process that shares TID's memory, or may open its
 * /proc/PID/mem, can write even there: see mu_remote_call_make(). The code of
 * rt_sigreturn may lie anywhere, as it runs only when there is no tracer.
 *
 * OUT->at.back may have been set by mu_remote_code_back() before, which saves
 * time during the stop.
 */
bool mu_remote_code_find(struct mu_remote_code *out, pid_t tid);

/*
 * The address of code that calls rt_sigreturn in process PID, in libc or in a
 * static program; or 0. PID may run. Takes up to some milliseconds.
 */
uintptr_t mu_remote_code_back(pid_t pid);

#endif
