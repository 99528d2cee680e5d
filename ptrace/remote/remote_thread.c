#include "ptrace/remote/remote_thread.h"

#include <string.h>
#include <sys/ptrace.h>

#include "mu/arch/remote.h"
#include "mu/arch/seccomp.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/rights.h"
#include "ptrace/remote/remote_code.h"

#define NOTE_PRSTATUS 1
#define GET_RSEQ_CONFIGURATION 0x420f
#define POLICY_DEADLINE 6 /* SCHED_DEADLINE of linux/sched.h */
#define RSEQ_CS_OFFSET 8  /* of rseq_cs in struct rseq (linux/rseq.h) */
#ifndef SYS_rseq
#define SYS_rseq (MU_REMOTE_REWINDS ? 293 : 334)
#endif

/*
 * A thread refused because of seccomp or rights has cost a file read, and
 * threads usually share both, so stop after this many.
 */
#define STATUS_TRIES 8

/* If no thread is usable, the highest of the reasons found is reported. */
enum reason {
	SAFE,
	ELSEWHERE, /* in user code where a call is wanted, or vice versa */
	STOPPED,
	IN_DELIVERY,
	DEADLINE,
	RESTART,
	SEQUENCE,
	NO_ROOM,
	NO_CODE,
	SHADOW,
	FOREIGN,
	OLD_KERNEL,
	UNREADABLE,
	SECCOMP,
	RIGHTS,
};

static const char *const reasons[] = {
	[ELSEWHERE] = "it has no thread",
	[STOPPED] = "job control has stopped it",
	[IN_DELIVERY] = "a signal is on its way to it",
	[DEADLINE] = "its threads have the policy SCHED_DEADLINE, which may"
		     " not fork",
	[RESTART] = "its threads are in system calls that may have to be"
		    " restarted",
	[SEQUENCE] = "its threads are in code of their own and may be in a"
		     " restartable sequence (rseq)",
	[NO_ROOM] = "its threads have no room on their stacks",
	[NO_CODE] = "it has no vDSO with a system call instruction that"
		    " others cannot write to, or no code that returns from"
		    " a signal handler",
	[SHADOW] = "it has a shadow stack",
	[FOREIGN] = "it runs other than " MU_ABI " code",
	[OLD_KERNEL] = "the kernel is older than Linux 5.3",
	[UNREADABLE] = "its registers or its state cannot be read",
	[SECCOMP] = "it is under seccomp, and the filter could kill it for"
		    " a system call that is not its own",
	[RIGHTS] = "we have rights that it does not have, which a tracer could"
		   " give it",
};

static bool
is_code(pid_t tid, uintptr_t address)
{
	char bytes[MU_CALL_CODE_SIZE];

	return address % MU_CALL_CODE_STEP == 0 &&
	    mu_sys_read_memory(tid, address, bytes, sizeof(bytes)) ==
	    sizeof(bytes) &&
	    memcmp(bytes, MU_CALL_CODE, sizeof(bytes)) == 0;
}

/*
 * A restartable sequence is aborted when the kernel finds the thread outside of
 * it, as it would at the exit of our call. System calls inside one are
 * forbidden (rseq(2)), so a thread in a call is in none. An rseq_cs left over
 * from an earlier sequence looks the same and is refused, too.
 */
static bool
may_be_in_sequence(pid_t tid)
{
	struct {
		uint64_t area;
		uint32_t size, signature, flags, pad;
	} config = { 0 };
	uint64_t rseq_cs = 1;
	long n = mu_sys_ptrace(
	    GET_RSEQ_CONFIGURATION, tid, sizeof(config), (uintptr_t)&config);

	/*
	 * The kernel does not know the request: before 5.13, or without rseq.
	 */
	if (n < 0)
		return mu_sys4(SYS_rseq, 0, 0, 0, 0) != -ENOSYS;
	if (config.area == 0)
		return false;
	return mu_sys_read_memory(tid, config.area + RSEQ_CS_OFFSET, &rseq_cs,
		   sizeof(rseq_cs)) != sizeof(rseq_cs) ||
	    rseq_cs != 0;
}

static bool
has_own_filter(const struct mu_threads *threads, const char *status)
{
	return mu_proc_status_filtered(status) &&
	    (threads->filters == 0 ||
		mu_proc_status_number(status, "\nSeccomp_filters:", 0, 10) !=
		    threads->filters);
}

static enum reason
judge_status(const struct mu_threads *threads, pid_t tid)
{
	char status[MU_PROC_STATUS_SIZE];
	pid_t pid = threads->pid;
	ssize_t n = mu_proc_status_read(pid, tid, status, sizeof(status));

	if (n < 0 || (size_t)n + 1 == sizeof(status))
		return UNREADABLE;
	if (mu_rights_exceed(pid, status))
		return RIGHTS;
	if (strstr(status, MU_RETURN_SHADOW) != NULL)
		return SHADOW;
	return has_own_filter(threads, status) ? SECCOMP : SAFE;
}

