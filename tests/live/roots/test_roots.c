/*
 * Roots: memory of every kind. While the pointer is there its block is not
 * lost; once it is removed exactly that block is. Also places that are not
 * roots.
 *
 * More kinds of memory are in roots_memory.c and roots_fork_gaps.c,
 * threads, registers and stacks in roots_threads.c and its neighbours;
 * what the kernel holds or the program registered is in
 * roots_registered.c.
 */
#include <dlfcn.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "tests/support/built.h"
#include "tests/support/pass/live_mappings.h"
#include "tests/support/suite.h"

static int anchor;
static void *global = &anchor; /* .data */
static void *zeroed;           /* .bss */
static __thread void *tls_slot;

TEST(global_data)
{
	expect_root(&global);
}

TEST(global_bss)
{
	expect_root(&zeroed);
}

TEST(static_local)
{
	static void *place;

	expect_root((void *)&place);
}

TEST(main_stack)
{
	void *volatile place = NULL;

	expect_root((void *)&place);
}

TEST(static_tls)
{
	expect_root(&tls_slot);
}

TEST(interior_pointer)
{
	uintptr_t block = block_new(1000);
	size_t at;

	for (at = 1; at < 1000; at += 111) {
		put(&global, block - at); /* hidden: one less is one more */
		EXPECT_LEAKS(0);
	}
	drop(&global);
	EXPECT_LEAKS(1);
	/* The address after the end belongs to the next block. */
	put(&global, block - block_size(block));
	EXPECT_LEAKS(1);
	drop(&global);
}

TEST(anonymous_private)
{
	expect_root(inside_mapping(
	    map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1)));
}

TEST(anonymous_shared)
{
	expect_root(inside_mapping(
	    map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1)));
}

TEST(anonymous_executable)
{
	expect_root(inside_mapping(map(PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1)));
}

TEST(memfd_shared)
{
	int fd = memfd_create("roots", MFD_CLOEXEC);

	ck_assert_int_eq(ftruncate(fd, MAPPED), 0);
	expect_root(
	    inside_mapping(map(PROT_READ | PROT_WRITE, MAP_SHARED, fd)));
}

TEST(tmpfs_shared)
{
	expect_root(inside_mapping(
	    map(PROT_READ | PROT_WRITE, MAP_SHARED, unnamed_file("/dev/shm"))));
}

TEST(file_private_written)
{
	expect_root(inside_mapping(map(
	    PROT_READ | PROT_WRITE, MAP_PRIVATE, unnamed_file("/var/tmp"))));
}

/* PLACE is on pages that are read-only but while the pointer is changed. */
static void
expect_read_only_root(void *page, size_t size, void *place)
{
	uintptr_t block = block_new(72);

	ck_assert_int_eq(mprotect(page, size, PROT_READ | PROT_WRITE), 0);
	put(place, block);
	ck_assert_int_eq(mprotect(page, size, PROT_READ), 0);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(mprotect(page, size, PROT_READ | PROT_WRITE), 0);
	drop(place);
	ck_assert_int_eq(mprotect(page, size, PROT_READ), 0);
	EXPECT_LOST(block);
	block_free(block);
	EXPECT_LEAKS(0);
}

TEST(read_only_page)
{
	void *page =
	    map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	expect_read_only_root(page, MAPPED, inside_mapping(page));
}

static void *
shim_place(const char *name)
{
	char path[PATH_MAX];
	void *library, *(*function)(void);

	built_path("tests/support/shims/tls_shim.so", path);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ck_assert_msg(library != NULL, "%s", dlerror());
	*(void **)&function = dlsym(library, name);
	ck_assert_ptr_nonnull((void *)function);
	return function();
}

TEST(library_relro)
{
	char *page = shim_place("shim_constants");

	expect_read_only_root(page, 4096, page + 800);
}

TEST(library_data)
{
	expect_root(shim_place("shim_data"));
}

TEST(library_bss)
{
	expect_root(shim_place("shim_bss"));
}

TEST(library_tls)
{
	expect_root(shim_place("shim_tls"));
}

/* First-level keys are in struct pthread, the others in a block. */
TEST(thread_specific)
{
	enum { KEYS = 70 };
	pthread_key_t keys[KEYS];
	uintptr_t block = block_new(72);
	int i;

	for (i = 0; i < KEYS; i++)
		ck_assert_int_eq(pthread_key_create(&keys[i], NULL), 0);
	for (i = 0; i < KEYS; i++) {
		put(&zeroed, block);
		pthread_setspecific(keys[i], zeroed);
		drop(&zeroed);
		EXPECT_LEAKS(0);
		pthread_setspecific(keys[i], NULL);
		if (i % 23 == 0)
			EXPECT_LOST(block);
	}
	EXPECT_LOST(block);
}

