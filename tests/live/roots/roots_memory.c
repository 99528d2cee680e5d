/*
 * Roots: kinds of memory that test_roots.c does not have, and what lies
 * beside and inside them: the heap, guard pages, holes.
 */
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>

#include "tests/support/pass/live_mappings.h"
#include "tests/support/pass/why.h"
#include "tests/support/suite.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13 */
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define PAGE ((size_t)4096)
#define RW (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)

static void *global;

TEST(system_v)
{
	int id = shmget(IPC_PRIVATE, MAPPED, IPC_CREAT | 0600);
	void *mapping;

	if (id < 0) {
		printf("SKIPPED: system_v: no System V shared memory here\n");
		return;
	}
	mapping = shmat(id, NULL, 0);
	ck_assert_int_eq(shmctl(id, IPC_RMID, NULL), 0);
	ck_assert_ptr_ne(mapping, (void *)-1);
	expect_root(inside_mapping(mapping));
}

TEST(transparent_huge_page)
{
	size_t huge = (size_t)2 << 20;
	char *mapping = mmap(NULL, 2 * huge, RW, PRIVATE, -1, 0);

	ck_assert_ptr_ne(mapping, MAP_FAILED);
	mapping += -(uintptr_t)mapping % huge;
	madvise(mapping, huge, MADV_HUGEPAGE);
	expect_root(mapping + huge - 8);
}

TEST(secret_memory)
{
	int fd = (int)syscall(SYS_memfd_secret, 0);

	if (fd < 0 || ftruncate(fd, MAPPED) != 0) {
		printf("SKIPPED: secret_memory: no memfd_secret here\n");
		return;
	}
	expect_root(inside_mapping(map(RW, MAP_SHARED, fd)));
}

/* "[anon:name]" in the maps; a kernel without names makes it a plain one. */
TEST_LOOP(named_memory, 0, 2)
{
	static const int kinds[] = { MAP_PRIVATE, MAP_SHARED };
	void *mapping = map(RW, kinds[_i] | MAP_ANONYMOUS, -1);

	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, mapping, MAPPED, "a vdso");
	expect_root(inside_mapping(mapping));
}

static bool
is_swapped(void *address)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	off_t at = (off_t)((uintptr_t)address / PAGE * sizeof(entry));

	if (fd < 0 || pread(fd, &entry, sizeof(entry), at) != sizeof(entry))
		entry = 0;
	close(fd);
	return (entry >> 62 & 1) != 0;
}

TEST_LOOP(swapped_out, 0, 2)
{
	static const int kinds[] = { MAP_PRIVATE, MAP_SHARED };
	void *mapping = map(RW, kinds[_i] | MAP_ANONYMOUS, -1);
	uintptr_t block = block_new(72);

	put(inside_mapping(mapping), block);
	madvise(mapping, MAPPED, MADV_PAGEOUT);
	if (_i == 0 && !is_swapped(inside_mapping(mapping))) {
		printf("SKIPPED: swapped_out: there is no swap here\n");
		return;
	}
	EXPECT_LEAKS(0);
	drop(inside_mapping(mapping));
	madvise(mapping, MAPPED, MADV_PAGEOUT);
	EXPECT_LOST(block);
}