static enum reason
read_general(struct mu_remote_thread *thread)
{
	pid_t tid = thread->tracee->tid;
	struct iovec set = { thread->general, sizeof(thread->general) };
	struct mu_syscall_info info = { 0 };

	if (mu_sys_ptrace(
		PTRACE_GETREGSET, tid, NOTE_PRSTATUS, (uintptr_t)&set) < 0)
		return UNREADABLE;
	if (set.iov_len != sizeof(thread->general) ||
	    !mu_arch_remote_native(thread->general))
		return FOREIGN;
	if (mu_sys_ptrace(
		MU_GET_SYSCALL_INFO, tid, sizeof(info), (uintptr_t)&info) < 0)
		return OLD_KERNEL;
	/* int $0x80 in a 64-bit program uses other call numbers. */
	return info.arch == MU_AUDIT_ARCH ? SAFE : FOREIGN;
}

static enum reason
conclude(struct mu_remote_thread *thread)
{
	pid_t tid = thread->tracee->tid;
	enum reason reason;

	if (MU_REMOTE_REWINDS && is_code(tid, thread->general[MU_PRSTATUS_PC]))
		return RESTART;
	if (!mu_arch_remote_in_call(thread->general) && may_be_in_sequence(tid))
		return SEQUENCE;
	reason = judge_status(thread->threads, tid);
	if (reason != SAFE)
		return reason;
	/* /proc/PID/maps is long if there are many threads. */
	if (thread->threads->code.at.call == 0 &&
	    !mu_remote_code_find(&thread->threads->code, tid))
		return NO_CODE;
	thread->code = thread->threads->code;
	return mu_remote_return_find(thread) ? SAFE : NO_ROOM;
}

static enum mu_status
refuse(pid_t pid, enum reason reason, struct mu_why *why)
{
	return mu_why(why,
	    reason == SECCOMP      ? MU_ERR_PTRACE_SECCOMP
		: reason == RIGHTS ? MU_ERR_NO_PERMISSION
				   : MU_ERR_BUSY,
	    "process %d cannot be made to do a system call: %s", pid,
	    reasons[reason]);
}

enum mu_status
mu_remote_thread_check(struct mu_remote_thread *out, struct mu_threads *threads,
    struct mu_tracee *tracee, struct mu_why *why)
{
	enum reason reason;

	out->threads = threads;
	out->tracee = tracee;
	out->options = threads->options;
	reason = read_general(out);
	if (reason == SAFE)
		reason = conclude(out);
	return reason == SAFE ? MU_OK : refuse(threads->pid, reason, why);
}

/*
 * Try the first thread first: the bounds of its stack are known best, and the
 * monitor of a userfaultfd, which must not fork, is usually another thread.
 */
enum round { FIRST, IN_CALL, IN_CODE, IN_WAIT, ROUNDS };

static enum round
round_of(const struct mu_remote_thread *thread)
{
	if (mu_arch_remote_in_call(thread->general) &&
	    thread->tracee->tid == thread->threads->pid)
		return FIRST;
	if (mu_arch_return_waits(thread->general))
		return IN_WAIT;
	return mu_arch_remote_in_call(thread->general) ? IN_CALL : IN_CODE;
}

/* sched_fork() in kernel/sched/core.c, unless SCHED_RESET_ON_FORK is set. */
static bool
may_not_fork(pid_t tid)
{
	return mu_sys1(SYS_sched_getscheduler, tid) == POLICY_DEADLINE;
}

static enum reason
judge_stopped(struct mu_remote_thread *out, enum round round)
{
	enum reason reason;

	if (out->tracee->state == MU_TRACEE_GROUP_STOPPED)
		return STOPPED;
	if (out->tracee->state != MU_TRACEE_STOPPED)
		return IN_DELIVERY;
	if (may_not_fork(out->tracee->tid))
		return DEADLINE;
	reason = read_general(out);
	if (reason != SAFE)
		return reason;
	if (round_of(out) != round)
		return ELSEWHERE;
	return conclude(out);
}

enum mu_status
mu_remote_thread_pick(struct mu_remote_thread *out, struct mu_threads *threads,
    struct mu_why *why)
{
	enum reason reason, worst = ELSEWHERE;
	int tries = STATUS_TRIES;
	enum round round;
	size_t i;

	out->threads = threads;
	out->options = threads->options;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < threads->count && tries > 0; i++) {
			out->tracee = &threads->tracees[i];
			reason = judge_stopped(out, round);
			if (reason == SAFE)
				return MU_OK;
			tries -= reason == SECCOMP || reason == RIGHTS ||
			    reason == NO_ROOM || reason == NO_CODE;
			if (reason > worst)
				worst = reason;
		}
	}
	return refuse(threads->pid, worst, why);
}
