/*
 * heapwalk/heaps/glibc/freeze.c: malloc is frozen and thawed. The rows of
 * Android's DisableMalloc_test that C has (operator new and delete are malloc
 * and free here), without its timer: a thread that waits for an arena's mutex
 * can be seen doing so in /proc.
 */
#include <check.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "heapwalk/heaps/glibc/arena.h"
#include "heapwalk/memory/self.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/library.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/mappings.h"
#include "tests/support/faults/unharmed.h"
#include "tests/support/heaps/self_snapshot.h"
#include "tests/support/suite.h"

/* What a pass refers to; one at a time. */
static struct mu_caller frozen_caller;
static struct mu_memory_self frozen_memory;

/* What lib/pass/pass.c has done before it freezes. */
static enum mu_status
prepare(struct mu_image *image)
{
	struct mu_snapshot *self = &image->stop.self;
	enum mu_status status;

	mu_caller_capture(&frozen_caller);
	*image =
	    (struct mu_image) { .caller = &frozen_caller, .job.pid = getpid() };
	image->job.tid = mu_sys_gettid();
	image->job.deadline_ns = mu_sys_now_ns() + 30 * MU_NS_PER_SEC;
	mu_arena_open(&image->job.arena, (size_t)1 << 24);
	status = mu_mappings_read(image->job.pid, &self->mappings,
	    &self->num_mappings, &image->job.arena, &image->job.why);
	if (status != MU_OK)
		return status;
	sscanf(gnu_get_libc_version(), "%u.%u", &self->glibc_major,
	    &self->glibc_minor);
	self->libc_address = (uintptr_t)gnu_get_libc_version;
	mu_memory_self_open(
	    &self->memory, &frozen_memory, self->mappings, self->num_mappings);
	return MU_OK;
}

/* Again if an arena was made just after the mappings were read. */
static void
freeze(struct mu_image *image)
{
	enum mu_status status;
	int tries = 0;

	do {
		status = prepare(image);
		ck_assert_int_eq(status, MU_OK);
		status = mu_allocator_find(image);
		if (status == MU_OK)
			status = mu_allocator_freeze(image);
		if (status != MU_OK) {
			close_self(&image->stop.self.memory);
			mu_arena_close(&image->job.arena);
		}
	} while (status == MU_ERR_HEAP_INCONSISTENT && ++tries < 20);
	if (status != MU_OK)
		ck_abort_msg("%s", image->job.why.text);
}

static void
thaw(struct mu_image *image)
{
	mu_allocator_thaw(image);
	close_self(&image->stop.self.memory);
	mu_arena_close(&image->job.arena);
}

#define NEEDS_ARENA 3000 /* bytes: over the tcache, below mmap */

/* A thread that does one thing when told to. */
struct actor {
	pthread_t thread;
	void (*act)(struct actor *actor);
	void *block; /* allocated before the freeze */
	void *result;
	int tid, ready, go, done;
};

