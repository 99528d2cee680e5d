#include "lib/state/lock.h"

#include "mu/sys.h"

/* How often a waiter checks that the owner still exists. */
#define STALE_CHECK_NS (100 * 1000 * 1000ull)

static bool
is_thread_of_ours(int tid)
{
	return mu_sys3(SYS_tgkill, mu_sys_getpid(), tid, 0) != -ESRCH;
}

enum mu_status
mu_lock_take(struct mu_lock *lock, uint64_t deadline_ns)
{
	int self = mu_sys_gettid(), owner;
	uint64_t now, until;

	for (;;) {
		owner = 0;
		if (__atomic_compare_exchange_n(&lock->owner, &owner, self,
			false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return MU_OK;
		if (owner == self)
			return MU_ERR_BUSY;
		if (!is_thread_of_ours(owner) &&
		    __atomic_compare_exchange_n(&lock->owner, &owner, self,
			false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return MU_OK;
		now = mu_sys_now_ns();
		if (now >= deadline_ns)
			return MU_ERR_TIMEOUT;
		until = now + STALE_CHECK_NS;
		mu_sys_futex_wait(&lock->owner, owner, FUTEX_PRIVATE_FLAG,
		    until < deadline_ns ? until : deadline_ns);
	}
}

void
mu_lock_release(struct mu_lock *lock)
{
	mu_sys_futex_set(&lock->owner, 0, 1, FUTEX_PRIVATE_FLAG);
}
