/*
 * What is read of mimalloc in another process, beside what a shim between the
 * program and mimalloc saw: block by block, with the sizes that mimalloc names.
 * And each of its structures, damaged, must be refused.
 */
#include "heapwalk/heaps/mimalloc/heap.h"
#include "heapwalk/heaps/mimalloc/mimalloc.h"
#include "tests/support/heaps/shimmed.h"
#include "tests/support/suite.h"

static struct shimmed test = { .ops = &mu_heap_mimalloc, .inside = true };

/* MIMALLOC names another build of it. */
static const char *
library(void)
{
	const char *given = getenv("MIMALLOC");
	static const char *const paths[] = {
		"/usr/lib/x86_64-linux-gnu/libmimalloc.so.2",
		"/usr/lib64/libmimalloc.so.2",
		"/usr/lib/x86_64-linux-gnu/libmimalloc.so.3",
		"/usr/lib64/libmimalloc.so.3"
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (given == NULL && access(paths[i], R_OK) == 0)
			given = paths[i];
	return given;
}

/* Returns false, and says so, if there is no mimalloc. */
static bool
start(const char *threads, const char *rounds, const char *fork_word)
{
	test.library = library();
	if (test.library == NULL) {
		printf("SKIPPED: no libmimalloc.so\n");
		return false;
	}
	shimmed_start(&test, threads, rounds, fork_word);
	printf("mimalloc %s\n", test.version);
	return true;
}

static void
stop(void)
{
	shimmed_stop(&test);
}

static void
must_be_right(void)
{
	shimmed_must_be_read(&test);
	shimmed_must_agree(&test);
	shimmed_end(&test);
}

static const struct {
	const char *threads, *rounds;
} churns[] = { { "1", "8000" }, { "2", "4000" }, { "8", "1000" },
	{ "64", "120" } };

TEST_LOOP(blocks_are_those_of_the_shim, 0, 4)
{
	if (start(churns[_i].threads, churns[_i].rounds, NULL))
		must_be_right();
}

/* Options of mimalloc that change what its structures hold. */
static const char *const options[] = { "EAGER_COMMIT", "PAGE_RESET",
	"ABANDONED_PAGE_DECOMMIT", "ABANDONED_PAGE_RESET", "DECOMMIT_DELAY",
	"PURGE_DELAY", "ALLOW_DECOMMIT", "RESERVE_OS_MEMORY",
	"EAGER_COMMIT_DELAY", "ARENA_EAGER_COMMIT", "DISALLOW_ARENA_ALLOC",
	"ABANDONED_RECLAIM_ON_FREE", "PURGE_DECOMMITS",
	"TARGET_SEGMENTS_PER_THREAD", "PAGE_FULL_RETAIN", "PAGEMAP_COMMIT",
	"PAGE_COMMIT_ON_DEMAND", "PAGE_RECLAIM_ON_FREE", "VISIT_ABANDONED",
	"MAX_VABITS" };

/* Each is set to what it is not by default. */
TEST_LOOP(with_options, 0, sizeof(options) / sizeof(*options))
{
	static const struct {
		const char *name, *value;
	} values[] = { { "EAGER_COMMIT", "0" }, { "DECOMMIT_DELAY", "0" },
		{ "PURGE_DELAY", "0" }, { "ALLOW_DECOMMIT", "0" },
		{ "RESERVE_OS_MEMORY", "200000" },
		{ "EAGER_COMMIT_DELAY", "4" }, { "PURGE_DECOMMITS", "0" },
		{ "TARGET_SEGMENTS_PER_THREAD", "2" },
		{ "PAGE_FULL_RETAIN", "-1" }, { "MAX_VABITS", "48" } };
	const char *value = "1";
	char name[64];
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (strcmp(values[i].name, options[_i]) == 0)
			value = values[i].value;
	snprintf(name, sizeof(name), "MIMALLOC_%s", options[_i]);
	setenv(name, value, 1);
	if (start("3", "300", NULL))
		must_be_right();
}

/* A child has the pages of threads that it does not have. */
TEST_LOOP(a_fork, 0, 2)
{
	if (start(_i == 0 ? "0" : "4", _i == 0 ? "8000" : "300", "fork"))
		must_be_right();
}

/* Addresses of a page with used and free blocks, and of what it belongs to. */
struct places {
	struct mu_mimalloc mi;
	const struct mu_mi_layout *layout;
	uintptr_t heap, tld, page, segment, free;
};

static uintptr_t
word_at(uintptr_t address)
{
	return shimmed_word(&test, address);
}

static void
find_places(struct places *at)
{
	const struct mu_mimalloc *mi = test.member.state;
	uintptr_t queue;
	size_t i;

	at->mi = *mi;
	at->layout = mi->layout;
	at->heap = mi->main;
	if (at->layout->tld_backing == 0)
		at->heap = word_at(mi->main + MU_MI3_HEAP_HEAPS);
	at->tld = word_at(at->heap);
	queue = at->heap + at->layout->queues;
	for (i = 0; i < MU_MI_QUEUES; i++, queue += at->layout->queue_size) {
		at->page = word_at(queue);
		at->segment = at->page & ~(uintptr_t)(MU_MI_SEGMENT - 1);
		if (at->page == 0)
			continue;
		at->free = word_at(at->page +
		    (mu_mi_has_arenas(at->layout) ? MU_MI3_PAGE_FREE
						  : MU_MI_PAGE_FREE));
		if (at->free != 0 &&
		    (uint16_t)word_at(at->page + at->layout->used) != 0)
			return;
	}
	ck_abort_msg("no page with used and free blocks");
}

/* A process whose heap is right, and what may be damaged of it. */
static bool
start_damaged(struct places *at)
{
	if (!start("0", "8000", NULL))
		return false;
	shimmed_must_be_read(&test);
	find_places(at);
	shimmed_end(&test);
	return true;
}

static void
damage(const struct places *at)
{
	const struct mu_mi_layout *layout = at->layout;
	const struct shimmed_damage damages[] = {
		{ at->page, 1 },                            /* slices */
		{ at->page, 1ull << 40 },                   /* their offset */
		{ at->page + MU_MI_PAGE_WORD, 1 << 16 },    /* capacity */
		{ at->page + MU_MI_PAGE_WORD, 1ull << 32 }, /* reserved */
		{ at->page + MU_MI_PAGE_FREE, 1 },
		{ at->page + MU_MI_PAGE_FREE, 1ull << 40 },
		{ at->segment + layout->segment_used, 1 },
		{ at->segment + layout->segment_abandoned, 1ull << 40 },
		{ at->segment + layout->segment_cookie, 1 },
		{ at->segment + layout->segment_slices, 1ull << 40 },
		{ at->segment + layout->segment_slices, MU_MI_SLICES },
		{ at->segment + layout->segment_info, 2 },
		{ at->segment + layout->segment_entries, 1 },
		{ at->segment + layout->segment_thread, 64 },
		{ at->heap + layout->heap_thread, 64 },
		{ at->heap + layout->heap_cookie, 1 },
		{ at->heap + layout->delayed_free, 64 },
		{ at->tld + layout->tld_backing, 64 },
	};
	shimmed_must_be_refused(
	    &test, damages, sizeof(damages) / sizeof(*damages));
}

/* The word of the map for the page with the blocks at START. */
static uintptr_t
place_in_map(const struct mu_mimalloc *mi, uintptr_t start)
{
	uintptr_t part = word_at(
	    mi->map.begin + (start >> MU_MI3_MAP_SHIFT) * sizeof(start));

	return part +
	    start % (1ull << MU_MI3_MAP_SHIFT) / MU_MI_SLICE * sizeof(start);
}

/* The same of mimalloc 3. */
static void
damage_3(const struct places *at)
{
	const struct mu_mimalloc *mi = &at->mi;
	const struct mu_mi_layout *layout = at->layout;
	uintptr_t memid = at->page + layout->page_memid, arena = word_at(memid);
	uintptr_t map = place_in_map(mi, at->free);
	const struct shimmed_damage damages[] = {
		{ at->page, 64 },                        /* thread */
		{ at->page, word_at(at->page) },         /* none */
		{ at->page + layout->used, 1 << 16 },    /* capacity */
		{ at->page + layout->used, 1ull << 47 }, /* reserved */
		{ at->page + MU_MI3_PAGE_FREE, 1 },
		{ at->page + MU_MI3_PAGE_FREE, 1ull << 40 },
		{ at->page + layout->page_start, 1 },
		{ at->page + layout->page_start, 1ull << 24 },
		{ memid, MU_MI_SLICE },
		{ memid + MU_MI3_MEMID_INDEX, 1 },
		{ memid + MU_MI3_MEMID_INDEX, 1ull << 62 }, /* count */
		{ memid + MU_MI3_MEMID_KIND, 1 },
		{ memid + MU_MI3_MEMID_KIND, 2 },
		{ arena + MU_MI3_ARENA_SUBPROC, 64 },
		{ arena + layout->arena_slices, 1ull << 40 },
		{ arena + layout->arena_slices + 8, 1ull << 12 },
		{ map, 8 },
		{ map, word_at(map) },
		{ map + 8, word_at(map) ^ word_at(map + 8) ^ 64 },
		{ mi->map.begin, 4096 },
		{ mi->subproc + layout->subproc_arenas, MU_MI_SLICE },
		{ mi->subproc + layout->subproc_arenas, arena },
		{ at->tld, 64 },
	};
	shimmed_must_be_refused(
	    &test, damages, sizeof(damages) / sizeof(*damages));
}

TEST(damage_is_refused)
{
	struct places at;

	if (!start_damaged(&at))
		return;
	const struct mu_mi_layout *layout = at.layout;
	const struct shimmed_damage damages[] = {
		{ at.page + layout->local_free, 64 },
		{ at.page + layout->thread_free, 64 },
		{ at.page + layout->used, 1 },
		{ at.page + layout->heap, 64 },
		{ at.page + layout->block_size, 8 },
		{ at.free, 1 },
		{ at.free, 1ull << 40 },
		{ at.heap, 64 },
		{ at.heap + layout->heap_pages, 1 },
		{ at.heap + layout->heap_next, 64 },
		{ at.heap + layout->heap_next, at.heap },
		{ at.tld + layout->tld_heaps, 64 },
		{ at.tld + layout->tld_heaps,
		    word_at(at.tld + layout->tld_heaps) },
	};
	shimmed_must_be_refused(
	    &test, damages, sizeof(damages) / sizeof(*damages));
	if (mu_mi_has_arenas(layout))
		damage_3(&at);
	else
		damage(&at);
	must_be_right();
}

/* The header of free slices of the segment. */
static uintptr_t
find_free_slices(const struct places *at)
{
	const struct mu_mi_layout *layout = at->layout;
	uintptr_t slice, size;
	size_t i = word_at(at->segment + layout->segment_info), count;

	for (; i < MU_MI_SLICES; i += count) {
		slice = at->segment + layout->slices + i * layout->page_size;
		size = word_at(slice + layout->block_size);
		count = (uint32_t)word_at(slice);
		ck_assert_uint_gt(count, 0);
		if (mu_mi_is_narrow(layout) ? (uint32_t)size == 0 : size == 0)
			return slice;
	}
	ck_abort_msg("no free slices");
}

/*
 * A thread was stopped while memory for a page was committed: the slices are
 * those of a page, which is not counted yet.
 */
TEST(a_page_that_is_made)
{
	uintptr_t slices, word;
	struct places at;

	if (!start_damaged(&at) || mu_mi_has_arenas(at.layout))
		return;
	slices = find_free_slices(&at) + at.layout->block_size;
	word = word_at(slices);
	shimmed_set(&test, slices, word | 1);
	must_be_right();
	shimmed_set(&test, slices, word);
}

/* A list of freed blocks that returns to where it was. */
TEST(a_list_without_end_is_refused)
{
	struct places at;

	if (!start_damaged(&at))
		return;
	const struct shimmed_damage damage = { at.free,
		word_at(at.free) ^ at.free };
	shimmed_must_be_refused(&test, &damage, 1);
}

/* Read the heap again, with the lines of /proc/PID/maps as they were changed.
 */
static enum mu_status
read_again(void)
{
	test.heap = (struct mu_heap) { .transient = false };
	mu_blocks_open(&test.heap.blocks, &test.arena);
	mu_ranges_open(&test.heap.owned, &test.arena);
	return test.ops->list(&test.heap, &test.member, &test.keeper.snap,
	    &test.arena, &test.why);
}

/*
 * MAP_HUGETLB memory, as /proc/PID/maps has it: hugetlb_file_setup() gives it a
 * file. That needs pages which the machine sets aside, so the lines are
 * changed.
 */
TEST(huge_pages)
{
	struct mu_mapping *mapping;
	struct places at;

	if (!start_damaged(&at))
		return;
	ck_assert_int_eq(shimmed_read(&test), MU_OK);
	mapping = (struct mu_mapping *)mu_snapshot_mapping(
	    &test.keeper.snap, at.free);
	ck_assert_ptr_nonnull(mapping);
	mapping->inode = 7;
	mapping->name = "/anon_hugepage (deleted)";
	ck_assert_msg(read_again() == MU_OK, "%s", test.why.text);
	shimmed_must_agree(&test);
	shimmed_end(&test);
}

/* As of mi_manage_os_memory(): no page of the program's only heap is found. */
TEST(shared_memory_is_refused)
{
	struct mu_mapping *mapping, *end;
	struct places at;

	if (!start_damaged(&at))
		return;
	ck_assert_int_eq(shimmed_read(&test), MU_OK);
	mapping = test.keeper.snap.mappings;
	end = mapping + test.keeper.snap.num_mappings;
	for (; mapping < end; mapping++)
		mapping->shared = true;
	ck_assert_int_eq(read_again(), MU_ERR_HEAP_INCONSISTENT);
	printf("%s\n", test.why.text);
	shimmed_end(&test);
}

/* The only page that could tell the release has blocks of 0 bytes. */
TEST(blocks_without_size)
{
	uintptr_t queue, page = 0;
	struct places at;
	size_t i;

	if (!start_damaged(&at) || mu_mi_has_arenas(at.layout))
		return;
	for (i = 1; i < MU_MI_QUEUES - 2; i++) {
		queue = at.heap + at.layout->queues + i * at.layout->queue_size;
		if (i >= 10 && page == 0)
			page = word_at(queue);
		if (page == 0 || page != word_at(queue)) {
			shimmed_set(&test, queue, 0);
			continue;
		}
		shimmed_set(&test, queue + mu_mi_queue_block(at.layout), 0);
		shimmed_set(&test, page + at.layout->block_size, 0);
	}
	ck_assert_uint_ne(page, 0);
	ck_assert_int_ne(shimmed_read(&test), MU_OK);
	shimmed_end(&test);
}

/* Any words, and what others hold: whatever is read of that, it ends. */
TEST(any_damage)
{
	size_t count = suite_rounds("TESTS_PASSES", 20);
	struct places at;

	if (!start_damaged(&at))
		return;
	const struct mu_mi_layout *layout = at.layout;
	const struct mu_mimalloc *mi = &at.mi;
	bool arenas = mu_mi_has_arenas(layout);
	uintptr_t info =
	    arenas ? word_at(at.page + layout->page_memid) : at.segment;
	uintptr_t map = arenas ? place_in_map(mi, at.free) : at.page;
	const struct mu_range ranges[] = {
		{ info, info + (arenas ? 512 : layout->slices) },
		{ info,
		    info +
			(arenas ? 65536
				: layout->slices + 16 * layout->page_size) },
		{ at.page, at.page + layout->page_size },
		{ at.heap, at.heap + layout->queues },
		{ at.heap, at.heap + 512 },
		{ at.tld, at.tld + 64 },
		{ at.free & ~(uintptr_t)0xfff, (at.free | 0xfff) + 1 },
		{ map, map + 64 },
		{ arenas ? mi->subproc : at.heap,
		    (arenas ? mi->subproc : at.heap) + 512 },
	};
	shimmed_damage_any(
	    &test, ranges, sizeof(ranges) / sizeof(*ranges), count);
	must_be_right();
}

SUITE(.teardown = stop);
