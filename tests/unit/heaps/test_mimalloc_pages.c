/*
 * Pages of mimalloc 3 that are made by hand, as release 3.4 has them: one of a
 * thread, one that is abandoned, and one outside of the arena. What is read of
 * releases as they are: test_mimalloc (live).
 */
#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/mimalloc/mimalloc.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

#define SLICES 512
#define THREAD 0x1000
#define OWN 4        /* slices */
#define ABANDONED 64 /* beyond the first word of the bitmap */
#define HUGE_BYTES ((size_t)2 << 20)

static const struct mu_mi_layout layout = {
	.page_size = 112,
	.local_free = 24,
	.used = 16,
	.block_size = 40,
	.page_start = 48,
	.thread_free = 32,
	.heap = 56,
	.starts = MU_MI_STARTS_WORDS,
	.queues = 1312,
	.queue_size = 32,
	.heap_pages = 184,
	.heap_next = 232,
	.tld_heaps = 32,
	.page_memid = 88,
	.subproc_arenas = 32,
	.subproc_count = 24,
	.arena_slices = 40,
	.arena_meta = 136,
};

static uintptr_t subproc[256], heap[1024], theap[1024], tld[16];
static uintptr_t bits[(MU_MI3_BITMAP_CHUNKS + SLICES / 8) / 8], bitmaps[1];
static char *arena, *alone, *map;
static struct mu_mimalloc mi = { .layout = &layout };
static struct mu_snapshot snap;
static struct mu_heap result;
static struct mu_why why;

/*
 * SIZE bytes at a multiple of a slice, above 512 MiB: below that no page is
 * searched, and Valgrind has memory there.
 */
static char *
map_slices(size_t size)
{
	static uintptr_t next = (uintptr_t)1 << 40;
	char *at = mmap((void *)next, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
	    -1, 0);

	ck_assert_ptr_eq(at, (char *)next);
	next += (size + MU_MI_SLICE) & ~(MU_MI_SLICE - 1);
	return at;
}

static uintptr_t *
word(const void *at, size_t offset)
{
	return (uintptr_t *)((uintptr_t)at + offset);
}

static void
set_u16(const void *at, size_t offset, uint16_t value)
{
	memcpy((void *)((uintptr_t)at + offset), &value, sizeof(value));
}

/* The place in the map for ADDRESS, whose part is made if it is not there. */
static uintptr_t *
place(const void *address)
{
	uintptr_t at = (uintptr_t)address;
	uintptr_t *part = word(map, (at >> MU_MI3_MAP_SHIFT) * 8);

	if (*part == 0)
		*part = (uintptr_t)map_slices(MU_MI3_MAP_PART);
	return word((void *)*part,
	    at % ((uintptr_t)1 << MU_MI3_MAP_SHIFT) / MU_MI_SLICE * 8);
}

/* A page whose blocks of SIZE bytes begin at START. */
static void
make_page(const char *header, const char *start, size_t size, uint16_t capacity,
    uint16_t used)
{
	*word(header, layout.block_size) = size;
	*word(header, layout.page_start) = (size_t)(start - header) / 8;
	set_u16(header, layout.used, used);
	set_u16(header, MU_MI3_PAGE_CAPACITY, capacity);
	set_u16(header, MU_MI3_PAGE_RESERVED, capacity);
	*place(start) = (uintptr_t)header;
}

static const char *
make_arena_page(size_t slice, size_t count)
{
	const char *header = arena + MU_MI_SLICE + slice * layout.page_size;

	*word(header, layout.page_memid) = (uintptr_t)arena;
	*word(header, layout.page_memid + MU_MI3_MEMID_INDEX) =
	    slice | count << 32;
	*word(header, layout.page_memid + MU_MI3_MEMID_KIND) = MU_MI3_MEM_ARENA;
	bits[MU_MI3_BITMAP_CHUNKS / 8 + slice / 64] |= 1ull << slice % 64;
	return header;
}

