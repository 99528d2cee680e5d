#include "heapwalk/heaps/glibc/freeze.h"

#include "heapwalk/heaps/glibc/arena.h"
#include "mu/sys.h"

/*
 * glibc's low-level lock, an int at offset 0 of malloc_state: 0 free, 1 taken,
 * 2 taken with waiters (sysdeps/nptl/lowlevellock.h, 2.4 and later).
 */
enum { MUTEX_FREE, MUTEX_TAKEN, MUTEX_CONTENDED };

#define NAP_NS 20000

static uint64_t
patience_until(const struct mu_heap_freeze *freeze)
{
	uint64_t now = mu_sys_now_ns();

	if (now >= freeze->deadline_ns ||
	    freeze->patience_ns >= freeze->deadline_ns - now)
		return freeze->deadline_ns;
	return now + freeze->patience_ns;
}

/*
 * Only a release ends the wait early, as the word stays MUTEX_CONTENDED until
 * then. On a busy machine another thread often takes the lock before this one
 * runs.
 */
static bool
mutex_take(int *mutex, const struct mu_heap_freeze *freeze)
{
	uint64_t until_ns = patience_until(freeze);
	int seen = MUTEX_FREE;
	long error;

	if (__atomic_compare_exchange_n(mutex, &seen, MUTEX_TAKEN, false,
		__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	while (__atomic_exchange_n(mutex, MUTEX_CONTENDED, __ATOMIC_ACQUIRE) !=
	    MUTEX_FREE) {
		if (mu_sys_now_ns() >= until_ns)
			return false;
		error = mu_sys_futex_wait(
		    mutex, MUTEX_CONTENDED, FUTEX_PRIVATE_FLAG, until_ns);
		if (error == 0 || error == -EAGAIN)
			until_ns = patience_until(freeze);
	}
	return true;
}

/*
 * The same for a word that may not be a mutex: it is only replaced by a value
 * that is written back later.
 */
static bool
mutex_take_if_free(int *mutex, const struct mu_heap_freeze *freeze)
{
	uint64_t until_ns = patience_until(freeze);
	int seen = MUTEX_FREE;

	while (!__atomic_compare_exchange_n(mutex, &seen, MUTEX_TAKEN, false,
	    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (mu_sys_now_ns() >= until_ns)
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

/* Arguments of a freeze. */
struct freezing {
	struct mu_glibc *glibc;
	const struct mu_heap_freeze *freeze;
	struct mu_why *why;
};

static bool
is_locked(const struct mu_glibc *glibc, uintptr_t arena)
{
	size_t i;

	for (i = 0; i < glibc->num_locked; i++)
		if (glibc->locked[i] == arena)
			return true;
	return false;
}

static enum mu_status
lock_arena(const struct freezing *freezing, uintptr_t arena)
{
	struct mu_glibc *glibc = freezing->glibc;
	const struct mu_heap_freeze *freeze = freezing->freeze;
	bool inferred = glibc->inferred_from != 0, taken;

	/* .next may lead to an arena that was not checked. */
	if (inferred && !mu_glibc_has_arena(glibc, arena))
		return mu_why(freezing->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p was created during the pass", (void *)arena);
	if (!mu_arena_room(freeze->arena, glibc->locked, glibc->num_locked,
		glibc->max_locked, 64))
		return mu_why(freezing->why, MU_ERR_NO_MEMORY,
		    "no memory to freeze malloc");
	taken = inferred ? mutex_take_if_free((int *)arena, freeze)
			 : mutex_take((int *)arena, freeze);
	if (!taken)
		return mu_why(freezing->why, MU_ERR_BUSY,
		    "malloc's arena %p stayed locked" MU_CURE
		    "was the check asked for "
		    "by a signal handler that interrupted malloc?",
		    (void *)arena);
	glibc->locked[glibc->num_locked++] = arena;
	return MU_OK;
}

static uintptr_t
next_arena(const struct mu_glibc *glibc, uintptr_t arena)
{
	uintptr_t *next = (uintptr_t *)(arena + glibc->layout->arena_next);

	return __atomic_load_n(next, __ATOMIC_ACQUIRE);
}

/*
 * Lock all arenas once round the ring, in the order of glibc's fork()
 * (__malloc_fork_lock_parent), so that the two cannot deadlock. *BROUGHT: an
 * arena was new.
 */
static enum mu_status
lock_ring(const struct freezing *freezing, bool *brought)
{
	uintptr_t arena = freezing->glibc->main_arena;
	enum mu_status status;

	*brought = false;
	do {
		if (!is_locked(freezing->glibc, arena)) {
			status = lock_arena(freezing, arena);
			if (status != MU_OK)
				return status;
			*brought = true;
		}
		arena = next_arena(freezing->glibc, arena);
	} while (arena != freezing->glibc->main_arena);
	return MU_OK;
}

/*
 * A program with one thread takes no malloc lock at all (SINGLE_THREAD_P), so
 * ours would not stop it; and if it forked during the pass, the child would
 * keep our lock for ever, as a single-threaded fork() resets none.
 */
enum mu_status
mu_glibc_freeze(struct mu_heap_member *member,
    const struct mu_heap_freeze *freeze, struct mu_why *why)
{
	struct freezing freezing = { member->state, freeze, why };
	enum mu_status status = MU_OK;
	bool brought = true;

	if (freezing.glibc->main_arena == 0 || freeze->single)
		return MU_OK;
	/* Creating an arena takes none of these locks, so look again. */
	while (status == MU_OK && brought)
		status = lock_ring(&freezing, &brought);
	return status;
}

void
mu_glibc_thaw(struct mu_heap_member *member)
{
	struct mu_glibc *glibc = member->state;

	while (glibc->num_locked > 0)
		mutex_release((int *)glibc->locked[--glibc->num_locked]);
}