/* One written page in 64 GiB; a pass touches no other. */
TEST(never_touched)
{
	size_t size = (size_t)1 << 36;
	unsigned char resident[2048];
	size_t i, count = 0;
	char *mapping = mmap(NULL, size, RW, PRIVATE | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(mapping, MAP_FAILED);
	madvise(mapping, size, MADV_NOHUGEPAGE);
	expect_root(mapping + size / 2);
	ck_assert_int_eq(
	    mincore(mapping + size / 2 - 1024 * PAGE, 2048 * PAGE, resident),
	    0);
	for (i = 0; i < 2048; i++)
		count += resident[i] & 1;
	ck_assert_uint_eq(count, 1);
	munmap(mapping, size);
}

/* Written first, then closed for writing, then perhaps made code. */
TEST_LOOP(protected_after_writing, 0, 4)
{
	static const int after[] = { PROT_READ, PROT_READ | PROT_EXEC };
	int fd = _i < 2 ? -1 : unnamed_file("/var/tmp");
	void *mapping = map(RW, fd < 0 ? PRIVATE : MAP_PRIVATE, fd);
	uintptr_t block = block_new(72);

	put(inside_mapping(mapping), block);
	ck_assert_int_eq(mprotect(mapping, MAPPED, after[_i % 2]), 0);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(mprotect(mapping, MAPPED, RW), 0);
	drop(inside_mapping(mapping));
	ck_assert_int_eq(mprotect(mapping, MAPPED, after[_i % 2]), 0);
	EXPECT_LOST(block);
}

/* Guarded memory: closed but while someone works on it. */
TEST_LOOP(closed_memory, 0, 6)
{
	static const int closed[] = { PROT_NONE, PROT_WRITE, PROT_EXEC };
	static const int kinds[] = { PRIVATE, MAP_SHARED | MAP_ANONYMOUS };
	void *mapping = map(RW, kinds[_i / 3], -1);
	uintptr_t block = block_new(72);

	put(inside_mapping(mapping), block);
	ck_assert_int_eq(mprotect(mapping, MAPPED, closed[_i % 3]), 0);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(mprotect(mapping, MAPPED, RW), 0);
	drop(inside_mapping(mapping));
	ck_assert_int_eq(mprotect(mapping, MAPPED, closed[_i % 3]), 0);
	EXPECT_LOST(block);
}

/* Room that was reserved and never opened costs nothing. */
TEST(reserved_memory)
{
	size_t size = (size_t)1 << 40;
	char *mapping =
	    mmap(NULL, size, PROT_NONE, PRIVATE | MAP_NORESERVE, -1, 0);
	struct UnreachableMemoryInfo info = { 0 };

	ck_assert_ptr_ne(mapping, MAP_FAILED);
	expect_root(&global);
	ck_assert(GetUnreachableMemory(&info, 0));
	ck_assert_uint_lt(info.total_ns, 15000000000ull);
}

/* Neighbours on both sides of a place that cannot be read. */
static void
expect_roots_around(char *mapping)
{
	expect_root(mapping + 5 * PAGE - 8);
	expect_root(mapping + 7 * PAGE);
	expect_root(mapping + MAPPED - 8);
}

TEST(around_closed_pages)
{
	char *mapping = map(RW, PRIVATE, -1);

	ck_assert_int_eq(mprotect(mapping + 5 * PAGE, 2 * PAGE, PROT_NONE), 0);
	expect_roots_around(mapping);
}

/* One mapping, two pages of which cause SIGBUS. */
TEST_LOOP(around_guard_pages, 0, 2)
{
	static const int kinds[] = { MAP_PRIVATE, MAP_SHARED };
	char *mapping = map(RW, kinds[_i] | MAP_ANONYMOUS, -1);

	if (madvise(mapping + 5 * PAGE, 2 * PAGE, MADV_GUARD_INSTALL) != 0) {
		printf("SKIPPED: around_guard_pages: no guard regions here\n");
		return;
	}
	expect_roots_around(mapping);
}

TEST(around_a_hole)
{
	char *mapping = map(RW, PRIVATE, -1);

	ck_assert_int_eq(munmap(mapping + 5 * PAGE, 2 * PAGE), 0);
	expect_roots_around(mapping);
}

/* 64 KiB at AT, or NULL if something is there. */
static char *
map_at(char *at)
{
	char *mapping =
	    mmap(at, MAPPED, RW, PRIVATE | MAP_FIXED_NOREPLACE, -1, 0);

	if (mapping == MAP_FAILED)
		return NULL;
	/* Before Linux 4.17 the address is a wish. */
	ck_assert_ptr_eq(mapping, at);
	return mapping;
}

/* In what adjoins BEGIN from below and END from above. */
static void
expect_neighbours(const char *what, char *begin, char *end)
{
	char *below = map_at(begin - MAPPED), *above = map_at(end);

	if (below == NULL && above == NULL)
		printf("SKIPPED: %s: no room beside it\n", what);
	if (below != NULL) {
		expect_root(below + MAPPED - 8);
		expect_root(below);
	}
	if (above != NULL) {
		expect_root(above);
		expect_root(above + MAPPED - 8);
	}
}

TEST(beside_the_main_heap)
{
	char line[256];
	unsigned long begin = 0, end = 0;
	FILE *maps;

	block_free(block_new(72)); /* the runner needs no more of it */
	maps = fopen("/proc/self/maps", "re");
	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps) != NULL)
		if (strstr(line, "[heap]") != NULL)
			ck_assert_int_eq(
			    sscanf(line, "%lx-%lx", &begin, &end), 2);
	fclose(maps);
	ck_assert_uint_ne(begin, 0);
	expect_neighbours("beside_the_main_heap", (char *)begin, (char *)end);
}

