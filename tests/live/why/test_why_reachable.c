/*
 * The references to a block: from blocks, lost and not lost; addresses that are
 * in no block; limits; calls from awkward places; all kinds of places. Threads
 * and registers are in test_why_threads.c.
 */
#include <dlfcn.h>
#include <link.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "lib/state/library.h"
#include "tests/support/faults/watched_call.h"
#include "tests/support/pass/why.h"
#include "tests/support/suite.h"

static void *in_bss;
static int in_data;

/* Sizes: a chunk of a bin, and an mmapped one. */
static const size_t sizes[][2] = { { 72, 40 }, { 72, 2 << 20 }, { 3 << 20, 40 },
	{ 2 << 20, 3 << 20 } };

TEST_LOOP(block_in_a_block, 0, 4)
{
	uintptr_t to = block_new(sizes[_i][0]);
	uintptr_t from = block_new(sizes[_i][1]);
	size_t at = block_size(from) / 2 & ~(size_t)7;

	block_link(from, at, to);
	EXPECT_TOLD(from, 0);
	EXPECT_TOLD(to, 1);
	ck_assert_int_eq(told[0].kind, MEMUNREACHABLE_REFERENCE_BLOCK);
	ck_assert_int_eq(told[0].thread, 0);
	ck_assert_uint_eq(told[0].hidden_begin, from);
	ck_assert_uint_eq(told[0].size, block_size(from));
	ck_assert_int_eq(told[0].offset, (ptrdiff_t)at);
	ck_assert(!told[0].reachable);
	put(&in_bss, from);
	EXPECT_TOLD(to, 1);
	ck_assert(told[0].reachable);
	drop(&in_bss);
}

/* All references to a lost cycle are in lost blocks. */
TEST(lost_cycle)
{
	uintptr_t a = block_new(40), b = block_new(40), c = block_new(40);

	block_link(a, 0, b);
	block_link(b, 0, c);
	block_link(c, 0, a);
	block_link(a, 8, a); /* itself */
	EXPECT_TOLD(a, 1);
	ck_assert_uint_eq(told[0].hidden_begin, c);
	ck_assert(!told[0].reachable);
	EXPECT_LEAKS(3);
	put(&in_bss, b);
	EXPECT_TOLD(a, 1);
	ck_assert(told[0].reachable);
	EXPECT_LEAKS(0);
	drop(&in_bss);
}

TEST(interior_addresses)
{
	uintptr_t block = block_new(200), from = block_new(40);

	/* The block is the same, wherever in it is asked for. */
	put(&in_bss, block - 64);
	EXPECT_TOLD(block - 199, 1);
	ck_assert_int_eq(told[0].into, 64);
	ck_assert_uint_eq(told[0].hidden_value, block - 64);
	drop(&in_bss);
	block_link(from, 8, block - 17);
	EXPECT_TOLD(block, 1);
	ck_assert_int_eq(told[0].into, 17);
	/* Behind the end is nothing of the block's. */
	block_link(from, 8, block - block_size(block));
	EXPECT_TOLD(block, 0);
}

TEST(no_block)
{
	uintptr_t freed = block_new(72), big = block_new(2 << 20);
	int local;

	block_free(freed);
	block_free(big);
	EXPECT_TOLD(freed, -MEMUNREACHABLE_BAD_ARGUMENT);
	EXPECT_TOLD(big, -MEMUNREACHABLE_BAD_ARGUMENT);
	EXPECT_TOLD(mu_hide(NULL), -MEMUNREACHABLE_BAD_ARGUMENT);
	EXPECT_TOLD(mu_hide(&local), -MEMUNREACHABLE_BAD_ARGUMENT);
	EXPECT_TOLD(mu_hide(&in_data), -MEMUNREACHABLE_BAD_ARGUMENT);
	EXPECT_TOLD(mu_hide((void *)UINTPTR_MAX), -MEMUNREACHABLE_BAD_ARGUMENT);
	/* The header before a block is not part of it. */
	freed = block_new(72);
	EXPECT_TOLD(freed + 8, -MEMUNREACHABLE_BAD_ARGUMENT);
}

static bool
stop_at_ten(void *ctx, const struct MemunreachableReference *reference)
{
	(void)reference;
	return ++*(size_t *)ctx < 10;
}

LIVE ptrdiff_t
why_with(uintptr_t hidden, memunreachable_reference_fn callback, void *ctx)
{
	return memunreachable_why_reachable(mu_reveal(hidden), callback, ctx);
}