static void
belongs(const char *header)
{
	*word(header, 0) = THREAD | 2;
	*word(header, layout.heap) = (uintptr_t)theap;
	theap[layout.heap_pages / 8]++;
}

/* Ten blocks: 1 and 3 are free, 5 was freed just now, 7 by another thread. */
static void
make_own(void)
{
	const char *header = make_arena_page(OWN, 1);
	const char *start = arena + OWN * MU_MI_SLICE + 64;

	make_page(header, start, 64, 10, 7);
	belongs(header);
	*word(header, MU_MI3_PAGE_FREE) = (uintptr_t)start + 64;
	*word(start, 64) = (uintptr_t)start + 3 * 64;
	*word(header, layout.local_free) = (uintptr_t)start + 5 * 64;
	*word(header, layout.thread_free) = ((uintptr_t)start + 7 * 64) | 1;
}

static void
make_alone(void)
{
	size_t size = HUGE_BYTES + MU_MI_SLICE;

	alone = map_slices(size);
	*word(alone, layout.page_memid) = (uintptr_t)alone;
	*word(alone, layout.page_memid + MU_MI3_MEMID_SIZE) = size;
	*word(alone, layout.page_memid + MU_MI3_MEMID_KIND) = MU_MI3_MEM_OS;
	make_page(alone, alone + 112, HUGE_BYTES, 1, 1);
	belongs(alone);
}

static void
setup(void)
{
	image_setup();
	memset(bits, 0, sizeof(bits));
	memset(heap, 0, sizeof(heap));
	memset(theap, 0, sizeof(theap));
	arena = map_slices(SLICES * MU_MI_SLICE);
	map = map_slices(MU_MI3_MAP_MAX);
	*word(arena, MU_MI3_ARENA_SUBPROC) = (uintptr_t)subproc;
	*word(arena, layout.arena_slices) = SLICES;
	*word(arena, layout.arena_slices + 8) = OWN;
	*word(arena, layout.arena_meta) = (uintptr_t)arena + MU_MI_SLICE;
	subproc[layout.subproc_count / 8] = 1;
	subproc[layout.subproc_arenas / 8] = (uintptr_t)arena;
	subproc[MU_MI3_SUBPROC_MAIN / 8] = (uintptr_t)heap;
	subproc[MU_MI3_SUBPROC_HEAPS / 8] = (uintptr_t)heap;
	heap[0] = (uintptr_t)subproc;
	heap[MU_MI3_HEAP_HEAPS / 8] = (uintptr_t)theap;
	heap[MU_MI3_HEAP_ARENA_PAGES / 8] = (uintptr_t)bitmaps;
	bitmaps[0] = (uintptr_t)bits;
	theap[0] = (uintptr_t)tld;
	tld[0] = THREAD;
	tld[layout.tld_heaps / 8] = (uintptr_t)theap;
	make_own();
	make_page(make_arena_page(ABANDONED, 8),
	    arena + ABANDONED * MU_MI_SLICE, 98304, 5, 5);
	make_alone();
	mi.main = (uintptr_t)heap;
	mi.subproc = (uintptr_t)subproc;
	mi.map = (struct mu_range) { (uintptr_t)map,
		(uintptr_t)map + MU_MI3_MAP_MAX };
	snap = (struct mu_snapshot) { .pid = getpid() };
}

static enum mu_status
read_heap(void)
{
	struct mu_heap_member member = { .ops = &mu_heap_mimalloc,
		.state = &mi };

	image_open(&snap);
	result = (struct mu_heap) { .transient = false };
	why.text[0] = '\0';
	mu_blocks_open(&result.blocks, &image.arena);
	mu_ranges_open(&result.owned, &image.arena);
	return mu_heap_mimalloc.list(
	    &result, &member, &snap, &image.arena, &why);
}

