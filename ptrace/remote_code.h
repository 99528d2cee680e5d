/*
 * The system call instruction that a stopped thread is made to run.
 *
 * Runs in: keeper. Uses no malloc, no errno, no libc lock.
 */
#ifndef PTRACE_REMOTE_CODE_H
#define PTRACE_REMOTE_CODE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * The address of one in the vDSO of thread TID, or 0. Only there: the page is
 * the kernel's, and no file or shared memory shows through it, which another
 * process could write to. A process that shares TID's memory, or that may open
 * its /proc/PID/mem, can write even there: see mu_remote_call_make().
 */
uintptr_t mu_remote_code_find(pid_t tid);

#endif
