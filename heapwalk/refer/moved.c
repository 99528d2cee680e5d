#include "heapwalk/refer/moved.h"

#include "heapwalk/graph/references.h"
#include "heapwalk/memory/map_file.h"
#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

#define MOST_AT_FIRST ((size_t)4 << 30) /* bytes to read in the first round */
#define MOST ((size_t)256 << 20)        /* in all rounds after it */
#define PIECE ((size_t)64 << 10)
#define HASH_PRIME ((uintptr_t)0x100000001b3) /* FNV-1a's */
#define ROUNDS 12 /* each misses a fifth of what moves all the time */

/*
 * Pages that the process has not touched are not read, and pointers may stay
 * in them for a while: until the process that moves them gets a CPU, some ms
 * for each that is runnable. One that moves all of the time may do so in step
 * with the rounds; the naps prevent that.
 */
#define FIRST_NAP_NS (MU_NS_PER_MS / 2)
#define NAPS 7 /* each twice as long, then from the first on: 71 ms in all */

#define MOVED                                                              \
	"another process, or write(2), changed shared memory while it was" \
	" read: what only that refers to may be among these"

#define UNKNOWN                                                             \
	"whether another process, or write(2), stored references in shared" \
	" memory while it was read is not known: what only that refers to"  \
	" may be among these" MU_CURE "ask again"

struct looking {
	struct mu_snapshot *snap;
	const struct mu_blocks *blocks;
	const struct mu_moved_source *source;
	bool code;    /* in a mapping with instructions */
	bool asked;   /* in this round */
	bool unknown; /* pages may have data without our knowing */
	bool any;     /* pages were read */
	size_t rest;  /* bytes that may still be read */

	/* A sum of the parts that the source named in this round. */
	uintptr_t parts;
	char bytes[PIECE];
};

static bool
is_in_lost_block(const struct looking *looking, uintptr_t value)
{
	struct mu_block block;

	return mu_blocks_find(looking->blocks, value, &block) &&
	    !mu_block_marked(&block) &&
	    (block.listed == NULL || !block.listed->keep);
}

/* The same words count as in a search: see references.h. */
static bool
has_lost_block(const struct looking *looking, struct mu_range range)
{
	const struct mu_blocks *blocks = looking->blocks;
	bool code = looking->code;
	uintptr_t at = mu_reference_first(blocks, code, range.begin), word;

	for (; mu_reference_word(range, looking->bytes, code, at, &word);
	     at += mu_reference_step(blocks, code))
		if (is_in_lost_block(
			looking, mu_reference_untag(blocks, word)) ||
		    (code && is_in_lost_block(looking, word & UINT32_MAX)))
			return true;
	return false;
}

/*
 * True if RANGE, whole pages, has an address of a lost block. A word may lie
 * across two pieces. Memory of a process that has ended reads as a file without
 * bytes.
 */
static bool
look_in(struct looking *looking, struct mu_range range)
{
	size_t seam = sizeof(uintptr_t) -
	    mu_reference_step(looking->blocks, looking->code);
	struct mu_range piece = range;
	size_t size;
	long got;

	for (; piece.begin < range.end && looking->rest > 0;
	     piece.begin += size - (piece.end < range.end ? seam : 0)) {
		size = range.end - piece.begin;
		size = size < PIECE ? size : PIECE;
		size = size < looking->rest ? size : looking->rest;
		looking->rest -= size;
		piece.end = piece.begin + size;
		got = mu_sys_pread(
		    looking->source->memory, looking->bytes, size, piece.begin);
		looking->unknown |= got == 0;
		if (got > 0 &&
		    has_lost_block(looking,
			(struct mu_range) {
			    piece.begin, piece.begin + (size_t)got }))
			return true;
	}
	looking->any = true;
	return false;
}

static bool
look_in_file(
    struct looking *looking, int file, const struct mu_mapping *mapping)
{
	size_t size = looking->snap->memory.page_size;
	struct mu_range rest = mapping->range, part;
	bool found = false;

	for (; !found && rest.begin < rest.end &&
	     mu_map_file_next(file, mapping, size, rest, &part);
	     rest.begin = part.end)
		found = look_in(looking, part);
	return found;
}

