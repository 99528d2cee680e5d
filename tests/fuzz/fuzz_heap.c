/*
 * The reader of glibc's heap on a damaged heap, and everything that uses its
 * list: no fault, no access outside the subject's memory, no endless loop, no
 * block outside that memory, no overlapping blocks.
 *
 * Input: flags (exact views, no list of written pages, how many entries, memory
 * that is not in place), the release of glibc that is claimed (0: the right
 * one), which allocation fails (0: none), then steps of damage
 * (tests/support/fuzz/fuzz_heap_damage.h).
 */
#include "heapwalk/fold/fold.h"
#include "heapwalk/heaps/table/table.h"
#include "heapwalk/mark/mark.h"
#include "heapwalk/refer/referrers.h"
#include "tests/support/fuzz/fuzz_heap_damage.h"
#include "tests/support/graph/packed_bytes.h"

#define EXACT 1
#define BLIND 2
#define FEW 4
#define UNALIGNED 8
#define APART 16

static struct fuzz_heap heap;
static struct fuzz_damage damage;

static const struct mu_memory_ops memory_ops = {
	.name = "copy",
	.view = fuzz_view,
	.populated = fuzz_populated,
};

/* Chains are walked in a buffer, and notes are made for the lists. */
static const struct mu_memory_ops apart_ops = {
	.name = "copy, apart",
	.view = fuzz_view,
	.read = fuzz_read,
	.populated = fuzz_populated,
};

/* Begin with a snapshot that is not damaged. */
static void
open_snapshot(void)
{
	heap.snap = heap.self.snap;
	memcpy(damage.mappings, heap.mappings, sizeof(heap.mappings));
	memcpy(damage.threads, heap.threads, sizeof(heap.threads));
	memcpy(damage.registers, heap.registers, sizeof(heap.registers));
	heap.snap.mappings = damage.mappings;
	heap.snap.num_mappings = heap.num_mappings;
	heap.snap.threads = damage.threads;
	heap.snap.num_threads = FUZZ_THREADS;
	heap.snap.values = damage.registers;
	heap.snap.num_values = FUZZ_THREADS;
	heap.snap.own = NULL;
	heap.snap.num_own = 0;
	heap.snap.memory.ops = &memory_ops;
	heap.snap.memory.ctx = &heap;
	heap.snap.memory.blind = false;
}

struct listing {
	uintptr_t end; /* of the block before */
	size_t count, bytes;
};

static bool
check_block(void *ctx, const struct mu_block *block)
{
	struct listing *listing = ctx;
	size_t size = mu_range_size(block->range);
	const struct fuzz_run *run = fuzz_run_of(&heap, block->range.begin);

	require(size > 0 && block->range.begin >= listing->end);
	require(fuzz_is_mapped(&heap.snap, block->range.begin, size));
	require(run != NULL && block->range.end <= run->range.end);
	if (!heap.exact)
		require(block->view ==
		    run->copy + (block->range.begin - run->range.begin));
	listing->end = block->range.end;
	listing->count++;
	listing->bytes += size;
	return true;
}

static void
check_ranges(const struct mu_range *ranges, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		require(ranges[i].begin < ranges[i].end);
		require(i == 0 || ranges[i - 1].end <= ranges[i].begin);
	}
}

static void
check_usage(const struct mu_heap *found)
{
	const struct mu_heap_usage *usage = &found->usage;
	size_t held = usage->mmapped + usage->unproven;
	size_t live = usage->mmapped_live, i;
	const struct mu_arena_usage *arena;

	for (i = 0; i < usage->num_arenas; i++) {
		arena = &usage->arenas[i];
		require(arena->fastbins <= arena->bins);
		require(arena->span ==
		    arena->live + arena->bins + arena->tcache + arena->top +
			arena->overhead);
		require(arena->overhead <= arena->span);
		held += arena->span;
		live += arena->live;
	}
	require(live == found->blocks.bytes);
	require(live == usage->live_reachable && usage->live_unreachable == 0);
	require(held == mu_usage_held(usage));
	require(mu_usage_verdict(usage) < MU_VERDICT_COUNT);
}

static void
check_heap(const struct mu_heap *found)
{
	struct listing listing = { 0 };

	check_usage(found);
	mu_blocks_each(&found->blocks, check_block, &listing);
	require(listing.count == found->blocks.count);
	require(listing.bytes == found->blocks.bytes);
	check_ranges(found->owned.items, found->owned.count);
}

static void
check_roots(const struct mu_roots *roots)
{
	size_t i;

	for (i = 0; i < roots->num_ranges; i++)
		require(fuzz_is_mapped(&heap.snap, roots->ranges[i].range.begin,
		    mu_range_size(roots->ranges[i].range)));
}