TEST(beside_an_mmapped_chunk)
{
	size_t size = (size_t)1 << 20;
	char *chunk = malloc(size - PAGE), *begin;

	ck_assert_ptr_nonnull(chunk);
	put(&global, mu_hide(chunk));
	begin = (char *)((uintptr_t)chunk & ~(PAGE - 1));
	expect_neighbours("beside_an_mmapped_chunk", begin,
	    begin +
		((malloc_usable_size(chunk) + 16 + PAGE - 1) & ~(PAGE - 1)));
}

static void
in_other_arena(struct worker *worker)
{
	worker->context = malloc(100);
	worker_park(worker);
}

/* The heaps of other arenas are 64 MiB, all but the first pages closed. */
TEST(beside_the_heap_of_an_arena)
{
	size_t heap = (size_t)64 << 20;
	static struct worker worker = { .body = in_other_arena };
	char *begin;

	worker_start(&worker);
	begin = (char *)((uintptr_t)worker.context & ~(heap - 1));
	expect_neighbours("beside_the_heap_of_an_arena", begin, begin + heap);
	worker_finish(&worker);
}

/* Written by one name, seen by another that can only be read. */
TEST(read_only_view)
{
	int fd = memfd_create("roots", MFD_CLOEXEC);
	uintptr_t block = block_new(72);
	void *mapping;

	ck_assert_int_eq(ftruncate(fd, MAPPED), 0);
	mapping = map(RW, MAP_SHARED, fd);
	put(inside_mapping(mapping), block);
	munmap(mapping, MAPPED);
	mapping = map(PROT_READ, MAP_SHARED, fd);
	EXPECT_LEAKS(0);
	munmap(mapping, MAPPED);
	EXPECT_LOST(block);
}

/* Behind the end of a file that was cut memory cannot be read, and is not. */
TEST_LOOP(behind_the_end, 0, 4)
{
	static const int kinds[] = { MAP_SHARED, MAP_PRIVATE };
	int fd = _i < 2 ? memfd_create("cut", MFD_CLOEXEC)
			: unnamed_file("/var/tmp");
	char *mapping;

	ck_assert_int_eq(ftruncate(fd, MAPPED), 0);
	mapping = map(RW, kinds[_i % 2], fd);
	memset(mapping, 1, MAPPED);
	ck_assert_int_eq(ftruncate(fd, PAGE), 0);
	if (_i == 1)
		expect_doubt_of_files();
	if (_i != 2) /* a shared document is no root */
		expect_root(mapping + PAGE - 8);
	EXPECT_LEAKS(0);
}

/* An operand of WIDTH bytes, 4 or 8, as a compiler writes it. */
LIVE void
put_operand(char *place, uintptr_t hidden, size_t width)
{
	uintptr_t word = ~hidden;

	memcpy(place, &word, width);
}

LIVE void
expect_operand(char *place, size_t width, char *closing, int protection)
{
	uintptr_t block = block_new(72);

	put_operand(place, block, width);
	ck_assert_int_eq(mprotect(closing, MAPPED, protection), 0);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(mprotect(closing, MAPPED, RW), 0);
	memset(place, 0, width);
	ck_assert_int_eq(mprotect(closing, MAPPED, protection), 0);
	EXPECT_LOST(block);
	block_free(block);
	ck_assert_int_eq(mprotect(closing, MAPPED, RW), 0);
}

static const int code_protections[] = { RW | PROT_EXEC, PROT_READ | PROT_EXEC,
	PROT_EXEC };

/* Operands of instructions lie at any byte, also across pages. */
TEST_LOOP(generated_code, 0, 3)
{
	char *code = map(RW, PRIVATE, -1);
	size_t offset;

	for (offset = 0; offset < 9; offset++)
		expect_operand(code + offset, 8, code, code_protections[_i]);
	expect_operand(code + PAGE - 3, 8, code, code_protections[_i]);
	expect_operand(code + MAPPED / 2 - 1, 8, code, code_protections[_i]);
	expect_operand(code + MAPPED - 8, 8, code, code_protections[_i]);
	expect_operand(code + MAPPED - 9, 8, code, code_protections[_i]);
}

#ifdef __x86_64__
/* mov rax, imm64 */
LIVE void
put_instruction(char *place, uintptr_t hidden)
{
	place[0] = 0x48;
	place[1] = (char)0xb8;
	put_operand(place + 2, hidden, 8);
}

static const int written_protections[] = { RW, PROT_READ };

