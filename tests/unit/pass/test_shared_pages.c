/* How much of the memory that a copy shares is read in the stop. */
#include "heapwalk/memory/available.h"
#include "lib/helpers/shared_pages.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

#define MIB ((size_t)1 << 20)
#define MUCH (800 * MIB) /* more pages than a table of single pages had */
#define VIEWS 3

static struct mu_arena arena;

static void
list(struct mu_shared_pages *pages)
{
	*pages = (struct mu_shared_pages) {
		.tid = getpid(),
		.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
		.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.arena = &arena,
	};
	ck_assert(pages->memory >= 0 && pages->pagemap >= 0);
	mu_shared_pages_list(pages, getpid());
}

/* A file that is mapped more than once, and touched in all of its views. */
static void
map_views(char **views, size_t size)
{
	int fd = memfd_create("views", MFD_CLOEXEC);
	size_t i, at;

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	for (i = 0; i < VIEWS; i++) {
		views[i] =
		    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		ck_assert_ptr_ne(views[i], MAP_FAILED);
		for (at = 0; at < size; at += 4096)
			views[i][at] = 1;
	}
	close(fd);
}

static void
unmap_views(char **views, size_t size)
{
	size_t i;

	for (i = 0; i < VIEWS; i++)
		munmap(views[i], size);
}

/* Each page once, and none is left out, however many there are. */
TEST_LOOP(pages_once, 0, 2)
{
	size_t size = _i == 0 ? MIB : MUCH, available = SIZE_MAX;
	struct mu_shared_pages before, pages;
	char *views[VIEWS];

	mu_available(&available, NULL);
	if (available < 2 * size) {
		printf("SKIPPED: pages_once: less than %zu MiB of memory\n",
		    2 * size / MIB);
		return;
	}
	mu_arena_open(&arena, 512 * MIB);
	list(&before);
	map_views(views, size);
	list(&pages);
	ck_assert_uint_eq(mu_shared_pages_expect(&pages, SIZE_MAX),
	    size + mu_shared_pages_expect(&before, SIZE_MAX));
	ck_assert_uint_eq(mu_shared_pages_expect(&pages, MIB / 2), MIB / 2);
	/* Without time or room everything is only listed, after the stop. */
	mu_shared_pages_take(&before, 0, 0);
	mu_shared_pages_take(&pages, 0, 0);
	ck_assert_uint_le(pages.changing, MIB);
	mu_shared_pages_take_rest(&before);
	mu_shared_pages_take_rest(&pages);
	ck_assert_uint_eq(pages.unasked, 0);
	ck_assert_uint_eq(pages.taken, 0);
	ck_assert_uint_eq(pages.changing, size + before.changing);
	unmap_views(views, size);
	close(before.memory);
	close(before.pagemap);
	close(pages.memory);
	close(pages.pagemap);
	mu_arena_close(&arena);
}

#define LARGE (64 * MIB)
#define LITTLE (16 * MIB) /* is read before a rate is known */

/* The part of EXPECTED bytes that is read in a stop that may take SPAN ns. */
static size_t
taken_of(size_t expected, uint64_t span)
{
	struct mu_shared_pages pages;
	uint64_t end_ns;
	char *views[VIEWS];
	size_t i, listed = 0;

	mu_arena_open(&arena, 512 * MIB);
	map_views(views, LARGE);
	list(&pages);
	pages.limit = SIZE_MAX / 2;
	pages.expected = expected;
	end_ns = mu_sys_now_ns() + span;
	mu_shared_pages_take(&pages, end_ns, end_ns);
	mu_shared_pages_take_rest(&pages);
	ck_assert_uint_ge(pages.taken + pages.changing, LARGE);
	for (i = 0; i < pages.num_parts; i++)
		listed += mu_range_size(pages.parts[i].range);
	ck_assert_uint_eq(listed, pages.taken + pages.changing);
	unmap_views(views, LARGE);
	close(pages.memory);
	close(pages.pagemap);
	mu_arena_close(&arena);
	return pages.taken;
}

