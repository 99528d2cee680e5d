/*
 * The TLS addresses of all threads. No file of /proc has them, so each thread
 * registers itself at its first allocation. A thread that never allocated has
 * no tcache.
 */
#ifndef TESTS_SUPPORT_RECORDER_RECORDER_THREADS_H
#define TESTS_SUPPORT_RECORDER_RECORDER_THREADS_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arch/cpu.h"
#include "mu/sys.h"
#include "tests/support/recorder/recorder_gate.h"

#define TOLD_MAX 4096 /* stacks; one that is used again is one */

struct told {
	pid_t tid;
	uintptr_t tp;
};

static struct told told[TOLD_MAX];
static size_t num_told;
static int told_lock;
static ON_START_TLS bool has_told;

/* A stack that ended thread left to the next one has the same TP. */
static inline void
threads_report(void)
{
	uintptr_t tp = mu_arch_tp();
	size_t i;

	while (__atomic_exchange_n(&told_lock, 1, __ATOMIC_ACQUIRE) != 0)
		mu_sys0(SYS_sched_yield);
	for (i = 0; i < num_told && told[i].tp != tp; i++)
		;
	if (i < TOLD_MAX) {
		told[i] = (struct told) { mu_sys_gettid(), tp };
		num_told += i == num_told;
	}
	__atomic_store_n(&told_lock, 0, __ATOMIC_RELEASE);
	has_told = true;
}

/* Those that live, at most MAX; the calling thread is the first. */
static inline size_t
threads_list(struct mu_thread *threads, size_t max)
{
	pid_t pid = mu_sys_getpid(), self = mu_sys_gettid();
	size_t i, count = 1;

	threads[0] = (struct mu_thread) {
		.tid = self, .tp = mu_arch_tp(), .calling = true
	};
	for (i = 0; i < num_told && count < max; i++) {
		if (told[i].tp == threads[0].tp ||
		    mu_sys3(SYS_tgkill, pid, told[i].tid, 0) != 0)
			continue;
		threads[count++] =
		    (struct mu_thread) { .tid = told[i].tid, .tp = told[i].tp };
	}
	return count;
}

#endif
