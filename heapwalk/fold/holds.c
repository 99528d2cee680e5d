#include "heapwalk/fold/holds.h"

#include <string.h>

#define OMITTED UINT64_MAX
#define RECORD_LEAST ((size_t)16) /* bytes of a structure in a row */
#define RECORDS_LEAST 3           /* structures */
#define NEXT_TRIED 8              /* blocks that may be of the next structure */
#define REST ((size_t)24) /* bytes of a block that are of no structure */

/* The rows of what hangs on an example, while they are filled. */
struct holding {
	struct mu_lost_group *group;
	const struct mu_shape *shape;
	uint64_t *row; /* of each block: 1 + index; 0: the example; or OMITTED
			*/
	uint64_t signs[MU_GROUP_HOLDS];
	unsigned depth[MU_GROUP_HOLDS];
	size_t distances[MU_GROUP_HOLDS]; /* of elements that are structures */
};

/*
 * True if the parent of block *INDEX leads at OFFSET to a block like it, which
 * is *INDEX from then on.
 */
static bool
has_like(const struct mu_shape *shape, size_t *index, size_t offset)
{
	const struct mu_shape_block *first = &shape->blocks[*index], *block;
	size_t i;

	/* Those that one block leads to follow each other, by offset. */
	for (i = *index + 1; i < shape->count; i++) {
		block = &shape->blocks[i];
		if (block->parent != first->parent || block->offset > offset)
			return false;
		if (block->offset == offset &&
		    mu_shape_final(block) == mu_shape_final(first)) {
			*index = i;
			return true;
		}
	}
	return false;
}

/*
 * The distance of the structures in a row that fills the parent of block INDEX,
 * which is that of the first; 0: it is in no row.
 */
static size_t
record_size(const struct mu_shape *shape, size_t index)
{
	const struct mu_shape_block *first = &shape->blocks[index];
	size_t size = mu_range_size(shape->blocks[first->parent].range);
	size_t i, at, tried, distance, records;

	if (size > MU_SHAPE_BYTES)
		size = MU_SHAPE_BYTES;
	for (i = index + 1, tried = 0; i < shape->count && tried < NEXT_TRIED &&
	     shape->blocks[i].parent == first->parent;
	     i++, tried++) {
		distance =
		    (size_t)shape->blocks[i].offset - (size_t)first->offset;
		if (distance < RECORD_LEAST || first->offset >= distance)
			continue;
		at = index;
		records = 1;
		while (has_like(shape, &at, first->offset + records * distance))
			records++;
		if (records >= RECORDS_LEAST &&
		    (records + 1) * distance + REST > size)
			return distance;
	}
	return 0;
}

static bool
is_of_row(const struct holding *holding, size_t row,
    const struct mu_shape_block *block)
{
	const struct mu_lost_hold *hold = &holding->group->holds[row];
	size_t distance = holding->distances[row];

	if (holding->shape->blocks[block->parent].array)
		return hold->element;
	if (distance == 0)
		return hold->offset == block->offset;
	return block->offset >= hold->offset &&
	    (block->offset - hold->offset) % distance == 0;
}

/*
 * The row on PARENT for blocks like block INDEX: an existing one, a new one, or
 * OMITTED.
 */
static uint64_t
find_row(struct holding *holding, size_t index, uint64_t parent)
{
	const struct mu_shape_block *block = &holding->shape->blocks[index];
	struct mu_lost_group *group = holding->group;
	bool array = holding->shape->blocks[block->parent].array;
	unsigned depth = parent == 0 ? 1 : 1 + holding->depth[parent - 1];
	uint64_t sign = mu_shape_final(block);
	struct mu_lost_hold *hold = group->holds;
	size_t i;

	for (i = 0; i < group->num_holds; i++, hold++)
		if (hold->parent == parent && holding->signs[i] == sign &&
		    is_of_row(holding, i, block))
			return 1 + i;
	if (i == MU_GROUP_HOLDS || depth > MU_GROUP_DEPTH)
		return OMITTED;
	holding->distances[i] = array ? 0 : record_size(holding->shape, index);
	*hold = (struct mu_lost_hold) {
		.parent = parent,
		.offset = array ? 0 : block->offset,
		.element = array || holding->distances[i] > 0,
		.size = mu_range_size(block->range),
		.tag = block->tag,
		.address = block->range.begin,
	};
	memcpy(hold->text, block->text, sizeof(hold->text));
	holding->signs[i] = sign;
	holding->depth[i] = depth;
	return ++group->num_holds;
}

static void
add_hold(struct holding *holding, size_t index)
{
	const struct mu_shape_block *blocks = holding->shape->blocks;
	const struct mu_shape_block *block = &blocks[index];
	size_t size = mu_range_size(block->range);
	uint64_t row = holding->row[block->parent];
	struct mu_lost_hold *hold;
	/* The buffers of all vectors are alike, also those in a vector. */
	bool again = block->parent > 0 && !block->buffer &&
	    mu_shape_final(&blocks[block->parent]) == mu_shape_final(block);

	if (row != OMITTED && !again)
		row = find_row(holding, index, row);
	holding->row[index] = row;
	if (row == OMITTED)
		return;
	hold = &holding->group->holds[row - 1];
	hold->again |= again;
	hold->count++;
	hold->bytes += size;
}

/* The nearest row that leads back to the example. */
static void
find_back(const struct holding *holding)
{
	const struct mu_shape *shape = holding->shape;
	struct mu_lost_group *group = holding->group;
	const struct mu_shape_block *block;
	const struct mu_shape_link *link;
	size_t i, j;

	for (i = 1; i < shape->count && group->back == 0; i++) {
		block = &shape->blocks[i];
		link = &shape->links[block->first];
		for (j = 0; j < block->count && group->back == 0; j++, link++) {
			if (link->number != shape->blocks[0].number ||
			    holding->row[i] == OMITTED)
				continue;
			group->back = holding->row[i];
			group->back_at = link->offset;
		}
	}
}

void
mu_holds_fill(struct mu_shape *shape, struct mu_lost_group *group)
{
	struct holding holding = { .group = group, .shape = shape };
	size_t i;

	mu_shape_key(shape);
	holding.row = shape->edges;
	holding.row[0] = 0;
	for (i = 1; i < shape->count; i++)
		add_hold(&holding, i);
	find_back(&holding);
}