TEST_LOOP(another_block, 0, 5)
{
	static const size_t sizes[] = { 24, 1000, 70000, 300000, 5000000 };
	uintptr_t holder = block_new(sizes[_i]), block = block_new(72);
	size_t at[3] = { 0, sizes[_i] / 16 * 8, sizes[_i] - 8 };
	size_t i;

	put(&global, holder);
	for (i = 0; i < 3; i++) {
		EXPECT_LEAKS(1);
		block_link(holder, at[i], block);
		EXPECT_LEAKS(0);
		put(&zeroed, holder - at[i]);
		*(void **)zeroed = NULL;
		drop(&zeroed);
	}
	block_link(holder, 16, block);
	drop(&global);
	EXPECT_LEAKS(2);
}

/* Blocks of any alignment, in a heap and mmapped, as what is lost. */
TEST_LOOP(aligned_block, 0, 17)
{
	static const size_t sizes[] = { 1, 100, 5000, 300000 };
	size_t alignment = (size_t)16 << _i;
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t blocks[4];
	size_t i;

	for (i = 0; i < 4; i++) {
		blocks[i] = mu_hide(block_fresh(alignment, sizes[i]));
		put(&global, blocks[i]);
		EXPECT_LEAKS(0);
		drop(&global);
		EXPECT_LEAKS(1);
		scrub();
		ck_assert(GetUnreachableMemory(&info, 1));
		ck_assert(info.leaks[0].begin == ~blocks[i]);
		ck_assert_uint_eq(info.leaks[0].size, block_size(blocks[i]));
		FreeUnreachableMemoryInfo(&info);
		block_free(blocks[i]);
		EXPECT_LEAKS(0);
	}
}

/*
 * Where pointers do not live: what looks like a pointer there keeps nothing.
 * Dead stack of threads is in roots_threads.c.
 */

static void *global;

/* A pointer that is not aligned is not seen. */
TEST(unaligned_pointer)
{
	static char place[24] __attribute__((aligned(8)));

	expect_no_root(place + 4);
}

/* A document is no place for pointers, nor a reason to read all of it. */
TEST(file_shared)
{
	struct statfs statfs;
	int fd = unnamed_file("/var/tmp");

	ck_assert_int_eq(fstatfs(fd, &statfs), 0);
	if (statfs.f_type == TMPFS_MAGIC) {
		printf("SKIPPED: file_shared: /var/tmp is a tmpfs\n");
		return;
	}
	expect_no_root(
	    inside_mapping(map(PROT_READ | PROT_WRITE, MAP_SHARED, fd)));
}

/*
 * The contents of a freed block do not count, even if a pointer to it exists.
 */
TEST_LOOP(freed_block, 0, 4)
{
	static const size_t sizes[] = { 40, 1000, 5000, 90000 };
	size_t size = sizes[_i], i;
	uintptr_t holder[12], fence[12], block = block_new(72);
	static void *dangling[12];

	/* Twelve: more than a thread's cache takes. */
	for (i = 0; i < 12; i++) {
		holder[i] = block_new(size);
		fence[i] = block_new(24);
		put(&dangling[i], fence[i]);
		block_link(holder[i], 32, block);
	}
	EXPECT_LEAKS(13);
	for (i = 0; i < 12; i++) {
		block_free(holder[i]);
		EXPECT_LEAKS(12 - i);
	}
	for (i = 0; i < 12; i++) {
		block_free(fence[i]);
		put(&dangling[i], holder[i]);
	}
	EXPECT_LEAKS(1);
}

#define VECTORS 8

static uintptr_t vectors[VECTORS]; /* hidden: the first bytes of blocks */

/* Two adjacent blocks; the vector in the first one fills its requested size. */
LIVE uintptr_t
block_pair(uintptr_t *vector)
{
	for (;;) {
		*vector = block_new(32);
		uintptr_t next = block_new(32);

		if (*vector - next == 48)
			return next;
		block_keep(mu_reveal(*vector));
		block_keep(mu_reveal(next));
	}
}

static void
hold_vector(struct worker *worker)
{
	char *volatile begin = mu_reveal(worker->hidden);
	char *volatile end = begin + 32;

	scrub();
	worker_park(worker);
	(void)end;
}

/*
 * The end of a std::vector that is full is the address of the next chunk's
 * header: no reference to that one's block.
 */
TEST(one_past_the_end)
{
	static struct worker workers[VECTORS];
	size_t i;

	for (i = 0; i < VECTORS; i++) {
		block_pair(&vectors[i]);
		workers[i].body = hold_vector;
		workers[i].hidden = vectors[i];
		worker_start(&workers[i]);
	}
	EXPECT_LEAKS(VECTORS);
	for (i = 0; i < VECTORS; i++)
		worker_finish(&workers[i]);
	EXPECT_LEAKS(2 * VECTORS);
}

