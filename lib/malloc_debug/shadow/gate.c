/* Does not change errno. */
#include "lib/malloc_debug/shadow/gate.h"

#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"

#define PATIENCE_NS (10 * MU_NS_PER_SEC)
#define LOOK_NS (MU_NS_PER_SEC / 10)

/* How often this thread has closed the gate. */
static __thread unsigned depth;

static bool
change(int from, int to)
{
	if (!__atomic_compare_exchange_n(&gate_closed, &from, to, false,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	recorder_refresh();
	if (to == 0)
		mu_sys_futex_wake(&gate_closed, INT32_MAX, FUTEX_PRIVATE_FLAG);
	return true;
}

/* True if the thread that closed the gate has ended: it will not open it. */
static bool
is_gone(int owner)
{
	return mu_sys3(SYS_tgkill, mu_sys_getpid(), owner, 0) == -ESRCH;
}

/* Wait until the gate is open; open it if that takes too long. */
static void
await_open(void)
{
	uint64_t now, deadline = mu_sys_now_ns() + PATIENCE_NS;
	int owner;

	while ((owner = __atomic_load_n(&gate_closed, __ATOMIC_ACQUIRE)) != 0) {
		now = mu_sys_now_ns();
		if (now < deadline && !is_gone(owner)) {
			mu_sys_futex_wait(&gate_closed, owner,
			    FUTEX_PRIVATE_FLAG, now + LOOK_NS);
			continue;
		}
		if (change(owner, 0))
			recorder_say("malloc_disable() of thread %d has ended: "
				     "%s",
			    owner,
			    now < deadline ? "the thread is gone"
					   : "others have waited for 10 s");
	}
}

void
gate_wait(void)
{
	if (depth == 0 && !recorder_inside())
		await_open();
}

void
gate_close(void)
{
	if (depth++ > 0)
		return;
	do
		await_open();
	while (!change(0, mu_sys_gettid()));
}

/* Another thread may have opened and closed the gate in between. */
void
gate_open(void)
{
	if (depth == 0 || --depth > 0)
		return;
	change(mu_sys_gettid(), 0);
}

/* In the child the thread that had closed the gate has another thread id. */
void
gate_fork_child(void)
{
	bool ours = depth > 0 && gate_closed != 0;

	__atomic_store_n(
	    &gate_closed, ours ? mu_sys_gettid() : 0, __ATOMIC_RELEASE);
	if (!ours)
		depth = 0;
	recorder_refresh();
}
