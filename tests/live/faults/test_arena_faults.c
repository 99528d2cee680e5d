/*
 * Fail the n-th request to the private arena, in original and collector, which
 * share one, and in the sweeper, which has a copy. The pass must report that
 * memory ran out, or give a right answer without what the memory was for; the
 * program stays unharmed and the next pass is right.
 *
 * The library's arena is linked in here under other names, inside an arena that
 * arms fail_at: nothing in the library knows of it.
 */
#include <sys/uio.h>

#include "mu/arena.h"

#define mu_arena_open plain_open
#define mu_arena_alloc plain_alloc
#define mu_arena_alloc_table plain_alloc_table
#define mu_arena_grow plain_grow
#define mu_arena_more plain_more
#define mu_arena_extended plain_extended
void plain_open(struct mu_arena *arena, size_t limit);
void *plain_alloc(struct mu_arena *arena, size_t count, size_t size);
void *plain_alloc_table(struct mu_arena *arena, size_t count, size_t size);
void *plain_grow(struct mu_arena *arena, void *array, size_t old_count,
    size_t new_count, size_t size);
bool plain_more(struct mu_arena *arena, void *items, size_t *max, size_t size,
    size_t first);
bool plain_extended(struct mu_arena *arena, void *items, size_t old_count,
    size_t new_count, size_t size);
#include "include/mu/arena.c"
#undef mu_arena_open
#undef mu_arena_alloc
#undef mu_arena_alloc_table
#undef mu_arena_grow
#undef mu_arena_more
#undef mu_arena_extended

#include "tests/support/faults/fault_walk.h"
#include "tests/support/suite.h"

#define MOST 5000 /* requests of a pass */

/*
 * Shared with the collector. The sweeper has a copy: what it notes it writes
 * into the program's memory.
 */
struct plan {
	bool armed, in_sweeper;
	size_t nth;
	unsigned failed; /* requests */
	pid_t pid;
};

static struct plan *plan;
static struct walk walk;

void
mu_arena_open(struct mu_arena *arena, size_t limit)
{
	plain_open(arena, limit);
	if (plan != NULL && plan->armed && !plan->in_sweeper)
		arena->fail_at = plan->nth;
}

/*
 * The sweeper's arena is the one that has nothing yet in another process. What
 * is noted here is noted in its image only, so that each one starts anew.
 */
static void
arm_in_sweeper(struct mu_arena *arena)
{
	static bool done;

	if (plan == NULL || !plan->armed || !plan->in_sweeper || done ||
	    arena->pieces != NULL || mu_sys_getpid() == plan->pid)
		return;
	done = true;
	arena->fail_at = plan->nth;
}

static void
note(struct mu_arena *arena)
{
	unsigned failed;
	struct iovec own = { &failed, sizeof(failed) };
	struct iovec program = { plan == NULL ? NULL : &plan->failed,
		sizeof(failed) };

	arm_in_sweeper(arena);
	if (arena->fail_at != 1)
		return;
	failed = ++plan->failed;
	mu_syscall6(SYS_process_vm_writev, plan->pid, (long)&own, 1,
	    (long)&program, 1, 0);
}

void *
mu_arena_alloc(struct mu_arena *arena, size_t count, size_t size)
{
	note(arena);
	return plain_alloc(arena, count, size);
}

void *
mu_arena_alloc_table(struct mu_arena *arena, size_t count, size_t size)
{
	note(arena);
	return plain_alloc_table(arena, count, size);
}

void *
mu_arena_grow(struct mu_arena *arena, void *array, size_t old_count,
    size_t new_count, size_t size)
{
	note(arena);
	return plain_grow(arena, array, old_count, new_count, size);
}

bool
mu_arena_more(
    struct mu_arena *arena, void *items, size_t *max, size_t size, size_t first)
{
	note(arena);
	return plain_more(arena, items, max, size, first);
}

bool
mu_arena_extended(struct mu_arena *arena, void *items, size_t old_count,
    size_t new_count, size_t size)
{
	note(arena);
	return plain_extended(arena, items, old_count, new_count, size);
}

/* False when there is no N-th request. */
static bool
spoil(void)
{
	struct failing_pass failing = { .call = NULL };

	plan->failed = 0;
	plan->armed = true;
	ck_assert(failing_pass_run(&failing));
	plan->armed = false;
	if (plan->failed == 0) {
		ck_assert_msg(failing.checked, "request %zu: %s", plan->nth,
		    failing.info.reason);
		return false;
	}
	walk_count(&walk, &failing);
	ck_assert_msg(
	    failing.checked || failing.info.status == MEMUNREACHABLE_NO_MEMORY,
	    "request %zu: status %d, %s", plan->nth, failing.info.status,
	    failing.info.reason);
	assert_at_once(&failing);
	belongings_check(&walk.own, &failing);
	return true;
}

TEST_LOOP(request_fails, 0, 4)
{
	bool in_sweeper = _i % 2 == 1;
	void *at = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	mu_library.options.stop = _i < 2 ? MU_STOP_PTRACE : MU_STOP_SIGNAL;
	belongings_begin(&walk.own);
	plan = at;
	plan->pid = getpid();
	plan->in_sweeper = in_sweeper;
	for (plan->nth = 1; plan->nth <= MOST && spoil(); plan->nth++)
		continue;
	ck_assert_uint_gt(walk.failed, 2);
	ck_assert_uint_le(plan->nth, MOST);
	printf("%s: ", in_sweeper ? "sweeper" : "original and collector");
	walk_end(&walk);
}