#if defined(__x86_64__)
/* Ask with END in a register that calls preserve. */
LIVE size_t
ask_with_end(uintptr_t vector, struct UnreachableMemoryInfo *info)
{
	register char *end __asm__("r12") = mu_reveal(vector);

	end += 32;
	__asm__ volatile("" : "+r"(end));
	GetUnreachableMemory(info, 0);
	__asm__ volatile("" : "+r"(end));
	return info->num_leaks;
}

TEST(one_past_the_end_of_the_caller)
{
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t vector;

	block_pair(&vector);
	put(&global, vector);
	scrub();
	ck_assert_uint_eq(ask_with_end(vector, &info), 1);
}
#endif

/* The answer is full of addresses of lost blocks. */
TEST(held_results)
{
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t block = block_new(72);

	scrub();
	ck_assert(GetUnreachableMemory(&info, 100));
	ck_assert_uint_eq(info.num_reported, 1);
	EXPECT_LEAKS(1);
	FreeUnreachableMemoryInfo(&info);
	EXPECT_LEAKS(1);
	put(&global, block);
	EXPECT_LEAKS(0);
}

/* Deep enough that the frames of the pass's call do not overwrite it. */
static __attribute__((noinline)) void
leave_below(uintptr_t hidden)
{
	void *volatile frame[4096];
	size_t i;

	for (i = 0; i < 2048; i++)
		put((void *)&frame[i], hidden);
}

TEST(below_the_stack_pointer)
{
	uintptr_t block = block_new(72);

	EXPECT_LEAKS(1);
	leave_below(block);
	scrub_registers();
	ck_assert_uint_eq(ask(1), 1);
}

#if defined(__x86_64__)
/*
 * The record that libc unwinds to at the end of a thread: registers, an int, a
 * list, and two words that are never written (struct pthread_unwind_buf).
 */
enum { RECORD_INT = 8, RECORD_PREVIOUS, RECORD_UNUSED = 11, RECORD_WORDS = 13 };

static void **
newest_record(void)
{
	void **record;

	__asm__("movq %%fs:0x300, %0" : "=r"(record));
	return record;
}

static void
expect_holes(void **record)
{
	expect_no_root(&record[RECORD_UNUSED]);
	expect_no_root(&record[RECORD_UNUSED + 1]);
}

static void *
expect_holes_here(void *arg)
{
	expect_holes(newest_record());
	return arg;
}

static void
do_nothing(void *arg)
{
	(void)arg;
}

/*
 * Thread-specific data of the main thread, of another one, and clean-up
 * handlers.
 */
TEST(records_of_libc)
{
	void **first = newest_record();
	pthread_t thread;

	expect_holes(first);
	ck_assert_int_eq(
	    pthread_create(&thread, NULL, expect_holes_here, NULL), 0);
	pthread_join(thread, NULL);
	pthread_cleanup_push(do_nothing, NULL);
	ck_assert_ptr_ne(newest_record(), first);
	expect_holes(newest_record());
	expect_holes(first);
	/* The registers are some. */
	expect_root(&first[1]);
	pthread_cleanup_pop(0);
}

/* An address in the block whose lower half is 0. */
LIVE void
put_half(uintptr_t *word, uintptr_t hidden)
{
	*word = (~hidden + UINT32_MAX) >> 32 << 32;
}

/*
 * 5 GiB that no other word looks like a pointer into. At some addresses one
 * does: the page with a library's first variables begins with the end of its
 * .eh_frame, in which 0x7f5400000014 is a length and an offset (1 run in 50).
 * 0: there is no memory.
 */
static uintptr_t
make_unlike_any(void)
{
	uintptr_t block;
	int tries;

	for (tries = 0; tries < 8; tries++) {
		block = mu_hide(malloc((size_t)5 << 30));
		if (block == ~(uintptr_t)0)
			return 0;
		scrub();
		if (ask_lost(block))
			return block;
	}
	ck_abort_msg("each of 8 blocks was kept");
}

/* The int, with what there was of a pointer beside it. */
TEST(half_a_pointer)
{
	uintptr_t *word = (uintptr_t *)newest_record();
	uintptr_t block;

	ck_assert_uint_eq(word[RECORD_INT] & UINT32_MAX, 0);
	word[RECORD_INT] = 0;
	block = make_unlike_any();
	if (block == 0) {
		printf("SKIPPED: half_a_pointer: no 5 GiB\n");
		return;
	}
	put_half(&word[RECORD_INT], block);
	EXPECT_LOST(block);
	word[RECORD_INT] = 0;
}
#endif
