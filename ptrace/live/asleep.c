#include "ptrace/live/asleep.h"

#include <string.h>

#include "mu/arch/cpu.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

/* A thread that has not been on a CPU has not been switched either. */
int64_t
mu_asleep_switches(const char *status)
{
	int64_t slept =
	    mu_proc_status_number(status, "\nvoluntary_ctxt_switches:", 0, 10);
	int64_t preempted = mu_proc_status_number(
	    status, "\nnonvoluntary_ctxt_switches:", 0, 10);

	if (strstr(status, "\nState:\tD") == NULL || slept < 0 || preempted < 0)
		return -1;
	return slept + preempted;
}

bool
mu_asleep_add(struct mu_asleep *asleep, pid_t tid, int64_t switches)
{
	if (asleep->count == MU_ASLEEP_MAX)
		return false;
	asleep->tids[asleep->count] = tid;
	asleep->switches[asleep->count++] = switches;
	return true;
}

bool
mu_asleep_has(const struct mu_asleep *asleep, pid_t tid)
{
	size_t i;

	for (i = 0; asleep != NULL && i < asleep->count; i++)
		if (asleep->tids[i] == tid)
			return true;
	return false;
}

pid_t
mu_asleep_woken(const struct mu_asleep *asleep, pid_t pid)
{
	char status[MU_PROC_STATUS_SIZE];
	size_t i;

	for (i = 0; i < asleep->count; i++)
		if (mu_proc_status_read(
			pid, asleep->tids[i], status, sizeof(status)) <= 0 ||
		    mu_asleep_switches(status) != asleep->switches[i])
			return asleep->tids[i];
	return 0;
}

static bool
may_be_vfork(long call)
{
#ifdef SYS_vfork
	if (call == SYS_vfork)
		return true;
#endif
	return call == SYS_clone || call == SYS_clone3;
}

/*
 * glibc registers a member of each thread's struct pthread with the kernel. On
 * x86-64 the first word of that is its own address.
 */
static uintptr_t
thread_pointer(pid_t tid)
{
	uintptr_t head = 0, tp, word;
	size_t size;

	if (MU_ROBUST_LIST_FROM_TP == 0 ||
	    mu_sys3(SYS_get_robust_list, tid, (long)&head, (long)&size) != 0 ||
	    head == 0)
		return 0;
	tp = head - MU_ROBUST_LIST_FROM_TP;
	return mu_sys_read_memory(tid, tp, &word, sizeof(word)) ==
		    (ssize_t)sizeof(word) &&
		word == tp
	    ? tp
	    : 0;
}

bool
mu_asleep_read(
    struct mu_thread *thread, pid_t pid, pid_t tid, struct mu_words *words)
{
	struct mu_proc_call call = mu_proc_call_of(pid, tid);
	size_t i;

	*thread = (struct mu_thread) {
		.tid = tid,
		.sp = may_be_vfork(call.number) ? 0 : call.sp,
		.pc = call.pc,
		.tp = thread_pointer(tid),
		.first_value = words->count,
		.call = call.number >= 0 ? call.number : -1,
		.argument = call.arguments[0],
	};
	for (i = 0; i < MU_PROC_ARGUMENTS; i++)
		if (mu_word_plausible(call.arguments[i]) &&
		    !mu_words_add(words, call.arguments[i]))
			return false;
	thread->num_values = words->count - thread->first_value;
	return true;
}