/* The source tells which pages have data. */
static bool
look_by_source(struct looking *looking, const struct mu_mapping *mapping)
{
	const struct mu_moved_source *source = looking->source;
	struct mu_range rest = mapping->range, part;
	bool found = false;

	looking->unknown |= !source->ask(source->ctx, mapping, !looking->asked);
	looking->asked = true;
	for (; !found && !looking->unknown &&
	     source->next(source->ctx, mapping, rest, &part);
	     rest.begin = part.end) {
		found = look_in(looking, part);
		looking->parts =
		    (looking->parts ^ part.begin) * HASH_PRIME ^ part.end;
	}
	return found;
}

/* Reading a hole would allocate pages, for the process too. */
static bool
look_by_snapshot(struct looking *looking, const struct mu_mapping *mapping)
{
	struct mu_memory *memory = &looking->snap->memory;
	struct mu_range rest = mapping->range, part;
	size_t holes = mu_range_size(rest);
	bool found = false;

	for (; !found && memory->ops->populated(memory, rest, &part);
	     rest.begin = part.end) {
		holes -= mu_range_size(part);
		found = look_in(looking, part);
	}
	looking->unknown |= !found && holes > 0;
	return found;
}

static bool
look_in_mapping(struct looking *looking, const struct mu_mapping *mapping,
    struct mu_tmpfs *tmpfs)
{
	int file = mu_map_file_open(mapping, tmpfs);
	bool found;

	looking->code = mapping->executable;
	if (file >= 0)
		found = look_in_file(looking, file, mapping);
	else if (looking->source->ask != NULL)
		found = look_by_source(looking, mapping);
	else
		found = look_by_snapshot(looking, mapping);
	mu_sys_close(&file);
	return found;
}

static bool
look_everywhere(struct looking *looking)
{
	const struct mu_snapshot *snap = looking->snap;
	struct mu_tmpfs tmpfs = { .pid = looking->source->tid };
	const struct mu_mapping *mapping;
	size_t i;

	looking->asked = false;
	looking->parts = 0;
	for (i = 0; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		if (mu_mapping_is_changing(mapping, &tmpfs) &&
		    !mu_range_has(
			looking->source->except, mapping->range.begin) &&
		    look_in_mapping(looking, mapping, &tmpfs))
			return true;
	}
	return false;
}

/*
 * Parts are named, then read. A process that moves pointers on to pages without
 * data, and takes data from those behind them, may leave a part before it is
 * read, in each round: so parts that differ more than once are a doubt.
 */
static bool
differ_again(const struct looking *looking, uintptr_t before, unsigned *times)
{
	*times += looking->parts != before;
	return *times > 1;
}

enum mu_status
mu_moved_since(struct mu_snapshot *snap, const struct mu_blocks *blocks,
    const struct mu_moved_source *source, struct mu_arena *arena,
    struct mu_why *why)
{
	struct looking *looking = mu_arena_alloc(arena, 1, sizeof(*looking));
	unsigned round, times = 0;
	uintptr_t parts;

	if (looking == NULL || source->memory < 0)
		return mu_why(why, MU_PARTIAL, UNKNOWN);
	looking->snap = snap;
	looking->blocks = blocks;
	looking->source = source;
	looking->unknown = looking->any = false;
	looking->rest = MOST_AT_FIRST;
	for (round = 0; round < ROUNDS; round++) {
		parts = looking->parts;
		if (look_everywhere(looking))
			return mu_why(why, MU_PARTIAL, MOVED);
		if (round == 0)
			looking->unknown |= looking->rest == 0;
		else
			looking->unknown |=
			    differ_again(looking, parts, &times);
		if (looking->unknown)
			return mu_why(why, MU_PARTIAL, UNKNOWN);
		if (!looking->any)
			return MU_OK;
		if (looking->rest > MOST)
			looking->rest = MOST;
		if (round + 1 < ROUNDS)
			mu_sys_sleep_ns(FIRST_NAP_NS << round % NAPS);
	}
	return MU_OK;
}
