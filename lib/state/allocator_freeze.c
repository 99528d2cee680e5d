#include "lib/state/allocator_freeze.h"

#include "lib/state/library.h"
#include "mu/sys.h"
#include "ptrace/live/threads.h"

/*
 * glibc's low-level lock, an int at offset 0 of malloc_state: 0 free, 1 taken,
 * 2 taken with waiters (sysdeps/nptl/lowlevellock.h, 2.4 and later).
 */
enum { MUTEX_FREE, MUTEX_TAKEN, MUTEX_CONTENDED };

#define NAP_NS 20000

static bool
mutex_take(int *mutex, uint64_t deadline_ns)
{
	int seen = MUTEX_FREE;

	if (__atomic_compare_exchange_n(mutex, &seen, MUTEX_TAKEN, false,
		__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	while (__atomic_exchange_n(mutex, MUTEX_CONTENDED, __ATOMIC_ACQUIRE) !=
	    MUTEX_FREE) {
		if (mu_sys_now_ns() >= deadline_ns)
			return false;
		mu_sys_futex_wait(
		    mutex, MUTEX_CONTENDED, FUTEX_PRIVATE_FLAG, deadline_ns);
	}
	return true;
}

/*
 * The same for what may be no mutex after all: nothing is written but over the
 * value that is written back.
 */
static bool
mutex_take_if_free(int *mutex, uint64_t deadline_ns)
{
	int seen = MUTEX_FREE;

	while (!__atomic_compare_exchange_n(mutex, &seen, MUTEX_TAKEN, false,
	    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (mu_sys_now_ns() >= deadline_ns)
			return false;
		mu_sys_sleep_ns(NAP_NS);
		seen = MUTEX_FREE;
	}
	return true;
}

static void
mutex_release(int *mutex)
{
	if (__atomic_exchange_n(mutex, MUTEX_FREE, __ATOMIC_RELEASE) !=
	    MUTEX_TAKEN)
		mu_sys_futex_wake(mutex, 1, FUTEX_PRIVATE_FLAG);
}

static bool
is_locked(const struct mu_pass *pass, uintptr_t arena)
{
	size_t i;

	for (i = 0; i < pass->num_locked; i++)
		if (pass->locked[i] == arena)
			return true;
	return false;
}

/* Was it checked, or is it but where a .next leads? */
static bool
was_found(const struct mu_pass *pass, uintptr_t arena)
{
	size_t i;

	for (i = 0; i < pass->glibc.num_arenas; i++)
		if (pass->glibc.arenas[i] == arena)
			return true;
	return false;
}

static enum mu_status
lock_arena(struct mu_pass *pass, uintptr_t arena)
{
	size_t more = pass->max_locked == 0 ? 64 : pass->max_locked * 2;
	bool inferred = pass->glibc.inferred_from != 0, taken;
	uintptr_t *grown;

	if (inferred && !was_found(pass, arena))
		return mu_why(&pass->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p was created during the pass", (void *)arena);
	if (pass->num_locked == pass->max_locked) {
		grown = mu_arena_grow(&pass->arena, pass->locked,
		    pass->num_locked, more, sizeof(*grown));
		if (grown == NULL)
			return mu_why(&pass->why, MU_ERR_NO_MEMORY,
			    "no memory to freeze malloc");
		pass->locked = grown;
		pass->max_locked = more;
	}
	taken = inferred ? mutex_take_if_free((int *)arena, pass->deadline_ns)
			 : mutex_take((int *)arena, pass->deadline_ns);
	if (!taken)
		return mu_why(&pass->why, MU_ERR_BUSY,
		    "malloc's arena %p stayed locked" MU_CURE
		    "was the check asked for "
		    "by a signal handler that interrupted malloc?",
		    (void *)arena);
	pass->locked[pass->num_locked++] = arena;
	return MU_OK;
}

static uintptr_t
next_arena(const struct mu_pass *pass, uintptr_t arena)
{
	uintptr_t *next = (uintptr_t *)(arena + pass->glibc.layout->arena_next);

	return __atomic_load_n(next, __ATOMIC_ACQUIRE);
}

/*
 * Once round the ring, in ring order as glibc's fork() takes them
 * (__malloc_fork_lock_parent), so that the two cannot deadlock. BROUGHT: was
 * there an arena that we did not have?
 */
static enum mu_status
lock_ring(struct mu_pass *pass, bool *brought)
{
	uintptr_t arena = pass->glibc.main_arena;
	enum mu_status status;

	*brought = false;
	do {
		if (!is_locked(pass, arena)) {
			status = lock_arena(pass, arena);
			if (status != MU_OK)
				return status;
			*brought = true;
		}
		arena = next_arena(pass, arena);
	} while (arena != pass->glibc.main_arena);
	return MU_OK;
}

/*
 * A program with one thread takes no malloc lock at all (SINGLE_THREAD_P), so
 * ours would not stop it; and if it called fork() during the pass its child
 * would keep our lock for ever, as a single-threaded fork() resets none. Not so
 * if that thread itself is the caller: it can do neither.
 */
static bool
locks_are_useless(struct mu_pass *pass)
{
	size_t count;
	pid_t *tids;

	if (pass->request->caller != NULL)
		return false;
	return mu_threads_list(pass->pid, &tids, &count, &pass->arena, NULL) !=
	    MU_OK ||
	    count <= 2; /* the program's one, and the pass's own */
}

enum mu_status
mu_allocator_find(struct mu_pass *pass)
{
	return mu_glibc_find(
	    &pass->glibc, &pass->self, &pass->arena, &pass->why);
}

static enum mu_status
lock_arenas(struct mu_pass *pass)
{
	enum mu_status status = MU_OK;
	bool brought = true;

	if (pass->glibc.main_arena == 0 || locks_are_useless(pass))
		return MU_OK;
	/* Creating an arena needs none of these locks: look again. */
	while (status == MU_OK && brought)
		status = lock_ring(pass, &brought);
	if (status != MU_OK)
		mu_allocator_thaw(pass);
	return status;
}

enum mu_status
mu_allocator_freeze(struct mu_pass *pass)
{
	enum mu_status status = lock_arenas(pass);

	mu_pass_stop_within(pass, mu_library.options.max_pause * MU_NS_PER_MS);
	return status;
}

void
mu_allocator_thaw(struct mu_pass *pass)
{
	while (pass->num_locked > 0)
		mutex_release((int *)pass->locked[--pass->num_locked]);
}
