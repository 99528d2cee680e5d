/*
 * A lock that is held shared during each call of the allocator and exclusively
 * during a look at the heap. A signal handler that interrupts a call inside the
 * lock passes without waiting, as it would wait for its own thread.
 *
 * A thread that is inside already walks through (a signal handler that
 * interrupted it): it may not wait for itself.
 */
#ifndef TESTS_SUPPORT_RECORDER_RECORDER_GATE_H
#define TESTS_SUPPORT_RECORDER_RECORDER_GATE_H

#include "mu/sys.h"

#define ON_START_TLS __thread __attribute__((tls_model("initial-exec")))

#define GATE_LEAVERS 4096

static int gate_shut;   /* 1: one thread is alone or waits to be */
static int gate_inside; /* threads inside, those for good included */
static pid_t gate_pid;  /* of the process that counted them */
static ON_START_TLS int gate_depth;

/* Inside until they are gone. */
static pid_t gate_leavers[GATE_LEAVERS];
static size_t gate_num_leavers;
static int gate_lock;

static inline void
gate_enter(void)
{
	if (gate_depth++ > 0)
		return;
	for (;;) {
		__atomic_fetch_add(&gate_inside, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&gate_shut, __ATOMIC_SEQ_CST) == 0)
			return;
		__atomic_fetch_sub(&gate_inside, 1, __ATOMIC_SEQ_CST);
		mu_sys_futex_wait(
		    &gate_shut, 1, FUTEX_PRIVATE_FLAG, UINT64_MAX);
	}
}

static inline void
gate_leave(void)
{
	if (--gate_depth == 0)
		__atomic_fetch_sub(&gate_inside, 1, __ATOMIC_SEQ_CST);
}

static inline void
gate_take_lock(void)
{
	while (__atomic_exchange_n(&gate_lock, 1, __ATOMIC_ACQUIRE) != 0)
		mu_sys0(SYS_sched_yield);
}

static inline void
gate_drop_lock(void)
{
	__atomic_store_n(&gate_lock, 0, __ATOMIC_RELEASE);
}

/* Of the threads that left for good, count those out that are gone. */
static inline void
gate_count_out(void)
{
	size_t i, left = 0;

	gate_take_lock();
	for (i = 0; i < gate_num_leavers; i++) {
		if (mu_sys3(SYS_tgkill, gate_pid, gate_leavers[i], 0) == 0)
			gate_leavers[left++] = gate_leavers[i];
		else
			__atomic_fetch_sub(&gate_inside, 1, __ATOMIC_SEQ_CST);
	}
	gate_num_leavers = left;
	gate_drop_lock();
}

/*
 * The calling thread ends and empties its tcache then, which is not
 * intercepted: it counts as inside until the kernel no longer knows it. The
 * main thread stays known.
 */
static inline void
gate_enter_for_good(void)
{
	pid_t tid = mu_sys_gettid();

	gate_count_out();
	if (tid == gate_pid || gate_num_leavers == GATE_LEAVERS)
		return;
	gate_enter();
	gate_take_lock();
	gate_leavers[gate_num_leavers++] = tid;
	gate_drop_lock();
}

static inline void
gate_open(void)
{
	gate_depth--;
	__atomic_store_n(&gate_shut, 0, __ATOMIC_SEQ_CST);
	mu_sys_futex_wake(&gate_shut, INT32_MAX, FUTEX_PRIVATE_FLAG);
}

/* At the begin of a child of fork(): there is no other thread. */
static inline void
gate_begin(void)
{
	gate_pid = mu_sys_getpid();
	gate_num_leavers = 0;
	gate_lock = 0;
	__atomic_store_n(&gate_inside, 0, __ATOMIC_SEQ_CST);
}

/* False: it took too long; a thread inside may wait for those outside. */
static inline bool
gate_wait(uint64_t deadline_ns)
{
	/* A signal handler that forks may have interrupted its own thread. */
	int self = gate_depth > 1;

	while (__atomic_load_n(&gate_inside, __ATOMIC_SEQ_CST) != self) {
		gate_count_out();
		mu_sys0(SYS_sched_yield);
		if (mu_sys_now_ns() > deadline_ns)
			return false;
	}
	return true;
}

/* From now on the calling thread is alone. */
static inline void
gate_close(void)
{
	for (;;) {
		while (__atomic_exchange_n(&gate_shut, 1, __ATOMIC_SEQ_CST))
			mu_sys_futex_wait(
			    &gate_shut, 1, FUTEX_PRIVATE_FLAG, UINT64_MAX);
		gate_depth++;
		/* A child that _Fork() or clone() made has none of them. */
		if (gate_pid != mu_sys_getpid())
			gate_begin();
		if (gate_wait(mu_sys_now_ns() + MU_NS_PER_SEC))
			return;
		gate_open();
		mu_sys_sleep_ns(MU_NS_PER_SEC / 100);
	}
}

#endif
