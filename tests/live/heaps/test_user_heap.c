/*
 * A heap that the program registers: a pool with separate memory and a mutex,
 * by Android's four functions. Its blocks are checked like those of malloc.
 */
#include "lib/state/library.h"
#include "tests/support/pass/live_answer.h"
#include "tests/support/suite.h"

#define SLOTS 512
#define SLOT 48
#define FRAME 0x1234567

static struct {
	pthread_mutex_t lock;
	char *memory;
	bool used[SLOTS], scattered;
	int error; /* of iterate() */
	unsigned disabled, enabled, changed;
	bool is_disabled;
} pool;

static int
iterate(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	uintptr_t slot;
	size_t i;

	/* Only the image is changed. */
	pool.changed++;
	if (!pool.is_disabled)
		return 99;
	for (i = 0; i < SLOTS; i++) {
		slot = (uintptr_t)pool.memory + i * SLOT;
		if (pool.used[i] && slot - base < size)
			callback(slot, SLOT - i % 3, arg);
	}
	return pool.error;
}

static int
iterate_none(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	(void)base;
	(void)size;
	(void)callback;
	(void)arg;
	return 0;
}

static void
disable(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.is_disabled = true;
	pool.disabled++;
}

static void
enable(void)
{
	pool.is_disabled = false;
	pool.enabled++;
	pthread_mutex_unlock(&pool.lock);
}

static ptrdiff_t
backtrace_of(void *pointer, uintptr_t *frames, size_t count)
{
	size_t i, at = (size_t)((char *)pointer - pool.memory);

	if (at >= SLOTS * SLOT)
		return 0;
	for (i = 0; i < count && i < 20; i++)
		frames[i] = FRAME + at / SLOT * 0x100 + i;
	return (ptrdiff_t)i;
}

static int
memory(void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	callback((uintptr_t)pool.memory, SLOTS * SLOT, arg);
	return 0;
}

static struct MemunreachableHeap heap;

LIVE void
pool_open(void)
{
	heap = (struct MemunreachableHeap) {
		.name = "pool",
		.malloc_iterate = iterate,
		.malloc_disable = disable,
		.malloc_enable = enable,
		.malloc_backtrace = backtrace_of,
		.memory = memory,
	};
	memset(&pool, 0, sizeof(pool));
	pthread_mutex_init(&pool.lock, NULL);
	pool.memory = mmap(NULL, SLOTS * SLOT, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pool.memory, MAP_FAILED);
}

static void
setup(void)
{
	pool_open();
	ck_assert(memunreachable_register_heap(&heap));
}

/* A slot, hidden. */
LIVE uintptr_t
slot_new(void)
{
	size_t i;

	pthread_mutex_lock(&pool.lock);
	/* pool.memory refers to the first one. */
	for (i = 1; pool.used[i]; i++)
		continue;
	pool.used[i] = true;
	pthread_mutex_unlock(&pool.lock);
	memset(pool.memory + i * SLOT, 0, SLOT);
	return mu_hide(pool.memory + i * SLOT);
}

/* Its contents remain. */
LIVE void
slot_free(uintptr_t hidden)
{
	size_t i = (size_t)((char *)mu_reveal(hidden) - pool.memory) / SLOT;

	pthread_mutex_lock(&pool.lock);
	pool.used[i] = false;
	pthread_mutex_unlock(&pool.lock);
}

LIVE size_t
slot_size(uintptr_t hidden)
{
	return SLOT -
	    (size_t)((char *)mu_reveal(hidden) - pool.memory) / SLOT % 3;
}

LIVE void
put_in(uintptr_t from, size_t word, uintptr_t to)
{
	((void **)mu_reveal(from))[word] = to == 0 ? NULL : mu_reveal(to);
}

static void *volatile kept;

LIVE void
keep(uintptr_t hidden)
{
	kept = hidden == 0 ? NULL : mu_reveal(hidden);
}