static void *
actor_body(void *arg)
{
	struct actor *actor = arg;

	actor->tid = mu_sys_gettid();
	/* Attached to an arena: creating one needs none of the locks. */
	actor->block = malloc(NEEDS_ARENA);
	free(malloc(NEEDS_ARENA));
	__atomic_store_n(&actor->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&actor->go, __ATOMIC_ACQUIRE))
		sched_yield();
	actor->act(actor);
	__atomic_store_n(&actor->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void
actor_start(struct actor *actor, void (*act)(struct actor *actor))
{
	*actor = (struct actor) { .act = act };
	ck_assert_int_eq(
	    pthread_create(&actor->thread, NULL, actor_body, actor), 0);
	while (!__atomic_load_n(&actor->ready, __ATOMIC_ACQUIRE))
		sched_yield();
}

/*
 * Does TID sleep in a futex call on one of the mutexes that we hold? The
 * kernel says it as "202 0x7f5c84000030 0x80 0x2 ..."; a running thread is
 * "running". No malloc here: it is frozen.
 */
static bool
waits_for_arena(const struct mu_image *image, int tid)
{
	const struct mu_glibc *glibc = image->stop.heaps.members[0].state;
	char path[64], text[256], expected[64];
	size_t i;

	mu_text_format(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	if (mu_sys_read_file(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	for (i = 0; i < glibc->num_locked; i++) {
		mu_text_format(expected, sizeof(expected), "%d 0x%lx ",
		    (int)SYS_futex, (unsigned long)glibc->locked[i]);
		if (strncmp(text, expected, strlen(expected)) == 0)
			return true;
	}
	return false;
}

/* Tell ACTOR to act; true if it waits, false if it gets through. */
static bool
blocks(const struct mu_image *image, struct actor *actor)
{
	__atomic_store_n(&actor->go, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&actor->done, __ATOMIC_ACQUIRE)) {
		if (waits_for_arena(image, actor->tid))
			return true;
		mu_sys_sleep_ns(100000);
	}
	return false;
}

/* ACT blocks while malloc is frozen and ends when it is thawed. */
static void
assert_blocks(void (*act)(struct actor *actor))
{
	struct actor actor;
	struct mu_image image;
	const struct mu_glibc *glibc;
	bool blocked;

	actor_start(&actor, act);
	freeze(&image);
	glibc = image.stop.heaps.members[0].state;
	ck_assert_uint_gt(glibc->num_locked, 1);
	blocked = blocks(&image, &actor);
	thaw(&image);
	ck_assert_msg(blocked, "malloc went on while it was frozen");
	pthread_join(actor.thread, NULL);
	ck_assert_int_eq(actor.done, 1);
}

static void
act_malloc(struct actor *actor)
{
	actor->result = malloc(NEEDS_ARENA);
	memset(actor->result, 1, NEEDS_ARENA);
	free(actor->result);
}

TEST(reenable)
{
	struct actor actor;
	struct mu_image image;
	char *p = malloc(NEEDS_ARENA);

	ck_assert_ptr_nonnull(p);
	free(p);
	actor_start(&actor, act_malloc);
	freeze(&image);
	thaw(&image);
	p = malloc(NEEDS_ARENA);
	ck_assert_ptr_nonnull(p);
	memset(p, 1, NEEDS_ARENA);
	free(p);
	__atomic_store_n(&actor.go, 1, __ATOMIC_RELEASE);
	pthread_join(actor.thread, NULL);
}

TEST(deadlock_allocate)
{
	assert_blocks(act_malloc);
}

static void
act_calloc(struct actor *actor)
{
	actor->result = calloc(3, NEEDS_ARENA);
	free(actor->result);
}

static void
act_realloc(struct actor *actor)
{
	actor->block = realloc(actor->block, (size_t)3 * NEEDS_ARENA);
	memset(actor->block, 1, (size_t)3 * NEEDS_ARENA);
}

static void
act_memalign(struct actor *actor)
{
	actor->result = memalign(4096, NEEDS_ARENA);
	free(actor->result);
}

/* deadlock_new: C has no operator new; what it has besides malloc. */
TEST(deadlock_calloc_realloc_memalign)
{
	assert_blocks(act_calloc);
	assert_blocks(act_realloc);
	assert_blocks(act_memalign);
}

static void
act_free(struct actor *actor)
{
	free(actor->block);
}

TEST(deadlock_free)
{
	assert_blocks(act_free);
}

static void
act_fork(struct actor *actor)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		/* The child's malloc must be free of our locks. */
		free(malloc(NEEDS_ARENA));
		_exit(7);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		actor->result = (void *)(uintptr_t)WEXITSTATUS(status);
}

/* fork() of a program with threads takes the same locks. */
TEST(deadlock_fork)
{
	struct actor actor;
	struct mu_image image;
	bool blocked;

	actor_start(&actor, act_fork);
	freeze(&image);
	blocked = blocks(&image, &actor);
	thaw(&image);
	ck_assert(blocked);
	pthread_join(actor.thread, NULL);
	ck_assert_uint_eq((uintptr_t)actor.result, 7);
}

/* All waiters go on, not only the one that the thaw wakes. */
TEST(all_go_on)
{
	struct actor actors[8];
	struct mu_image image;
	bool blocked = true;
	size_t i;

	for (i = 0; i < 8; i++)
		actor_start(&actors[i], i % 2 == 0 ? act_malloc : act_realloc);
	freeze(&image);
	for (i = 0; i < 8; i++)
		blocked &= blocks(&image, &actors[i]);
	thaw(&image);
	for (i = 0; i < 8; i++)
		pthread_join(actors[i].thread, NULL);
	ck_assert(blocked);
}

/*
 * A thread that stays inside malloc (here: we hold an arena's mutex, as the
 * handler of a signal that interrupted malloc does) ends the pass with words,
 * not with a hang; what it had locked by then is free again.
 */
TEST(mutex_held)
{
	struct UnreachableMemoryInfo info = { 0 };
	const struct mu_glibc *glibc;
	struct unharmed before;
	struct actor actor;
	struct mu_image image;
	int *mutex;
	bool checked;

	actor_start(&actor, act_malloc);
	unharmed_begin(&before);
	mu_library.options.timeout = 300;
	freeze(&image);
	glibc = image.stop.heaps.members[0].state;
	mutex = (int *)glibc->locked[glibc->num_locked - 1];
	thaw(&image);
	while (__sync_val_compare_and_swap(mutex, 0, 1) != 0)
		sched_yield();
	checked = GetUnreachableMemory(&info, 10);
	__atomic_store_n(mutex, 0, __ATOMIC_RELEASE);
	mu_sys_futex_wake(mutex, 1, FUTEX_PRIVATE_FLAG);
	ck_assert(!checked);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_BUSY);
	ck_assert_str_ne(info.reason, "");
	ck_assert_uint_ge(info.total_ns, 300 * 1000000ull);
	mu_library.options.timeout = 30000;
	unharmed_check(&before);
	ck_assert(GetUnreachableMemory(&info, 10));
	FreeUnreachableMemoryInfo(&info);
	unharmed_check(&before);
	__atomic_store_n(&actor.go, 1, __ATOMIC_RELEASE);
	pthread_join(actor.thread, NULL);
	unharmed_end(&before);
}

/*
 * Malloc is frozen and thawed thousands of times while threads allocate,
 * free each other's blocks, come and go: no block is harmed, all of them go
 * on.
 */

#define ROUNDS 5000
#define HAMMERS 4

static int hammer_stop;
static unsigned long hammer_rounds[HAMMERS], hammer_wrong, spawned;
static void *exchange[64]; /* freed by another thread than allocated */

static unsigned
next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static bool
is_filled(const unsigned char *p)
{
	size_t size = malloc_usable_size((void *)p), i;

	for (i = 1; i < size; i += 61)
		if (p[i] != p[0])
			return false;
	return true;
}

static void
churn(unsigned *state)
{
	size_t size = 16 + next_random(state) % 6000;
	unsigned char *p = malloc(size), *old;

	if (p == NULL) {
		__atomic_add_fetch(&hammer_wrong, 1, __ATOMIC_RELAXED);
		return;
	}
	memset(p, (int)(size & 0xff), malloc_usable_size(p));
	old = __atomic_exchange_n(
	    &exchange[next_random(state) % 64], p, __ATOMIC_ACQ_REL);
	if (old != NULL && !is_filled(old))
		__atomic_add_fetch(&hammer_wrong, 1, __ATOMIC_RELAXED);
	free(old);
}

static void *
hammer(void *arg)
{
	unsigned long *rounds = arg;
	unsigned state = (unsigned)(uintptr_t)arg;

	while (!__atomic_load_n(&hammer_stop, __ATOMIC_ACQUIRE)) {
		churn(&state);
		__atomic_add_fetch(rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *
short_life(void *arg)
{
	unsigned state = (unsigned)(uintptr_t)arg;
	int i;

	for (i = 0; i < 8; i++)
		churn(&state);
	return NULL;
}

static void *
spawner(void *arg)
{
	pthread_t threads[4];
	uintptr_t i;

	while (!__atomic_load_n(&hammer_stop, __ATOMIC_ACQUIRE)) {
		for (i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, short_life,
				(void *)(spawned + i)) != 0)
				abort();
		for (i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		__atomic_add_fetch(&spawned, 4, __ATOMIC_RELAXED);
	}
	return arg;
}

TEST(rounds_under_load)
{
	pthread_t threads[HAMMERS + 1];
	struct mu_image image;
	size_t i;

	for (i = 0; i < HAMMERS; i++)
		pthread_create(&threads[i], NULL, hammer, &hammer_rounds[i]);
	pthread_create(&threads[HAMMERS], NULL, spawner, NULL);
	for (i = 0; i < ROUNDS; i++) {
		freeze(&image);
		thaw(&image);
	}
	/* All of them still go on. */
	for (i = 0; i < HAMMERS; i++) {
		unsigned long from =
		    __atomic_load_n(&hammer_rounds[i], __ATOMIC_RELAXED);

		while (__atomic_load_n(&hammer_rounds[i], __ATOMIC_RELAXED) <
		    from + 100)
			sched_yield();
	}
	__atomic_store_n(&hammer_stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i <= HAMMERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_gt(spawned, 0);
	ck_assert_uint_eq(hammer_wrong, 0);
}
