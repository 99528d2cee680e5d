/*
 * Roots: pointers that only the kernel holds, and those that the program
 * registered.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "tests/support/live.h"
#include "tests/support/suite.h"

#define MAPPED ((size_t)65536)
#define MANY 3000

struct provider {
	uintptr_t hidden;
	size_t words; /* that it wants to write; the last is the block's */
	bool fails;
	unsigned calls;
	size_t most; /* the largest MAX it was offered */
};

static __attribute__((noinline)) void
epoll_add(int epoll, int fd, uintptr_t hidden)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.ptr = mu_reveal(hidden);
	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
}

TEST(epoll_data)
{
	uintptr_t block = block_new(72), other = block_new(72);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int first = eventfd(0, 0), second = eventfd(0, 0);

	EXPECT_LEAKS(2);
	epoll_add(epoll, first, block);
	EXPECT_LOST(other);
	epoll_add(epoll, second, other);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_DEL, first, NULL), 0);
	EXPECT_LOST(block);
	close(epoll);
	EXPECT_LEAKS(2);
}

static __attribute__((noinline)) timer_t
timer_with(int notify, uintptr_t hidden)
{
	struct sigevent event = {
		.sigev_notify = notify,
		.sigev_signo = SIGRTMIN,
	};
	timer_t timer;

	event.sigev_value.sival_ptr = mu_reveal(hidden);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	return timer;
}

TEST(timer_value)
{
	uintptr_t block = block_new(72), other = block_new(72);
	timer_t first, second;

	first = timer_with(SIGEV_SIGNAL, block);
	EXPECT_LOST(other);
	second = timer_with(SIGEV_NONE, other);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(timer_delete(first), 0);
	EXPECT_LOST(block);
	ck_assert_int_eq(timer_delete(second), 0);
	EXPECT_LEAKS(2);
}

static __attribute__((noinline)) bool
ignore(uintptr_t hidden)
{
	return memunreachable_ignore_object(mu_reveal(hidden));
}

static __attribute__((noinline)) bool
unignore(uintptr_t hidden)
{
	return memunreachable_unignore_object(mu_reveal(hidden));
}

/* Neither the block nor a block that it refers to. */
TEST(ignored_object)
{
	uintptr_t block = block_new(300), child = block_new(72);

	block_link(block, 48, child);
	EXPECT_LEAKS(2);
	ck_assert(ignore(block));
	EXPECT_LEAKS(0);
	ck_assert(unignore(block));
	EXPECT_LEAKS(2);
	ck_assert(!unignore(block));
	/* Any byte of it will do. */
	ck_assert(ignore(block - 123));
	EXPECT_LEAKS(0);
	ck_assert(!unignore(block));
	ck_assert(unignore(block - 123));
	EXPECT_LEAKS(2);
	ck_assert(!memunreachable_ignore_object(NULL));
}

/* More than fit into a page; the registry itself keeps nothing reachable. */
TEST(many_ignored_objects)
{
	static uintptr_t blocks[MANY];
	size_t i;

	for (i = 0; i < MANY; i++) {
		blocks[i] = block_new(24);
		ck_assert(ignore(blocks[i]));
	}
	EXPECT_LEAKS(0);
	for (i = 0; i < MANY; i += 2)
		ck_assert(unignore(blocks[i]));
	EXPECT_LEAKS(MANY / 2);
	for (i = 1; i < MANY; i += 2)
		ck_assert(unignore(blocks[i]));
	EXPECT_LEAKS(MANY);
}

/* A shared mapping of a file: not looked at by itself. */
static char *
map_document(void)
{
	char path[] = "/var/tmp/mu-region-XXXXXX";
	char *mapping;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	unlink(path);
	ck_assert_int_eq(ftruncate(fd, MAPPED), 0);
	mapping = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(mapping, MAP_FAILED);
	return mapping;
}

TEST(root_region)
{
	char *mapping = map_document();
	uintptr_t block = block_new(72);

	put(mapping + 5000 / 8 * 8, block);
	ck_assert(memunreachable_register_root_region(mapping + 4096, 8192));
	EXPECT_LEAKS(0);
	/* Twice in, twice out. */
	ck_assert(memunreachable_register_root_region(mapping + 4096, 8192));
	ck_assert(memunreachable_unregister_root_region(mapping + 4096, 8192));
	EXPECT_LEAKS(0);
	ck_assert(!memunreachable_unregister_root_region(mapping + 4096, 8));
	ck_assert(memunreachable_unregister_root_region(mapping + 4096, 8192));
	ck_assert(!memunreachable_unregister_root_region(mapping + 4096, 8192));
	ck_assert(!memunreachable_register_root_region(mapping, 0));
	drop(mapping + 5000 / 8 * 8);
	EXPECT_LOST(block);
}