/* Bytes of the live block with ADDRESS; 0: there is none. */
static size_t
block_with(const char *address)
{
	struct mu_block block;

	return mu_blocks_find(&result.blocks, (uintptr_t)address, &block)
	    ? mu_range_size(block.range)
	    : 0;
}

TEST(blocks)
{
	const char *start = arena + OWN * MU_MI_SLICE + 64;
	size_t i;

	ck_assert_msg(read_heap() == MU_OK, "%s", why.text);
	ck_assert_uint_eq(result.blocks.count, 6 + 5 + 1);
	for (i = 0; i < 10; i++)
		ck_assert_uint_eq(block_with(start + i * 64 + 63),
		    i % 2 == 1 && i < 9 ? 0 : 64);
	ck_assert_uint_eq(block_with(start - 1), 0);
	ck_assert_uint_eq(
	    block_with(arena + ABANDONED * MU_MI_SLICE + 98304), 98304);
	ck_assert_uint_eq(block_with(alone + HUGE_BYTES), HUGE_BYTES);
	ck_assert(mu_ranges_has(&result.owned, (uintptr_t)arena));
	ck_assert(mu_ranges_has(&result.owned, (uintptr_t)alone));
	ck_assert(mu_ranges_has(&result.owned, (uintptr_t)place(alone)));
}

/* Another thread is about to make a page, whose bit it has set. */
TEST(a_page_that_is_made)
{
	struct mu_thread thread = { .tid = 1 };

	snap.threads = &thread;
	snap.num_threads = 1;
	make_arena_page(OWN + 1, 1);
	ck_assert_msg(read_heap() == MU_OK, "%s", why.text);
	thread.calling = true;
	ck_assert_int_eq(read_heap(), MU_ERR_HEAP_INCONSISTENT);
}

/* A reading that is not right, for a reason with WORDS. */
static void
must_be_refused(uintptr_t *at, uintptr_t value, const char *words)
{
	uintptr_t old = *at;

	*at = value;
	ck_assert_int_eq(read_heap(), MU_ERR_HEAP_INCONSISTENT);
	ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
	*at = old;
}

TEST(what_is_missing)
{
	const char *full = arena + MU_MI_SLICE + ABANDONED * layout.page_size;

	must_be_refused(place(arena + ABANDONED * MU_MI_SLICE), 0,
	    "another number of pages than heaps");
	must_be_refused(place(alone), 0, "pages that were not found");
	must_be_refused(&bits[MU_MI3_BITMAP_CHUNKS / 8 + 1], 0,
	    "an arena that does not know it");
	must_be_refused(&heap[MU_MI3_HEAP_ARENA_PAGES / 8], 0,
	    "an arena that does not know it");
	must_be_refused(&subproc[layout.subproc_arenas / 8], 0,
	    "an arena that is not listed");
	must_be_refused(
	    &theap[layout.heap_pages / 8], 1, "another number of pages");
	must_be_refused(&tld[0], THREAD + 8, "pages of another thread");
	must_be_refused(word(full, MU_MI3_PAGE_HEAP), (uintptr_t)theap,
	    "an arena that does not know it");
	must_be_refused(word(full, 0), THREAD, "a thread, but no heap");
	must_be_refused(word(full, layout.page_memid + MU_MI3_MEMID_INDEX),
	    ABANDONED | (uintptr_t)4 << 32, "an impossible size");
	must_be_refused(place(arena + (ABANDONED + 8) * MU_MI_SLICE),
	    *place(arena + OWN * MU_MI_SLICE), "slices of another page");
	ck_assert_msg(read_heap() == MU_OK, "%s", why.text);
}

/* A list of heaps that has no end. */
TEST(heaps_without_end)
{
	must_be_refused(&heap[MU_MI3_HEAP_NEXT / 8], (uintptr_t)heap,
	    "another place in its list");
}

SUITE(.setup = setup, .teardown = image_teardown);