TEST(many_references)
{
	uintptr_t block = block_new(72), from = block_new(40);
	size_t number = 100000, i, calls = 0;
	void **slots = mmap(NULL, number * sizeof(*slots),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (i = 0; i < number; i++)
		put(&slots[i], block);
	block_link(from, 0, block);
	ck_assert_int_eq(why(block), (ptrdiff_t)number + 1);
	ck_assert_uint_eq(num_told, MEMUNREACHABLE_MAX_REFERENCES);
	for (i = 0; i < MAX_TOLD; i++)
		ck_assert_uint_eq(told[i].hidden_address, mu_hide(&slots[i]));
	scrub();
	ck_assert_int_eq(
	    why_with(block, stop_at_ten, &calls), (ptrdiff_t)number + 1);
	ck_assert_uint_eq(calls, 10);
	/* Without a callback only the count is returned. */
	scrub();
	ck_assert_int_eq(why_with(block, NULL, NULL), (ptrdiff_t)number + 1);
	munmap(slots, number * sizeof(*slots));
	EXPECT_TOLD(block, 1);
}

struct nested {
	uintptr_t hidden;
	ptrdiff_t again;
	size_t leaks, calls;
};

/* Everything is allowed here, and the answer that is held hides nothing. */
static bool
ask_again(void *ctx, const struct MemunreachableReference *reference)
{
	struct nested *nested = ctx;
	void *volatile block = malloc(4000);

	(void)reference;
	ck_assert_ptr_nonnull(block);
	free(block);
	block = NULL;
	scrub();
	nested->again = why_with(nested->hidden, NULL, NULL);
	nested->leaks = ask(2);
	nested->calls++;
	return true;
}

TEST(asking_in_the_callback)
{
	static struct nested nested;
	uintptr_t from = block_new(40);

	nested.hidden = block_new(72);
	block_link(from, 16, nested.hidden);
	scrub();
	ck_assert_int_eq(why_with(nested.hidden, ask_again, &nested), 1);
	ck_assert_uint_eq(nested.calls, 1);
	ck_assert_int_eq(nested.again, 1);
	ck_assert_uint_eq(nested.leaks, 2);
}

static ptrdiff_t busy_answer;

static ptrdiff_t
ask_in_a_provider(void *ctx, uintptr_t *words, size_t max)
{
	(void)words;
	(void)max;
	busy_answer = why_with(*(uintptr_t *)ctx, NULL, NULL);
	return 0;
}

TEST(within_a_pass)
{
	static uintptr_t block;

	block = block_new(72);
	ck_assert(
	    memunreachable_register_root_provider(ask_in_a_provider, &block));
	EXPECT_TOLD(block, 0);
	ck_assert_int_eq(busy_answer, -MEMUNREACHABLE_BUSY);
}

/* If the check fails the result is neither a count nor 0. */
TEST(refused)
{
	const struct watched_call call = {
		.nr = SYS_ptrace, .argument = -1, .error = EPERM
	};
	static struct worker worker = { .body = worker_park };
	uintptr_t block = block_new(72);

	mu_library.options.stop = MU_STOP_PTRACE;
	/* This needs another thread, which is stopped. */
	worker_start(&worker);
	if (watched_call_filter(&call, true) < 0)
		printf("SKIPPED: no seccomp filters here\n");
	else
		EXPECT_TOLD(block, -MEMUNREACHABLE_PTRACE_SECCOMP);
	worker_finish(&worker);
}

/*
 * For each place where a pointer can be: the only reference is listed, with its
 * place, and once it is removed none is.
 */

static int anchor;
static void *word_in_data = &anchor; /* .data */
static void *in_bss;
static char far_bss[1 << 20];

/* The path and offset of a variable, as the dynamic linker has them. */
LIVE void
expect_module(const void *variable)
{
	struct link_map *map;
	char path[PATH_MAX];
	Dl_info about;

	ck_assert_int_ne(
	    dladdr1(variable, &about, (void **)&map, RTLD_DL_LINKMAP), 0);
	ck_assert_ptr_nonnull(realpath(
	    map->l_name[0] == '\0' ? "/proc/self/exe" : map->l_name, path));
	ck_assert_str_eq(told[0].path, path);
	ck_assert_int_eq(
	    told[0].offset, (ptrdiff_t)((uintptr_t)variable - map->l_addr));
}

/* PLACE is a module's variable. */
LIVE void
expect_global(void *place)
{
	uintptr_t block = block_new(72);

	EXPECT_TOLD(block, 0);
	put(place, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_GLOBAL, place);
	ck_assert_int_eq(told[0].thread, 0);
	expect_module(place);
	drop(place);
	EXPECT_TOLD(block, 0);
	block_free(block);
}

TEST(variable_of_the_program)
{
	expect_global(&word_in_data);
	expect_global(&in_bss);
	/* Pages of .bss that are no part of the file's mapping. */
	expect_global(far_bss + sizeof(far_bss) / 2);
}

TEST(variable_of_a_library)
{
	expect_global(shim("shim_data"));
	expect_global(shim("shim_bss"));
}

/* Mappings: which, and where in it. */
LIVE void
expect_mapping(char *mapping, size_t size, const char *name)
{
	uintptr_t block = block_new(72);
	void *place = mapping + size / 2 + 136;

	put(place, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_MAPPING, place);
	ck_assert_int_eq(told[0].thread, 0);
	/* The mapping may have been merged with a neighbour. */
	ck_assert_uint_ge(told[0].hidden_begin, mu_hide(mapping));
	ck_assert_uint_ge(told[0].size, size);
	ck_assert_int_eq(
	    told[0].offset, (ptrdiff_t)(told[0].hidden_begin - mu_hide(place)));
	if (name[0] == '\0')
		ck_assert_str_eq(told[0].path, "");
	else
		ck_assert_ptr_nonnull(strstr(told[0].path, name));
	drop(place);
	EXPECT_TOLD(block, 0);
	block_free(block);
}

TEST(mappings)
{
	size_t size = 65536;
	int memory = memfd_create("a name", MFD_CLOEXEC);
	int both = PROT_READ | PROT_WRITE;
	char *anonymous, *file, *shared;

	ck_assert_int_eq(ftruncate(memory, (off_t)size), 0);
	anonymous = mmap(NULL, size, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	file = mmap(NULL, size, both, MAP_SHARED, memory, 0);
	shared = mmap(NULL, size, both, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(anonymous, MAP_FAILED);
	ck_assert_ptr_ne(file, MAP_FAILED);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	expect_mapping(anonymous, size, "");
	expect_mapping(file, size, "memfd:a name");
	expect_mapping(shared, size, "zero");
}

LIVE void
register_part(uintptr_t hidden)
{
	ck_assert(memunreachable_register_root_region(
	    (char *)mu_reveal(hidden) + 128, 64));
}

/* A word in a region counts there, and in what it is part of. */
TEST(root_regions)
{
	static char *region;
	uintptr_t block = block_new(72), in_block = block_new(256);
	void *place;

	region = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	place = region + 4096 + 24;
	ck_assert(memunreachable_register_root_region(region + 4096, 64));
	put(place, block);
	EXPECT_TOLD(block, 2);
	ck_assert_int_eq(told[0].kind + told[1].kind,
	    MEMUNREACHABLE_REFERENCE_ROOT_REGION +
		MEMUNREACHABLE_REFERENCE_MAPPING);
	drop(place);
	EXPECT_TOLD(block, 0);

	register_part(in_block);
	block_link(in_block, 136, block);
	EXPECT_TOLD(block, 2);
	ck_assert_int_eq(told[0].kind, MEMUNREACHABLE_REFERENCE_ROOT_REGION);
	ck_assert_uint_eq(told[0].hidden_begin, in_block - 128);
	ck_assert_uint_eq(told[0].size, 64);
	ck_assert_int_eq(told[0].offset, 8);
	ck_assert_int_eq(told[1].kind, MEMUNREACHABLE_REFERENCE_BLOCK);
	ck_assert(!told[1].reachable);
}

LIVE void
ignore(uintptr_t hidden, bool on)
{
	if (on)
		ck_assert(memunreachable_ignore_object(mu_reveal(hidden)));
	else
		ck_assert(memunreachable_unignore_object(mu_reveal(hidden)));
}

static ptrdiff_t
provide(void *ctx, uintptr_t *words, size_t max)
{
	if (max > 0)
		words[0] = ~*(uintptr_t *)ctx;
	return 1;
}

TEST(values_that_the_program_named)
{
	static uintptr_t block;

	block = block_new(72);
	ignore(block, true);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_ROOT_VALUE, NULL);
	ignore(block, false);
	EXPECT_TOLD(block, 0);
	ck_assert(memunreachable_register_root_provider(provide, &block));
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_ROOT_VALUE, NULL);
	ck_assert(memunreachable_unregister_root_provider(provide, &block));
	EXPECT_TOLD(block, 0);
}

LIVE void
epoll_add(int epoll, int fd, uintptr_t hidden)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.ptr = mu_reveal(hidden);
	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
}

LIVE timer_t
timer_with(uintptr_t hidden)
{
	struct sigevent event = { .sigev_notify = SIGEV_NONE,
		.sigev_signo = SIGRTMIN };
	timer_t timer;

	event.sigev_value.sival_ptr = mu_reveal(hidden);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	return timer;
}

TEST(values_that_the_kernel_holds)
{
	uintptr_t block = block_new(72);
	int epoll = epoll_create1(EPOLL_CLOEXEC), event = eventfd(0, 0);
	timer_t timer;

	epoll_add(epoll, event, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_KERNEL, NULL);
	close(epoll);
	EXPECT_TOLD(block, 0);
	timer = timer_with(block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_KERNEL, NULL);
	timer_delete(timer);
	EXPECT_TOLD(block, 0);
}
