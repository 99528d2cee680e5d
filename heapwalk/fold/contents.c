#include "heapwalk/fold/contents.h"

#include <string.h>

#include "heapwalk/subject/read_buffer.h"
#include "mu/sort.h"

#define MOST ((size_t)256 << 10) /* read at a time: 12 MiB in all */

/* Blocks are read together if so many lie in so little space. */
#define CROWD 8
#define CROWD_BYTES ((size_t)128 << 10)

struct mu_contents_item {
	uintptr_t address;
	uint32_t index, size;
};

static size_t
shown(size_t size)
{
	return size < MU_LEAK_CONTENTS ? size : MU_LEAK_CONTENTS;
}

void
mu_contents_open(struct mu_contents *contents, const struct mu_blocks *blocks,
    struct mu_memory *memory, size_t count, size_t limit)
{
	size_t max = count < MOST ? count : MOST;

	*contents = (struct mu_contents) { .blocks = blocks, .memory = memory };
	mu_arena_open(&contents->arena, limit);
	if (mu_read_buffer_helps(memory)) {
		contents->items = mu_arena_alloc(
		    &contents->arena, max, sizeof(*contents->items));
		contents->bytes = mu_arena_alloc(
		    &contents->arena, max, sizeof(*contents->bytes));
	}
	if (contents->items != NULL && contents->bytes != NULL)
		contents->max = max;
}

void
mu_contents_add(struct mu_contents *contents, uintptr_t address, size_t size)
{
	uint32_t index = (uint32_t)contents->count++;

	contents->items[index] =
	    (struct mu_contents_item) { address, index, (uint32_t)shown(size) };
}

static int
by_address(const void *a, const void *b)
{
	const struct mu_contents_item *left = a, *right = b;

	return (left->address > right->address) -
	    (left->address < right->address);
}

/* The range to read for block I, one of many that are close together. */
static struct mu_range
surroundings(const struct mu_contents *contents, size_t i)
{
	const struct mu_contents_item *item = &contents->items[i];
	const struct mu_span *span =
	    mu_blocks_span(contents->blocks, item->address);
	struct mu_range range = { item->address, item->address + item->size };

	if (span != NULL && contents->count - i > CROWD &&
	    item[CROWD].address - item->address < CROWD_BYTES) {
		range.end = range.begin + MU_READ_BUFFER;
		range = mu_range_common(range, span->range);
	}
	return range;
}

void
mu_contents_read(struct mu_contents *contents)
{
	const struct mu_contents_item *item = contents->items;
	struct mu_range near = { 0, 0 };
	struct mu_read_buffer buffer;
	const char *view = NULL;
	size_t i;

	mu_sort(contents->items, contents->count, sizeof(*contents->items),
	    by_address);
	mu_read_buffer_open(&buffer, contents->memory);
	for (i = 0; i < contents->count; i++, item++) {
		if (item->address + item->size > near.end) {
			near = surroundings(contents, i);
			view = contents->memory->ops->view(
			    contents->memory, near.begin, mu_range_size(near));
			if (view != NULL)
				view = mu_read_buffer_fill(&buffer, near, view);
		}
		if (view != NULL)
			memcpy(contents->bytes[item->index],
			    view + (item->address - near.begin), item->size);
	}
	mu_read_buffer_close(&buffer);
}

void
mu_contents_clear(struct mu_contents *contents)
{
	memset(contents->bytes, 0, contents->count * sizeof(*contents->bytes));
	contents->count = 0;
}

void
mu_contents_copy(struct mu_memory *memory, uintptr_t address, const char *view,
    size_t size, unsigned char to[MU_LEAK_CONTENTS])
{
	const void *bytes = view;

	size = shown(size);
	if (memory != NULL && memory->ops != NULL && memory->ops->peek != NULL)
		bytes = memory->ops->peek(memory, address, size, to);
	if (bytes != NULL && bytes != to)
		memcpy(to, bytes, size);
}

void
mu_contents_close(struct mu_contents *contents)
{
	mu_arena_close(&contents->arena);
	contents->max = 0;
}