static struct UnreachableMemoryInfo info;

/* Lost blocks; the answer must have STATUS. */
LIVE size_t
lost(int status)
{
	FreeUnreachableMemoryInfo(&info);
	scrub();
	info = (struct UnreachableMemoryInfo) { .leaks = NULL };
	GetUnreachableMemory(&info, 100);
	ck_assert_msg(
	    info.status == status, "%d: %s", info.status, info.reason);
	ck_assert_uint_eq(pool.disabled, pool.enabled);
	ck_assert_uint_eq(pool.changed, 0);
	return info.num_leaks;
}

TEST(lost_and_kept)
{
	uintptr_t held = slot_new(), gone = slot_new(), below = slot_new();
	uintptr_t block = block_new(100), other = block_new(200);
	const struct Leak *leak;
	size_t frame;

	keep(held);
	put_in(held, 0, block); /* a block of malloc, by one of the pool */
	put_in(gone, 1, other);
	put_in(gone, 2, below);
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 3);
	ck_assert_uint_eq(info.num_reported, 1);
	leak = entry_of(&info, gone);
	ck_assert_ptr_nonnull(leak);
	ck_assert_uint_eq(leak->size, slot_size(gone));
	ck_assert_uint_eq(leak->referenced_count, 2);
	ck_assert_uint_ge(leak->referenced_size, slot_size(below) + 200);
	ck_assert_uint_eq(leak->backtrace.num_frames, 16);
	ck_assert_uint_eq(leak->backtrace.num_more, 4);
	for (frame = 0; frame < 16; frame++)
		ck_assert_uint_eq(leak->backtrace.frames[frame] & 0xff,
		    (FRAME & 0xff) + frame);
	/* Referred to by a block of malloc. */
	keep(block);
	put_in(block, 0, held);
	put_in(block, 1, gone);
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 0);
	keep(0);
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 5);
	ck_assert(memunreachable_unregister_heap(&heap));
	ck_assert(!memunreachable_unregister_heap(&heap));
	/* The whole pool is ordinary memory again. */
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 0);
	block_free(block);
	block_free(other);
}

/* The same with a stale pointer in a slot that is free. */
TEST(freed_slots)
{
	uintptr_t owner = slot_new(), block = block_new(100);

	put_in(owner, 0, block);
	slot_free(owner);
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 1);
	ck_assert(memunreachable_unregister_heap(&heap));
	heap.memory = NULL;
	ck_assert(memunreachable_register_heap(&heap));
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 0);
	block_free(block);
}

TEST(interior_and_end)
{
	uintptr_t slot = slot_new();

	keep(slot - (SLOT - 3));
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 0);
	keep(slot - SLOT);
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 1);
	keep(0);
}

TEST(cannot_be_listed)
{
	uintptr_t slot = slot_new(), block = block_new(100);

	pool.error = 7;
	lost(MEMUNREACHABLE_PARTIAL);
	ck_assert_ptr_nonnull(strstr(info.reason, "heap pool"));
	ck_assert_ptr_nonnull(strstr(info.reason, "(7)"));
	ck_assert_ptr_nonnull(entry_of(&info, block));
	pool.error = 0;
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 2);
	slot_free(slot);
	block_free(block);
}

/* Memory of malloc's, which has a block there already. */
TEST(within_malloc)
{
	uintptr_t block = block_new(SLOTS * SLOT);
	void *own = pool.memory;

	pool.memory = mu_reveal(block);
	slot_new();
	lost(MEMUNREACHABLE_PARTIAL);
	ck_assert_ptr_nonnull(strstr(info.reason, "another heap"));
	pool.memory = own;
	block_free(block);
}