/* Their totals add up; BYTES are those of all entries and groups. */
static void
check_groups(const struct mu_leaks *leaks, const unsigned char *bytes)
{
	const struct mu_packed *packed = &leaks->entries;
	size_t i, sum = leaks->groups.rest_bytes;
	struct mu_lost_group group;
	struct mu_packed_at at;

	mu_packed_open(&at, bytes + packed->entries_size,
	    packed->size - packed->entries_size);
	for (i = 0; i < packed->num_groups; i++) {
		require(mu_packed_next_group(&at, &group));
		sum += group.total_bytes;
	}
	require(at.next == at.end);
	require(leaks->groups.by == MU_BY_BLOCK || sum == leaks->leak_bytes);
}

static void
check_leaks(const struct mu_leaks *leaks, const struct mu_blocks *blocks)
{
	unsigned char *bytes = packed_bytes(&leaks->entries);
	size_t count = 0, before = SIZE_MAX;
	struct mu_packed_at at;
	struct mu_leak leak;
	struct mu_block block;

	require(leaks->num_leaks <= blocks->count);
	require(leaks->leak_bytes <= blocks->bytes);
	require(leaks->entries.count <= leaks->num_leaks);
	mu_packed_open(&at, bytes, leaks->entries.entries_size);
	for (; mu_packed_next(&at, &leak); count++) {
		require(mu_blocks_find(blocks, leak.range.begin, &block));
		require(block.range.begin == leak.range.begin &&
		    block.range.end == leak.range.end);
		require(!mu_block_marked(&block));
		require(leak.referenced_count < leaks->num_leaks);
		require(leak.total_size <= leaks->leak_bytes);
		require(leak.total_size <= before);
		before = leak.total_size;
	}
	require(!at.damaged && count == leaks->entries.count);
	check_groups(leaks, bytes);
	free(bytes);
}

static void
look_further(struct mu_heap *found, struct mu_arena *arena, size_t limit)
{
	const struct mu_fold_wanted wanted = {
		.limit = limit, .contents = true, .by = MU_BY_STACK
	};
	struct mu_blocks *blocks = &found->blocks;
	struct mu_referrers referrers = { 0 };
	struct mu_roots roots = { 0 };
	struct mu_leaks leaks = { 0 };
	struct mu_range none = { 0, 0 };
	struct mu_why why = { .text = "" };
	struct mu_graph graph;
	enum mu_status status;

	status = mu_roots_find(&roots, &heap.snap, found, arena, &why);
	if (status != MU_OK && status != MU_PARTIAL)
		return;
	check_roots(&roots);
	if (mu_graph_make(&graph, blocks, &roots, &heap.snap.memory, arena,
		UINT64_MAX) != MU_OK ||
	    mu_mark(&graph, UINT64_MAX) != MU_OK)
		return;
	if (blocks->count > 0)
		mu_referrers_find(&referrers, blocks->envelope.begin, &graph,
		    &roots, &heap.snap, none, arena, UINT64_MAX, &why);
	require(referrers.count <= referrers.total);
	status = mu_fold(&leaks, &graph, &wanted, UINT64_MAX, &why);
	require(leaks.entries.count <= limit);
	if (status == MU_OK)
		check_leaks(&leaks, blocks);
}

static enum mu_status
read_heap(size_t limit, size_t fail_at, struct mu_why *why)
{
	struct mu_arena arena;
	struct mu_heap found;
	enum mu_status status;

	mu_arena_open(&arena, (size_t)1 << 30);
	arena.fail_at = fail_at;
	status = mu_heaps_list(&found, &heap.snap, &arena, why);
	require(status == MU_OK || why->text[0] != '\0');
	require(memchr(why->text, '\0', sizeof(why->text)) != NULL);
	if (status == MU_OK || status == MU_PARTIAL) {
		check_heap(&found);
		look_further(&found, &arena, limit);
	}
	mu_arena_close(&arena);
	while (heap.num_views > 0)
		free(heap.views[--heap.num_views]);
	return status;
}

static void
make_heap(void)
{
	struct mu_why why = { .text = "" };
	static bool made;

	if (made)
		return;
	made = true;
	fuzz_heap_make(&heap);
	fuzz_damage_prepare(&damage, &heap);
	open_snapshot();
	if (read_heap(100, 0, &why) != MU_OK)
		fprintf(stderr, "undamaged: %s\n", why.text);
	require(why.text[0] == '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct mu_why why = { .text = "" };
	unsigned flags, minor;
	size_t fail_at;

	make_heap();
	flags = (unsigned)fuzz_take(&input, 1);
	minor = (unsigned)fuzz_take(&input, 1);
	fail_at = fuzz_take(&input, 1);
	open_snapshot();
	heap.exact = (flags & EXACT) != 0;
	heap.snap.memory.blind = (flags & BLIND) != 0;
	heap.snap.reach.words.unaligned = (flags & UNALIGNED) != 0;
	if ((flags & APART) != 0)
		heap.snap.memory.ops = &apart_ops;
	if (minor != 0)
		heap.snap.glibc_minor = minor;
	fuzz_damage_do(&damage, &input);
	read_heap((flags & FEW) != 0 ? 2 : 1000, fail_at, &why);
	fuzz_damage_undo(&damage);
	return 0;
}
