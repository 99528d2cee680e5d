/*
 * A stopped thread that may be made to do a system call, and what it needs for
 * that: the instruction, and a way back.
 *
 * Runs in: keeper, collector, the command.
 */
#ifndef PTRACE_LIVE_REMOTE_THREAD_H
#define PTRACE_LIVE_REMOTE_THREAD_H

#include <stdint.h>

#include "mu/arch/registers.h"
#include "mu/status.h"
#include "ptrace/live/remote_code.h"
#include "ptrace/live/remote_return.h"
#include "ptrace/live/threads.h"

/* PTRACE_GET_SYSCALL_INFO and what it gives, for libcs before glibc 2.31. */
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
	struct mu_remote_return way; /* back, if we end in the middle */
	struct mu_threads *threads;  /* whose process it is */
	struct mu_tracee *tracee;    /* one of them */
	uintptr_t general[MU_PRSTATUS_WORDS]; /* what is to be put back */
	struct mu_remote_code code;
	long options; /* PTRACE_O_... that it has otherwise */
};

/*
 * May TRACEE, one of THREADS, be used? It is in PTRACE_EVENT_STOP.
 *
 * Not where registers, rseq area or pending restart could not be put back
 * exactly: in code of another ABI, in a restartable sequence (PTRACE_GET_
 * RSEQ_CONFIGURATION, Linux 5.13, tells), on a kernel before Linux 5.3, which
 * has no PTRACE_GET_SYSCALL_INFO and whose PTRACE_SETSIGMASK forgets the mask
 * of a sigsuspend(). And not under seccomp, whose filter may kill the process
 * for a call that it never makes itself: MU_ERR_PTRACE_SECCOMP. Not where it
 * would not find back by itself: with a shadow stack, or without room on its
 * stack. Nor if we have
 * rights that it does not have (rights.h): MU_ERR_NO_PERMISSION. All else is
 * MU_ERR_BUSY, with the reason in words.
 */
enum mu_status mu_remote_thread_check(struct mu_remote_thread *out,
    struct mu_threads *threads, struct mu_tracee *tracee, struct mu_why *why);

/*
 * The best of THREADS, which are all stopped: one that was inside a system
 * call, where no restartable sequence can be, else one in its own code. Before
 * all others the first one, if it was in a call; last come those whose call
 * would not go on with the time that it has left if we ended in the middle.
 * Only MU_TRACEE_STOPPED ones: a thread that job control has stopped stays so.
 */
enum mu_status mu_remote_thread_pick(struct mu_remote_thread *out,
    struct mu_threads *threads, struct mu_why *why);

#endif