TEST(bad_heaps)
{
	struct MemunreachableHeap none = { .name = "none" };
	char name[100];

	ck_assert(!memunreachable_register_heap(NULL));
	ck_assert(!memunreachable_register_heap(&none));
	ck_assert(!memunreachable_unregister_heap(&none));
	/* Long, and with another one beside it. */
	memset(name, 'x', sizeof(name));
	name[99] = '\0';
	heap.name = name;
	heap.malloc_disable = heap.malloc_enable = NULL;
	heap.malloc_iterate = iterate_none;
	ck_assert(memunreachable_register_heap(&heap));
	ck_assert(!memunreachable_register_heap(&heap));
	heap.name = NULL;
	ck_assert(!memunreachable_unregister_heap(&heap));
	heap.name = name;
	ck_assert(memunreachable_unregister_heap(&heap));
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 0);
}

static int
crash(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	callback(base + size, size, arg); /* is nowhere */
	*(volatile char *)base = 0;
	return 0;
}

/* In the image only: the program keeps running. */
TEST(crashing)
{
	ck_assert(memunreachable_unregister_heap(&heap));
	heap.malloc_iterate = crash;
	ck_assert(memunreachable_register_heap(&heap));
	ck_assert_uint_eq(lost(MEMUNREACHABLE_HELPER_DIED), 0);
	ck_assert(memunreachable_unregister_heap(&heap));
	ck_assert_uint_eq(lost(MEMUNREACHABLE_COMPLETE), 0);
}

static void
nowhere(void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	callback(0, 0, arg);
	callback(8, 8, arg);
	callback((uintptr_t)-16, 8, arg);
	callback((uintptr_t)pool.memory, (size_t)-1, arg);
	callback((uintptr_t)pool.memory, SIZE_MAX / 2, arg);
}

static int
iterate_nowhere(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	nowhere(callback, arg);
	return iterate(base, size, callback, arg);
}

/* Blocks that cannot be are left out, and the rest is right. */
TEST(hostile_blocks)
{
	uintptr_t slot = slot_new();

	ck_assert(memunreachable_unregister_heap(&heap));
	heap.malloc_iterate = iterate_nowhere;
	ck_assert(memunreachable_register_heap(&heap));
	ck_assert_uint_eq(lost(MEMUNREACHABLE_PARTIAL), 1);
	ck_assert_ptr_nonnull(strstr(info.reason, "5 blocks"));
	slot_free(slot);
}

static int
memory_nowhere(
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	nowhere(callback, arg);
	callback(0, SIZE_MAX, arg);
	return memory(callback, arg);
}

/* Memory that cannot be is not the heap's: the roots in it stay roots. */
TEST(hostile_memory)
{
	uintptr_t block = block_new(100), gone = slot_new();

	ck_assert(memunreachable_unregister_heap(&heap));
	heap.memory = memory_nowhere;
	ck_assert(memunreachable_register_heap(&heap));
	keep(block);
	ck_assert_uint_eq(lost(MEMUNREACHABLE_PARTIAL), 1);
	ck_assert_ptr_nonnull(entry_of(&info, gone));
	ck_assert_ptr_nonnull(strstr(info.reason, "heap pool: 5 "));
	keep(0);
	block_free(block);
	slot_free(gone);
}

static bool stop;

static void *
churn(void *arg)
{
	uintptr_t slots[32] = { 0 };
	size_t i = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		i = (i + 7) % 32;
		if (slots[i] != 0)
			slot_free(slots[i]);
		/* The only pointer is in the block of malloc. */
		slots[i] = slot_new();
	}
	return NULL;
}

/* Other threads allocate and free while passes run. */
TEST_LOOP(while_it_changes, MU_STOP_AUTO, MU_STOP_SIGNAL + 1)
{
	uintptr_t gone = slot_new();
	pthread_t threads[3];
	size_t i;

	mu_library.options.stop = (unsigned)_i;
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, churn, NULL), 0);
	for (i = 0; i < 20; i++) {
		lost(MEMUNREACHABLE_COMPLETE);
		ck_assert_ptr_nonnull(entry_of(&info, gone));
	}
	stop = true;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	stop = false;
}

SUITE(.setup = setup);