/*
 * The region is exact to the word: the words before and after it are outside.
 */
TEST(root_region_edges)
{
	char *mapping = map_document();
	uintptr_t block = block_new(72);

	ck_assert(memunreachable_register_root_region(mapping + 8000, 200));
	put(mapping + 7992, block);
	put(mapping + 8200, block);
	EXPECT_LEAKS(1);
	put(mapping + 8000, block);
	EXPECT_LEAKS(0);
	drop(mapping + 8000);
	put(mapping + 8192, block);
	EXPECT_LEAKS(0);
	drop(mapping + 8192);
	EXPECT_LOST(block);
}

/* Registered while it cannot be read; it is scanned once it can. */
TEST(root_region_hidden_at_first)
{
	char *mapping = map_document();
	uintptr_t block = block_new(72);
	struct UnreachableMemoryInfo info = { 0 };

	put(mapping + 800, block);
	ck_assert_int_eq(mprotect(mapping, MAPPED, PROT_NONE), 0);
	ck_assert(memunreachable_register_root_region(mapping, MAPPED));
	scrub();
	/* Complete or partial, as the library sees it; never a crash. */
	ck_assert(GetUnreachableMemory(&info, 0));
	FreeUnreachableMemoryInfo(&info);
	ck_assert_int_eq(mprotect(mapping, MAPPED, PROT_READ), 0);
	EXPECT_LEAKS(0);
}

static __attribute__((noinline)) bool
register_inside(uintptr_t hidden, size_t offset, size_t size)
{
	return memunreachable_register_root_region(
	    (char *)mu_reveal(hidden) + offset, size);
}

/* A region in the heap: its own block is lost, what it leads to is not. */
TEST(root_region_in_a_block)
{
	uintptr_t holder = block_new(1000), block = block_new(72);

	block_link(holder, 504, block);
	EXPECT_LEAKS(2);
	ck_assert(register_inside(holder, 500, 100));
	EXPECT_LOST(holder);
}

static ptrdiff_t
provide(void *ctx, uintptr_t *words, size_t max)
{
	struct provider *provider = ctx;
	size_t i;

	provider->calls++;
	if (max > provider->most)
		provider->most = max;
	if (provider->fails)
		return -1;
	if (provider->words > max)
		return (ptrdiff_t)provider->words;
	for (i = 0; i < provider->words; i++)
		words[i] = i + 1 < provider->words ? i : ~provider->hidden;
	return (ptrdiff_t)provider->words;
}

TEST_LOOP(root_provider, 0, 4)
{
	static const size_t words[] = { 1, 2, 64, 20000 };
	static struct provider provider;

	provider.hidden = block_new(72);
	provider.words = words[_i];
	ck_assert(memunreachable_register_root_provider(provide, &provider));
	EXPECT_LEAKS(0);
	/* The provider was called again with the room that it had asked for. */
	ck_assert_uint_ge(provider.most, provider.words);
	ck_assert_uint_ge(provider.calls, 1);
	ck_assert_uint_le(provider.calls, 2);
	ck_assert(memunreachable_unregister_root_provider(provide, &provider));
	ck_assert(!memunreachable_unregister_root_provider(provide, &provider));
	provider.calls = 0;
	EXPECT_LOST(provider.hidden);
	ck_assert_uint_eq(provider.calls, 0);
}

/* A provider that fails does not affect the others. */
TEST(root_provider_fails)
{
	static struct provider good = { .words = 2 }, bad = { .fails = true };

	good.hidden = block_new(72);
	bad.hidden = block_new(72);
	ck_assert(memunreachable_register_root_provider(provide, &bad));
	ck_assert(memunreachable_register_root_provider(provide, &good));
	EXPECT_LEAKS(1);
	ck_assert_uint_eq(bad.calls, 1);
	bad.fails = false;
	bad.words = 1;
	EXPECT_LEAKS(0);
}

/* Asking from within a pass fails cleanly, and the pass continues. */
static ptrdiff_t
ask_within(void *ctx, uintptr_t *words, size_t max)
{
	struct UnreachableMemoryInfo info = { 0 };
	int *status = ctx;

	(void)words;
	(void)max;
	ck_assert(!GetUnreachableMemory(&info, 0));
	*status = info.status;
	return 0;
}

TEST(root_provider_asks)
{
	int status = -1;

	block_new(72);
	ck_assert(memunreachable_register_root_provider(ask_within, &status));
	EXPECT_LEAKS(1);
	ck_assert_int_eq(status, MEMUNREACHABLE_BUSY);
}