/* Small mappings are read in any case, before a large one for which it ends. */
TEST(small_ones_first)
{
	enum { SMALL_ONES = 10, SMALL_SIZE = 3 << 20 };
	size_t size = 3 * LARGE, i;
	uint64_t end_ns;
	struct mu_shared_pages pages;
	char *at[SMALL_ONES + 1];

	mu_arena_open(&arena, 512 * MIB);
	for (i = 0; i <= SMALL_ONES; i++) {
		at[i] = mmap(NULL, i == 0 ? size : SMALL_SIZE,
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(at[i], MAP_FAILED);
		memset(at[i], 'x', i == 0 ? size : SMALL_SIZE);
	}
	list(&pages);
	pages.limit = SIZE_MAX / 2;
	pages.expected = (size_t)1 << 50;
	end_ns = mu_sys_now_ns() + 100 * MU_NS_PER_SEC;
	mu_shared_pages_take(&pages, end_ns, end_ns);
	mu_shared_pages_take_rest(&pages);
	ck_assert_uint_ge(pages.taken, SMALL_ONES * SMALL_SIZE);
	ck_assert_uint_le(pages.taken, SMALL_ONES * SMALL_SIZE + 2 * LITTLE);
	ck_assert_uint_ge(pages.changing, size - 2 * LITTLE);
	for (i = 0; i <= SMALL_ONES; i++)
		munmap(at[i], i == 0 ? size : SMALL_SIZE);
	close(pages.memory);
	close(pages.pagemap);
	mu_arena_close(&arena);
}

/* What cannot be read in time is not begun. */
TEST(foreseen)
{
	ck_assert_uint_ge(taken_of(0, 100 * MU_NS_PER_SEC), LARGE);
	ck_assert_uint_ge(taken_of(LARGE, 100 * MU_NS_PER_SEC), LARGE);
	ck_assert_uint_le(
	    taken_of((size_t)1 << 50, 100 * MU_NS_PER_SEC), 2 * LITTLE);
}

static void
close_all(struct mu_shared_pages *pages)
{
	close(pages->memory);
	close(pages->pagemap);
	mu_arena_close(&arena);
}

/* Read all of it, as in a stop that may last. */
static void
take_all(struct mu_shared_pages *pages, size_t kept)
{
	uint64_t end_ns = mu_sys_now_ns() + 100 * MU_NS_PER_SEC;

	pages->limit = SIZE_MAX / 2;
	pages->expected = mu_shared_pages_expect(pages, SIZE_MAX);
	mu_shared_pages_sift(pages, 1, kept);
	mu_shared_pages_take(pages, end_ns, end_ns);
	mu_shared_pages_take_rest(pages);
	ck_assert_uint_eq(pages->changing, 0);
	ck_assert_uint_eq(pages->unasked, 0);
}

static size_t
listed_in(const struct mu_shared_pages *pages, struct mu_range range)
{
	size_t i, listed = 0;

	for (i = 0; i < pages->num_parts; i++)
		listed += mu_range_size(
		    mu_range_common(pages->parts[i].range, range));
	return listed;
}

/* The part of the page at ADDRESS has its bytes. */
static bool
has_page(const struct mu_shared_pages *pages, const char *address)
{
	const struct mu_remote_part *part;
	uintptr_t at = (uintptr_t)address;
	size_t i;

	for (i = 0; i < pages->num_parts; i++) {
		part = &pages->parts[i];
		if (mu_range_has(part->range, at))
			return part->bytes != NULL &&
			    memcmp(part->bytes + (at - part->range.begin),
				address, 4096) == 0;
	}
	return false;
}

/*
 * Of much memory only pages are kept that have an address of the heap: one at
 * the begin of a piece, one at its end, two that are adjacent, the last. _i: of
 * a thread's stack, and where words may have tags, everything is.
 */
TEST_LOOP(sifted, 0, 3)
{
	static const size_t at[] = { 0, MIB - 4096, 40 * MIB, 40 * MIB + 4096,
		160 * MIB - 4096 };
	enum { COUNT = sizeof(at) / sizeof(at[0]) };
	size_t size = 160 * MIB, i;
	struct mu_shared_pages pages;
	struct mu_thread thread = { .tid = getpid() };
	struct mu_range range;
	char *memory, *block = malloc(100);

	mu_arena_open(&arena, (size_t)2 << 30);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	memset(memory, 'x', size);
	for (i = 0; i < COUNT; i++)
		memcpy(memory + at[i] + 4096 - (i + 1) * sizeof(block), &block,
		    sizeof(block));
	range.begin = (uintptr_t)memory;
	range.end = range.begin + size;
	list(&pages);
	thread.sp = range.begin + MIB;
	pages.threads = &thread;
	pages.num_threads = _i == 1 ? 1 : 0;
	pages.keep_all = _i == 2;
	take_all(&pages, 0);
	ck_assert_uint_ge(pages.taken, size);
	ck_assert_uint_eq(
	    listed_in(&pages, range), _i == 0 ? COUNT * 4096 : size);
	ck_assert_uint_eq(pages.kept, _i == 0 ? COUNT * 4096 : 0);
	for (i = 0; i < COUNT; i++)
		ck_assert(has_page(&pages, memory + at[i]));
	ck_assert(mu_sift_covers(&pages.sift,
	    (struct mu_range) { (uintptr_t)block, (uintptr_t)block + 100 }));
	munmap(memory, size);
	free(block);
	close_all(&pages);
}

/* Memory that was mapped after the listing is read, too. */
TEST(listed_again)
{
	struct mu_shared_pages pages;
	struct mu_range range;
	char *memory;

	mu_arena_open(&arena, 512 * MIB);
	list(&pages);
	memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	memset(memory, 'x', MIB);
	mu_shared_pages_relist(&pages);
	take_all(&pages, 0);
	range.begin = (uintptr_t)memory;
	range.end = range.begin + MIB;
	ck_assert_uint_eq(listed_in(&pages, range), MIB);
	munmap(memory, MIB);
	close_all(&pages);
}

static struct mu_mapping
at(uintptr_t begin, uintptr_t end, const char *name, bool shared)
{
	return (struct mu_mapping) {
		.range = { begin, end },
		.readable = true,
		.writable = true,
		.name = name,
		.shared = shared,
		.inode = shared ? 7 : 0,
	};
}

#define LOW 0x555555500000u
#define TOP 0x7ffff0000000u

/* Where malloc may have memory, and where a program's own mapping is. */
TEST(where_heaps_are)
{
	const struct mu_mapping mappings[] = {
		at(0x800000000, 0x840000000, "", false),
		at(0x40000000000, 0x40040000000, "/memfd:java_heap", true),
		at(LOW, LOW + MIB, "[heap]", false),
		at(TOP - 90 * MIB, TOP - 80 * MIB, "", false),
		at(TOP - MIB, TOP, "[stack]", false),
		at(0xffffffffff600000, 0xffffffffff601000, "[vsyscall]", false),
	};
	uintptr_t page[512] = { 0 };
	struct mu_sift sift;
	struct mu_range block = { LOW + 64, LOW + 128 };

	mu_sift_find(&sift, mappings, sizeof(mappings) / sizeof(mappings[0]));
	ck_assert(mu_sift_covers(&sift, block));
	block = (struct mu_range) { LOW + 2 * MIB, LOW + 3 * MIB };
	ck_assert(mu_sift_covers(&sift, block));
	block = (struct mu_range) { TOP - 300 * MIB, TOP - 200 * MIB };
	ck_assert(mu_sift_covers(&sift, block));
	block = (struct mu_range) { 0x800000000, 0x800001000 };
	ck_assert(!mu_sift_covers(&sift, block));
	ck_assert(!mu_sift_keeps(&sift, (char *)page, sizeof(page)));
	page[511] = 0x40000000010;
	page[7] = 0xffffffffff600000;
	ck_assert(!mu_sift_keeps(&sift, (char *)page, sizeof(page)));
	page[511] = LOW - 8; /* near, and not in it */
	ck_assert(!mu_sift_keeps(&sift, (char *)page, sizeof(page)));
	page[511] = LOW;
	ck_assert(mu_sift_keeps(&sift, (char *)page, sizeof(page)));
	page[511] = 0;
	page[0] = TOP - 85 * MIB;
	ck_assert(mu_sift_keeps(&sift, (char *)page, sizeof(page)));
	mu_sift_find(&sift, NULL, 0);
	ck_assert(!mu_sift_keeps(&sift, (char *)page, sizeof(page)));
}
