/*
 * A thread waits for a turn, does its part if its number is among those of the
 * turn, and waits for the next.
 *
 * Runs in: sweeper, keeper, command.
 */
#include "lib/helpers/worker_threads.h"

#include <sched.h>
#include <stdint.h>

#include "mu/sys.h"

/*
 * As large as the sweeper's own stack; the SIGSEGV handler
 * (heapwalk/memory/guard.c) runs on it too, as a raw clone has no signal stack.
 */
#define STACK_SIZE ((size_t)512 << 10)

/*
 * The number of a turn is above these bits, which hold its number of threads.
 */
#define TURN_STEP 128

#define TURN_END (-1) /* no more work: exit */

#define WAIT_NS (20 * 1000 * 1000ull) /* if the wake-up is refused */

#define CPU_BITS 8192 /* more than any kernel supports (NR_CPUS) */

_Static_assert(MU_WORKERS_STACKS == (MU_WORKERS_GIVEN - 1) * STACK_SIZE,
    "a stack for each thread but the caller");
_Static_assert(MU_WORKERS_MAX < TURN_STEP, "the number of threads fits");

static void
thread_body(void *arg)
{
	struct mu_worker_threads *threads = arg;
	int rank = __atomic_fetch_add(&threads->next_rank, 1, __ATOMIC_RELAXED);
	int turn, seen = 0;

	for (;;) {
		turn = __atomic_load_n(&threads->turn, __ATOMIC_ACQUIRE);
		if (turn == seen) {
			mu_sys_futex_await(&threads->turn, turn);
			continue;
		}
		if (turn == TURN_END)
			mu_sys1(SYS_exit, 0);
		seen = turn;
		if (rank >= turn % TURN_STEP)
			continue;
		threads->body(threads->ctx, (unsigned)rank + 1);
		if (__atomic_sub_fetch(&threads->busy, 1, __ATOMIC_RELEASE) ==
		    0)
			mu_sys_futex_wake(
			    &threads->busy, 1, FUTEX_PRIVATE_FLAG);
	}
}

/* Returns what mu_sys_map_stack() does. */
static long
new_stack(struct mu_worker_threads *threads)
{
	char *stack = threads->given;

	if (stack == NULL)
		return mu_sys_map_stack(STACK_SIZE);
	mu_sys3(SYS_mprotect, (long)stack, MU_STACK_GUARD, PROT_NONE);
	threads->given += STACK_SIZE;
	return (long)stack;
}

static void
start_one(struct mu_worker_threads *threads)
{
	struct mu_worker_thread *new = &threads->started_ones[threads->started];
	long stack = new_stack(threads), tid = stack;

	if (!mu_sys_failed(stack))
		tid = mu_arch_clone(CLONE_VM | CLONE_FS | CLONE_FILES |
			CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			CLONE_UNTRACED | CLONE_PARENT_SETTID |
			CLONE_CHILD_CLEARTID,
		    (char *)stack + STACK_SIZE, &new->tid, thread_body,
		    threads);
	if (tid > 0) {
		new->stack = (char *)stack;
		threads->started++;
		return;
	}
	threads->refused = true;
	if (!mu_sys_failed(stack) && threads->given == NULL)
		mu_sys_munmap((void *)stack, STACK_SIZE);
}

static void
run(struct mu_workers *workers, unsigned count, mu_worker_body *body, void *ctx)
{
	struct mu_worker_threads *threads = workers->own;
	int others, busy;

	while (threads->started + 1 < count && !threads->refused)
		start_one(threads);
	others =
	    (int)(threads->started + 1 < count ? threads->started : count - 1);
	threads->body = body;
	threads->ctx = ctx;
	__atomic_store_n(&threads->busy, others, __ATOMIC_RELAXED);
	__atomic_store_n(&threads->turn,
	    (threads->turn & ~(TURN_STEP - 1)) + TURN_STEP + others,
	    __ATOMIC_RELEASE);
	if (others > 0)
		mu_sys_futex_wake(
		    &threads->turn, INT32_MAX, FUTEX_PRIVATE_FLAG);
	body(ctx, 0);
	while ((busy = __atomic_load_n(&threads->busy, __ATOMIC_ACQUIRE)) > 0)
		mu_sys_futex_await(&threads->busy, busy);
}

static unsigned
count_cpus(void)
{
	uint64_t mask[CPU_BITS / 64] = { 0 };
	long bytes =
	    mu_sys3(SYS_sched_getaffinity, 0, (long)sizeof(mask), (long)mask);
	unsigned count = 0;
	long i;

	for (i = 0; i < bytes / (long)sizeof(*mask); i++)
		count += (unsigned)__builtin_popcountll(mask[i]);
	return count;
}

void
mu_worker_threads_open(struct mu_worker_threads *threads, size_t wanted)
{
	*threads = (struct mu_worker_threads) { 0 };
	if (wanted == 0) {
		wanted = count_cpus();
		if (wanted > MU_WORKERS_PRESET)
			wanted = MU_WORKERS_PRESET;
	}
	threads->workers = (struct mu_workers) {
		.count = (unsigned)(wanted < MU_WORKERS_MAX ? wanted
							    : MU_WORKERS_MAX),
		.run = run,
		.own = threads,
	};
}

void
mu_worker_threads_open_on(
    struct mu_worker_threads *threads, size_t wanted, void *stacks)
{
	mu_worker_threads_open(threads, wanted);
	if (threads->workers.count > MU_WORKERS_GIVEN)
		threads->workers.count = MU_WORKERS_GIVEN;
	threads->given = stacks;
}

void
mu_worker_threads_close(struct mu_worker_threads *threads)
{
	struct mu_worker_thread *thread;
	unsigned i;
	int tid;

	mu_sys_futex_set(
	    &threads->turn, TURN_END, INT32_MAX, FUTEX_PRIVATE_FLAG);
	for (i = 0; i < threads->started; i++) {
		thread = &threads->started_ones[i];
		/*
		 * The futex is not private: the kernel uses a shared wake-up.
		 */
		while ((tid = __atomic_load_n(
			    &thread->tid, __ATOMIC_ACQUIRE)) != 0)
			mu_sys_futex_wait(
			    &thread->tid, tid, 0, mu_sys_now_ns() + WAIT_NS);
		if (threads->given == NULL)
			mu_sys_munmap(thread->stack, STACK_SIZE);
	}
	threads->started = 0;
}
