/*
 * What a stopped thread that makes a system call for us needs of its process's
 * memory: the instruction, the code behind that takes its own registers back,
 * and a stack.
 *
 * Runs in: keeper, collector.
 */
#ifndef PTRACE_LIVE_REMOTE_CODE_H
#define PTRACE_LIVE_REMOTE_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/arch/return.h"
#include "mu/range.h"

struct mu_remote_code {
	struct mu_return_code at;
	struct mu_range stack; /* the mapping that is called [stack]; or none */
};

/*
 * Of thread TID, which is stopped. False: there is no such code. The system
 * call instruction comes from the vDSO only: the page is the kernel's, and no
 * file or shared memory shows through it, which another process could write to.
 * A process that shares TID's memory, or that may open its /proc/PID/mem, can
 * write even there: see mu_remote_call_make(). The code of rt_sigreturn may be
 * any, as it runs only when no tracer is left.
 *
 * OUT->at.back may be set by mu_remote_code_back() before; else that takes its
 * time now.
 */
bool mu_remote_code_find(struct mu_remote_code *out, pid_t tid);

/*
 * The address of code that calls rt_sigreturn in process PID, which may run, or
 * 0: that of libc, or of the program if it is static. Up to some milliseconds.
 */
uintptr_t mu_remote_code_back(pid_t pid);

#endif
