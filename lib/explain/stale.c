#include "lib/explain/stale.h"

#include <string.h>
#include <sys/mman.h>

#include "heapwalk/explain/edges.h"
#include "heapwalk/graph/parts.h"
#include "lib/explain/explaining.h"
#include "mu/sys.h"

#define ROOM (2 * MU_STALE_BLOCKS) /* places, a power of 2 */
#define FIRST_ROOM ((size_t)1 << 12)
#define SPREAD 0x9e3779b97f4a7c15ull /* 2^64 / the golden ratio */
#define GRAIN_SHIFT 4
#define NO_HOLDER UINT32_MAX
#define HOLDERS (UINT32_MAX - 1) /* more than one, or none that is small */
#define OBJECT ((size_t)1 << 10) /* bytes; larger ones are tables */
#define DEPTH 16                 /* of parts of parts */

/* A block as it was. */
struct seen {
	uint64_t key; /* 0: unused */
	uint32_t sum; /* of its bytes, and of the pointers to it */
	uint32_t since;
};

struct mu_stale {
	size_t room[2]; /* places that are used, a power of 2; 0: none */
	unsigned now;   /* which of the two is of the look that runs */
	struct seen places[2][ROOM];
};

struct mu_stale *
mu_stale_new(void)
{
	void *memory =
	    mmap(NULL, sizeof(struct mu_stale), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void
mu_stale_forget(struct mu_stale *stale)
{
	if (stale != NULL)
		stale->room[0] = stale->room[1] = 0;
}

void
mu_stale_free(struct mu_stale *stale)
{
	if (stale != NULL)
		munmap(stale, sizeof(*stale));
}

static void
add_pointer(struct mu_stale_look *look, uint32_t from, uint32_t to)
{
	look->seconds[to]++;
	if (look->holders[to] == NO_HOLDER)
		look->holders[to] = from;
	else if (look->holders[to] != from)
		look->holders[to] = HOLDERS;
}

static void
count_pointers(struct mu_stale_look *look, uint32_t blocks)
{
	const struct mu_graph *graph = look->explaining->graph;
	uint32_t node, at, target;

	for (node = 0; node < graph->num_nodes; node++) {
		at = graph->cells[node];
		while (mu_edges_next(graph, &at, &target))
			if (target < blocks)
				add_pointer(look,
				    node < blocks ? node : HOLDERS, target);
	}
}

/*
 * What a variable leads to is part of no other block. Old words of stacks and
 * registers come and go.
 */
static void
note_variables(struct mu_stale_look *look, uint32_t blocks)
{
	const struct mu_held_word *word = look->explaining->held.words;
	const struct mu_held_word *end = word + look->explaining->held.count;

	for (; word < end; word++)
		if (word->node < blocks && word->kind != MU_HELD_STACK &&
		    word->kind != MU_HELD_REGISTER)
			look->holders[word->node] = HOLDERS;
}

bool
mu_stale_look_open(struct mu_stale_look *look, struct mu_stale *stale,
    const struct mu_explaining *explaining)
{
	size_t blocks = explaining->graph->blocks->count, room = FIRST_ROOM;

	*look = (struct mu_stale_look) { .stale = stale,
		.explaining = explaining,
		.now = (uint32_t)(mu_sys_now_ns() / MU_NS_PER_SEC) };
	look->seconds = mu_arena_alloc_table(
	    explaining->tables, blocks + 1, sizeof(*look->seconds));
	look->holders = mu_arena_alloc_table(
	    explaining->tables, blocks + 1, sizeof(*look->holders));
	if (look->seconds == NULL || look->holders == NULL)
		return false;
	memset(look->holders, 0xff, blocks * sizeof(*look->holders));
	count_pointers(look, (uint32_t)blocks);
	note_variables(look, (uint32_t)blocks);
	while (blocks >> look->sparse > MU_STALE_BLOCKS)
		look->sparse++;
	while (room < ROOM && room / 2 < blocks >> look->sparse)
		room *= 2;
	stale->now &= 1;
	stale->room[stale->now] = room;
	memset(stale->places[stale->now], 0, room * sizeof(struct seen));
	return true;
}

/* Not zero. */
static uint64_t
key_of(const struct mu_block *block)
{
	return (uint64_t)block->range.begin >> GRAIN_SHIFT |
	    (uint64_t)(mu_range_size(block->range) >> GRAIN_SHIFT & 0xffff)
	    << 48;
}

/* The place of KEY, or an unused one; NULL: there is neither. */
static struct seen *
place_of(struct mu_stale *stale, unsigned which, uint64_t key)
{
	/* Another user's child may have written anything. */
	size_t room = stale->room[which], at, tries;

	if (room < FIRST_ROOM || room > ROOM || (room & (room - 1)) != 0)
		return NULL;
	at = (size_t)(key * SPREAD >> 20) & (room - 1);
	for (tries = 0; tries < room; tries++, at = (at + 1) & (room - 1))
		if (stale->places[which][at].key == key ||
		    stale->places[which][at].key == 0)
			return &stale->places[which][at];
	return NULL;
}

static uint64_t
add_bytes(uint64_t sum, const char *bytes, size_t size)
{
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum = (sum ^ word) * SPREAD;
		sum ^= sum >> 32;
		bytes += sizeof(word);
	}
	return sum;
}

/* What was never written has not changed. */
static uint32_t
sum_of(const struct mu_stale_look *look, const struct mu_block *block)
{
	uint64_t sum = look->seconds[block->number];
	struct mu_parts parts;
	struct mu_range part;

	if (mu_range_size(block->range) <= MU_GRAPH_LARGE) {
		sum = add_bytes(sum, block->view, mu_range_size(block->range));
	} else {
		mu_parts_open(&parts,
		    (struct mu_memory *)&look->explaining->snap->memory,
		    block->range, 0);
		while (mu_parts_next(&parts, &part))
			sum = add_bytes(sum,
			    block->view + (part.begin - block->range.begin),
			    mu_range_size(part));
	}
	return (uint32_t)(sum * SPREAD >> 32);
}

static const char *
type_of(const struct mu_stale_look *look, const struct mu_block *block)
{
	return mu_live_type_of(&look->explaining->types, block->number)->name;
}

/*
 * What BLOCK is a part of: a small block, the only one that leads to it. Those
 * of one type, or size, are elements of a list or a tree. False: of none.
 */
static bool
find_whole(const struct mu_stale_look *look, const struct mu_block *block,
    struct mu_block *whole)
{
	size_t size = mu_range_size(block->range);
	const char *part_type, *type;

	if (size > MU_GRAPH_LARGE || look->holders[block->number] >= HOLDERS ||
	    !mu_blocks_at(look->explaining->graph->blocks,
		look->holders[block->number], whole) ||
	    !mu_block_marked(whole) || mu_range_size(whole->range) > OBJECT)
		return false;
	part_type = type_of(look, block);
	type = type_of(look, whole);
	return part_type != NULL && type != NULL
	    ? strcmp(part_type, type) != 0
	    : mu_range_size(whole->range) != size;
}

/* All parts of an object are known, or none. */
static bool
is_known(const struct mu_stale_look *look, const struct mu_block *block)
{
	struct mu_block whole = *block, next;
	size_t i;

	if (look->sparse == 0)
		return true;
	for (i = 0; i < DEPTH && find_whole(look, &whole, &next); i++)
		whole = next;
	return (key_of(&whole) * SPREAD >> 44 &
		   (((uint64_t)1 << look->sparse) - 1)) == 0;
}

void
mu_stale_compare(struct mu_stale_look *look, const struct mu_block *block)
{
	struct mu_stale *stale = look->stale;
	uint32_t *seconds = &look->seconds[block->number];
	uint32_t sum = sum_of(look, block);
	uint64_t key = key_of(block);
	struct seen *before, *now;

	*seconds = 0;
	if (!is_known(look, block))
		return;
	now = place_of(stale, stale->now & 1, key);
	if (now == NULL)
		return;
	*now = (struct seen) { key, sum, look->now };
	before = place_of(stale, ~stale->now & 1, key);
	if (before == NULL || before->key != key || before->sum != sum ||
	    before->since > look->now)
		return;
	now->since = before->since;
	*seconds = look->now - now->since;
}

uint32_t
mu_stale_seconds(const struct mu_stale_look *look, const struct mu_block *block,
    size_t *blocks)
{
	uint32_t seconds = look->seconds[block->number];
	struct mu_block part = *block, whole;
	size_t i;

	*blocks = (size_t)1 << look->sparse;
	for (i = 0; seconds > 0 && i < DEPTH && find_whole(look, &part, &whole);
	     i++) {
		if (look->seconds[whole.number] < seconds)
			seconds = look->seconds[whole.number];
		part = whole;
	}
	return seconds;
}

void
mu_stale_look_end(struct mu_stale_look *look)
{
	look->stale->now = ~look->stale->now & 1;
}