/* While it is written no page of it may be executable. */
TEST_LOOP(generated_code_being_written, 0, 2)
{
	char *code = map(RW, PRIVATE, -1);
	uintptr_t block = block_new(72);
	size_t offset;

	for (offset = PAGE - 10; offset <= PAGE; offset++) {
		put_instruction(code + offset, block);
		ck_assert_int_eq(
		    mprotect(code, MAPPED, written_protections[_i]), 0);
		EXPECT_LEAKS(0);
		ck_assert_int_eq(mprotect(code, MAPPED, RW), 0);
		memset(code + offset, 0, 10);
	}
	EXPECT_LOST(block);
	block_free(block);
}
#endif

/* An operand that begins in one mapping and ends in the next. */
TEST(code_across_mappings)
{
	char *code = map(RW, PRIVATE, -1);
	uintptr_t block = block_new(72);

	put_operand(code + MAPPED / 2 - 5, block, 8);
	ck_assert_int_eq(mprotect(code, MAPPED / 2, PROT_READ | PROT_EXEC), 0);
	ck_assert_int_eq(
	    mprotect(code + MAPPED / 2, MAPPED / 2, RW | PROT_EXEC), 0);
	EXPECT_LEAKS(0);
	munmap(code, MAPPED);
	EXPECT_LOST(block);
}

/* Written by one name, run by another: no page is ever both. */
TEST_LOOP(code_of_two_mappings, 0, 2)
{
	int fd = memfd_create("doublemapper", MFD_CLOEXEC);
	uintptr_t block = block_new(72);
	char *code, *place;

	ck_assert_int_eq(ftruncate(fd, MAPPED), 0);
	code = map(RW, MAP_SHARED, fd);
	place =
	    map(PROT_READ | PROT_EXEC, _i == 0 ? MAP_SHARED : MAP_PRIVATE, fd);
	put_operand(code + PAGE + 3, block, 8);
	EXPECT_LEAKS(0);
	munmap(code, MAPPED);
	EXPECT_LEAKS(0);
	munmap(place, MAPPED);
	EXPECT_LOST(block);
	close(fd);
}

/*
 * A block of the arena, one too long to be searched at once, and an mmapped
 * one.
 */
static const size_t code_sizes[] = { 2 * PAGE, 20 * PAGE, 300 * PAGE };

LIVE void
put_in_block(uintptr_t code, size_t at, uintptr_t hidden)
{
	put_operand((char *)mu_reveal(code) + at, hidden, 8);
}

LIVE void
close_block(uintptr_t code, size_t size, int protection)
{
	ck_assert_int_eq(mprotect(mu_reveal(code), size, protection), 0);
}

LIVE void
expect_entries(uintptr_t first, size_t leaks, size_t entries)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t i;
	bool seen = false;

	scrub();
	GetUnreachableMemory(&info, 100);
	show(&info);
	for (i = 0; i < info.num_reported; i++)
		seen |= info.leaks[i].begin == ~first;
	ck_assert(seen);
	ck_assert_uint_eq(info.num_leaks, leaks);
	ck_assert_uint_eq(info.num_reported, entries);
	FreeUnreachableMemoryInfo(&info);
}

/* Memory from malloc that became code, as small JIT compilers do. */
TEST_LOOP(code_in_blocks, 0, 9)
{
	size_t size = code_sizes[_i / 3];
	int protection = code_protections[_i % 3];
	uintptr_t code, next, block = block_new(72);

	code = mu_hide(block_fresh(PAGE, size));
	next = mu_hide(block_fresh(PAGE, size));
	put_in_block(code, size / 2 + 3, next);
	put_in_block(next, size - 9, block);
	put(&global, code);
	EXPECT_LEAKS(2);
	close_block(code, size, protection);
	EXPECT_LEAKS(1);
	close_block(next, size, protection);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(memunreachable_why_reachable(
			     mu_reveal(block), print_reference, "code: "),
	    1);
	drop(&global);
	/* One entry; the others hang on it. */
	expect_entries(code, 3, 1);
	close_block(code, size, RW);
	put_in_block(code, size / 2 + 3, 0);
	close_block(code, size, protection);
	expect_entries(code, 3, 2);
	close_block(code, size, RW);
	close_block(next, size, RW);
}

/* Elsewhere words are aligned. */
TEST(no_code)
{
	char *data = map(RW, PRIVATE, -1);
	uintptr_t block = block_new(72);

	put_operand(data + 3, block, 8);
	EXPECT_LOST(block);
	ck_assert_int_eq(mprotect(data, MAPPED, RW | PROT_EXEC), 0);
	EXPECT_LEAKS(0);
}
