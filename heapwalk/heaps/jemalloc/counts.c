/*
 * jemalloc counts what it hands out: for each bin the slabs and regions in use
 * (bin_stats_t), for each large size class the allocations and releases
 * (arena_stats_large_t), and the bytes that it uses itself (stats.internal).
 * Regions in tcaches count as in use.
 */
#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/heaps/listing.h"

struct tally {
	size_t extents, blocks, bytes;
};

static enum mu_status
differs(const struct mu_je_walk *walk, unsigned arena, unsigned index,
    size_t found, size_t counted, const char *what)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "jemalloc: arena %u has %zu %s of %zu bytes, but counts %zu", arena,
	    found, what, mu_je_class_size(walk->je.sizes, index), counted);
}

static uintptr_t
bin_of(const struct mu_je_walk *walk, unsigned arena, unsigned index)
{
	const struct mu_je_release *release = walk->je.release;
	uintptr_t bins = walk->arenas[arena] + release->bins;

	return release->extents
	    ? mu_word_at(walk->snap, bins + index * sizeof(uintptr_t))
	    : bins + index * MU_JE_BIN_SIZE;
}

static enum mu_status
check_bin(const struct mu_je_walk *walk, unsigned arena, unsigned index,
    const struct tally *tally)
{
	const struct mu_je_release *release = walk->je.release;
	uintptr_t bin = bin_of(walk, arena, index);
	size_t slabs = mu_word_at(walk->snap, bin + release->bin_slabs);
	size_t blocks = mu_word_at(walk->snap, bin + release->bin_regions);

	if (slabs != tally->extents)
		return differs(
		    walk, arena, index, tally->extents, slabs, "slabs");
	return blocks == tally->blocks
	    ? MU_OK
	    : differs(walk, arena, index, tally->blocks, blocks, "blocks");
}

static enum mu_status
check_large(const struct mu_je_walk *walk, unsigned arena, unsigned index,
    const struct tally *tally)
{
	const struct mu_je_release *release = walk->je.release;
	uintptr_t stats = walk->arenas[arena] + release->large +
	    (index - walk->je.sizes->bins) * release->large_size;
	size_t blocks = mu_word_at(walk->snap, stats) -
	    mu_word_at(walk->snap, stats + sizeof(uint64_t));
	size_t bytes = mu_word_at(walk->snap, stats + MU_JE_LARGE_BYTES);

	if (blocks != tally->blocks)
		return differs(
		    walk, arena, index, tally->blocks, blocks, "blocks");
	return !release->pages || bytes == tally->bytes
	    ? MU_OK
	    : differs(
		  walk, arena, index, tally->bytes, bytes, "bytes in blocks");
}

/* A thread holds this lock of the bin, or of the arena's list of tcaches. */
static enum mu_status
check_locks(const struct mu_je_walk *walk, unsigned arena)
{
	const struct mu_je_release *release = walk->je.release;
	uintptr_t at =
	    walk->arenas[arena] + release->tcaches + MU_JE_TCACHES_MUTEX;
	unsigned i;

	for (i = 0; i <= walk->je.sizes->bins; i++) {
		if ((uint32_t)mu_word_at(walk->snap, at + release->lock) != 0)
			return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "jemalloc: a thread holds a lock of arena %u",
			    arena);
		at = bin_of(walk, arena, i);
	}
	return MU_OK;
}

static enum mu_status
check_arena(
    const struct mu_je_walk *walk, unsigned arena, const struct tally *tally)
{
	enum mu_status status = check_locks(walk, arena);
	unsigned index;

	for (index = 0; status == MU_OK && index < walk->je.sizes->classes;
	     index++)
		status = index < walk->je.sizes->bins
		    ? check_bin(walk, arena, index, &tally[index])
		    : check_large(walk, arena, index, &tally[index]);
	return status;
}

static size_t
count_live(const struct mu_je_extent *extent)
{
	size_t count = 0, i;

	for (i = 0; i < MU_JE_REGIONS_MAX / 64; i++)
		count += mu_popcount(extent->live[i]);
	return count;
}

enum mu_status
mu_je_counts_check(const struct mu_je_walk *walk)
{
	const struct mu_je_extent *extent = walk->extents;
	const struct mu_je_extent *end = extent + walk->num_extents;
	enum mu_status status = MU_OK;
	struct tally *tallies, *tally;
	unsigned i;

	tallies = mu_arena_alloc(walk->memory,
	    walk->je.num_arenas * MU_JE_CLASSES_MAX, sizeof(*tallies));
	if (tallies == NULL)
		return mu_heap_no_memory(walk->why);
	for (; extent < end; extent++) {
		if (!extent->active)
			continue;
		tally =
		    &tallies[extent->arena * MU_JE_CLASSES_MAX + extent->index];
		tally->extents++;
		tally->blocks += count_live(extent);
		tally->bytes += extent->size;
	}
	for (i = 0; status == MU_OK && i < walk->je.num_arenas; i++)
		if (walk->arenas[i] != 0)
			status = check_arena(
			    walk, i, &tallies[i * MU_JE_CLASSES_MAX]);
	return status;
}

/*
 * A fork leaves to the child the tcaches of the parent's other threads, whose
 * blocks are never used again, but not the list of these tcaches
 * (arena_postfork_child()). The option prof has its records as blocks.
 */
enum mu_status
mu_je_internal_check(const struct mu_je_walk *walk)
{
	size_t counted = 0, i;

	for (i = 0; i < walk->je.num_arenas; i++)
		if (walk->arenas[i] != 0)
			counted += mu_word_at(walk->snap,
			    walk->arenas[i] + walk->je.release->internal);
	return counted == walk->internal
	    ? MU_OK
	    : mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		  "jemalloc: it has %zu bytes of blocks for itself, but only"
		  " %zu were found: the option prof, or a process that a"
		  " program with threads forked",
		  counted, walk->internal);
}
