/*
 * Where pointers live: memory of every kind. While the pointer is there its
 * block is not lost; once it is gone it is, exactly that one. Where they do
 * not live is in test_not_roots.c.
 *
 * More kinds of memory are in test_roots_memory.c and test_roots_left_out.c,
 * threads, registers and stacks in test_roots_threads.c and its neighbours;
 * what the kernel holds or the program registered is in
 * test_roots_registered.c.
 */
#include <dlfcn.h>
#include <sys/mman.h>

#include "tests/support/live_mappings.h"
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
	/* One past the end is the next one's. */
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

	support_path("tls_shim.so", path);
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
