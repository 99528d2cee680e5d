/*
 * Who points at a block: in each place where a pointer can live the only
 * reference is listed, with its place, and once it is gone there is none.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/support/suite.h"
#include "tests/support/why.h"

static int anchor;
static void *in_data = &anchor; /* .data */
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
	expect_global(&in_data);
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
	/* It may have been joined to a neighbour. */
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
