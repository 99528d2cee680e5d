/*
 * A stopped thread that may be made to do a system call, with the instruction
 * and the frames for that.
 *
 * Runs in: keeper, collector, the command.
 */
#ifndef PTRACE_REMOTE_REMOTE_THREAD_H
#define PTRACE_REMOTE_REMOTE_THREAD_H

#include <stdint.h>

#include "mu/arch/registers.h"
#include "mu/status.h"
#include "ptrace/live/threads.h"
#include "ptrace/remote/remote_code.h"
#include "ptrace/remote/remote_return.h"

/* PTRACE_GET_SYSCALL_INFO and its struct, for glibc before 2.31. */
#define MU_GET_SYSCALL_INFO 0x420e

enum { MU_SYSCALL_ENTRY = 1, MU_SYSCALL_EXIT = 2 };

struct mu_syscall_info {
	uint8_t op, pad[3];
	uint32_t arch;
	uint64_t ip, sp;
	union {
		struct {
			uint64_t nr, args[6];
		} entry;
		struct {
			int64_t result;
		} exit;
	};
};

struct mu_remote_thread {
	struct mu_remote_return way; /* frames to restore it if we are killed */
	struct mu_threads *threads;  /* all threads of its process */
	struct mu_tracee *tracee;    /* this one */
	uintptr_t general[MU_PRSTATUS_WORDS]; /* registers to be restored */
	struct mu_remote_code code;
	long options; /* PTRACE_O_... to be restored */
};

/*
 * Check whether TRACEE, one of THREADS and in PTRACE_EVENT_STOP, may be used.
 *
 * It may not if registers, rseq area or pending restart could not be restored
 * exactly: in code of another ABI; in a restartable sequence
 * (PTRACE_GET_RSEQ_CONFIGURATION, Linux 5.13, shows it); before Linux 5.3,
 * which does not have PTRACE_GET_SYSCALL_INFO and whose PTRACE_SETSIGMASK
 * forgets the mask of a sigsuspend(). It may not if it could not restore
 * itself: with a shadow stack, or without room on its stack. These are
 * MU_ERR_BUSY, with the reason in words. Under seccomp: MU_ERR_PTRACE_SECCOMP,
 * as the filter may kill the process for a call that it never makes itself. If
 * we have rights that it does not have (rights.h): MU_ERR_NO_PERMISSION.
 */
enum mu_status mu_remote_thread_check(struct mu_remote_thread *out,
    struct mu_threads *threads, struct mu_tracee *tracee, struct mu_why *why);

/*
 * Choose the best of THREADS, which are all stopped. Preferred is the first
 * thread if it was in a system call; then another one in a call, where no
 * restartable sequence can be; then one in its own code; last those whose call
 * would not continue with its remaining time if we were killed. Only
 * MU_TRACEE_STOPPED threads are used: one that job control has stopped stays
 * stopped.
 */
enum mu_status mu_remote_thread_pick(struct mu_remote_thread *out,
    struct mu_threads *threads, struct mu_why *why);

#endif
