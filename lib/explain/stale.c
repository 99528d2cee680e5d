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
count_pointers(
    const struct mu_explaining *explaining, uint32_t *pointers, size_t blocks)
{
	const struct mu_graph *graph = explaining->graph;
	uint32_t node, at, target;

	for (node = 0; node < graph->num_nodes; node++) {
		at = graph->cells[node];
		while (mu_edges_next(graph, &at, &target))
			if (target < blocks)
				pointers[target]++;
	}
}

bool
mu_stale_look_open(struct mu_stale_look *look, struct mu_stale *stale,
    const struct mu_explaining *explaining)
{
	size_t blocks = explaining->graph->blocks->count, room = FIRST_ROOM;

	*look = (struct mu_stale_look) { .stale = stale,
		.memory = (struct mu_memory *)&explaining->snap->memory,
		.now = (uint32_t)(mu_sys_now_ns() / MU_NS_PER_SEC) };
	look->pointers = mu_arena_alloc_table(
	    explaining->tables, blocks + 1, sizeof(*look->pointers));
	if (look->pointers == NULL)
		return false;
	count_pointers(explaining, look->pointers, blocks);
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
	uint64_t sum = look->pointers[block->number];
	struct mu_parts parts;
	struct mu_range part;

	if (mu_range_size(block->range) <= MU_GRAPH_LARGE) {
		sum = add_bytes(sum, block->view, mu_range_size(block->range));
	} else {
		mu_parts_open(&parts, look->memory, block->range, 0);
		while (mu_parts_next(&parts, &part))
			sum = add_bytes(sum,
			    block->view + (part.begin - block->range.begin),
			    mu_range_size(part));
	}
	return (uint32_t)(sum * SPREAD >> 32);
}

uint32_t
mu_stale_seconds(
    struct mu_stale_look *look, const struct mu_block *block, size_t *blocks)
{
	struct mu_stale *stale = look->stale;
	uint64_t key = key_of(block);
	struct seen *before, *now;

	*blocks = (size_t)1 << look->sparse;
	if (stale == NULL || (key * SPREAD >> 44 & (*blocks - 1)) != 0)
		return 0;
	now = place_of(stale, stale->now & 1, key);
	if (now == NULL)
		return 0;
	*now = (struct seen) { key, sum_of(look, block), look->now };
	before = place_of(stale, ~stale->now & 1, key);
	if (before == NULL || before->key != key || before->sum != now->sum ||
	    before->since > look->now)
		return 0;
	now->since = before->since;
	return look->now - now->since;
}

void
mu_stale_look_end(struct mu_stale_look *look)
{
	if (look->stale != NULL)
		look->stale->now = ~look->stale->now & 1;
}
