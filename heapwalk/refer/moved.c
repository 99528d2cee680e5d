#include "heapwalk/refer/moved.h"

#include "heapwalk/memory/map_file.h"
#include "heapwalk/memory/pages.h"
#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

#define MOST_AT_FIRST ((size_t)4 << 30) /* bytes to read in the first round */
#define MOST ((size_t)256 << 20)        /* in all rounds after it */
#define MAX_BLOCKS 65536                /* lost blocks to look for */
#define PIECE ((size_t)64 << 10)
#define ROUNDS 8 /* what moves may be missed again */

/*
 * Pages that the process has not touched are not read, and pointers may stay
 * in them for a while: until the process that moves them gets a CPU, some ms
 * for each that is runnable. One that moves all of the time may do so in step
 * with the rounds; the naps prevent that.
 */
#define FIRST_NAP_NS (MU_NS_PER_MS / 2) /* then twice as long: 63 ms in all */

struct looking {
	const struct mu_moved_source *source;
	struct mu_pages pages;
	struct mu_range blocks[MAX_BLOCKS]; /* by address */
	size_t num_blocks;
	size_t rest; /* bytes that may still be read */
	uintptr_t words[PIECE / sizeof(uintptr_t)];
};

static bool
add_block(void *ctx, const struct mu_block *block)
{
	struct looking *looking = ctx;

	looking->blocks[looking->num_blocks++] = block->range;
	return looking->num_blocks < MAX_BLOCKS;
}

static bool
is_in_block(const struct looking *looking, uintptr_t value)
{
	size_t low = 0, high = looking->num_blocks, middle;

	if (value < looking->blocks[0].begin)
		return false;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (looking->blocks[middle].begin <= value)
			low = middle;
		else
			high = middle;
	}
	return mu_range_has(looking->blocks[low], value);
}

/* True if RANGE, whole pages, has an address of a lost block. */
static bool
look_in(struct looking *looking, struct mu_range range)
{
	size_t i, size;
	long got;

	for (; range.begin < range.end && looking->rest > 0;
	     range.begin += size) {
		size = mu_range_size(range);
		size = size < PIECE ? size : PIECE;
		size = size < looking->rest ? size : looking->rest;
		looking->rest -= size;
		got = mu_sys_pread(
		    looking->source->memory, looking->words, size, range.begin);
		for (i = 0; got > 0 && i < (size_t)got / sizeof(uintptr_t); i++)
			if (is_in_block(looking, looking->words[i]))
				return true;
	}
	return false;
}

/*
 * Reading a hole would allocate pages, for the process too. FILE, if not -1, is
 * what MAPPING shows: only it tells of pages that got data after the snapshot.
 */
static bool
next_part(struct looking *looking, struct mu_snapshot *snap, int file,
    const struct mu_mapping *mapping, struct mu_range rest,
    struct mu_range *part)
{
	if (file >= 0)
		return mu_map_file_next(
		    file, mapping, snap->memory.page_size, rest, part);
	if (looking->source->pagemap >= 0)
		return mu_pages_next(&looking->pages, mapping, rest, part);
	return snap->memory.ops->populated(&snap->memory, rest, part);
}

static bool
look_in_mapping(struct looking *looking, struct mu_snapshot *snap,
    const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs)
{
	int file = mu_map_file_open(mapping, tmpfs);
	struct mu_range rest = mapping->range, part;
	bool found = false;

	for (; !found && rest.begin < rest.end &&
	     next_part(looking, snap, file, mapping, rest, &part);
	     rest.begin = part.end)
		found = look_in(looking, part);
	mu_sys_close(&file);
	return found;
}

static bool
look_everywhere(struct looking *looking, struct mu_snapshot *snap)
{
	struct mu_tmpfs tmpfs = { .pid = snap->pid };
	const struct mu_mapping *mapping;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		if (mu_mapping_is_changing(mapping, &tmpfs) &&
		    !mu_range_has(
			looking->source->except, mapping->range.begin) &&
		    look_in_mapping(looking, snap, mapping, &tmpfs))
			return true;
	}
	return false;
}

bool
mu_moved_since(struct mu_snapshot *snap, const struct mu_blocks *blocks,
    const struct mu_moved_source *source, struct mu_arena *arena)
{
	struct looking *looking = mu_arena_alloc(arena, 1, sizeof(*looking));
	unsigned round;

	if (looking == NULL)
		return false;
	looking->source = source;
	looking->num_blocks = 0;
	looking->rest = MOST_AT_FIRST;
	mu_blocks_each_unmarked(blocks, add_block, looking);
	for (round = 0; round < ROUNDS && looking->num_blocks > 0; round++) {
		mu_pages_of(
		    &looking->pages, source->pagemap, snap->memory.page_size);
		if (look_everywhere(looking, snap))
			return true;
		if (looking->rest == MOST_AT_FIRST)
			return false; /* there is none */
		if (looking->rest > MOST)
			looking->rest = MOST;
		if (round + 1 < ROUNDS)
			mu_sys_sleep_ns(FIRST_NAP_NS << round);
	}
	return false;
}
