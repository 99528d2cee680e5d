#include "lib/explain/typed_fit.h"

#include "lib/types/block_size.h"

#include <string.h>

#define WORD sizeof(uintptr_t)
#define TEXT_LEAST 3     /* letters that are hardly a number */
#define EXTENDED_LEAST 4 /* objects in a row, if others begin with one */

size_t
mu_typed_row(const struct mu_declared *declared, size_t block)
{
	uint64_t size = declared->size, count = size == 0 ? 0 : block / size;

	if (count < 2 && !(declared->scalar && count > 0))
		return 0;
	/* A pointer to what others begin with leads to one of these. */
	if (declared->extended && count < EXTENDED_LEAST)
		return 0;
	return declared->scalar || mu_block_fits(count * size, block)
	    ? (size_t)count
	    : 0;
}

bool
mu_typed_is_linked(const struct mu_declared *declared)
{
	size_t i;

	for (i = 0; i < declared->num_fields; i++)
		if (declared->fields[i].type == declared->id)
			return !declared->scalar;
	return false;
}

bool
mu_typed_is_roomy(const struct mu_declared *declared, size_t size)
{
	size -= MU_BLOCK_TAIL;
	return mu_block_of_chunk(size) && mu_block_fits(declared->size, size);
}

bool
mu_typed_fits_one(const struct mu_declared *declared, size_t size)
{
	return mu_block_fits(declared->size, size) &&
	    !(declared->extended && mu_typed_is_roomy(declared, size));
}

/*
 * True if WORD points to what FIELD is declared to point to. What a variable is
 * may not be known here: only characters, numbers and functions are expected
 * there.
 */
static bool
points_right(const struct mu_typed *typed,
    const struct mu_declared_field *field, uintptr_t word)
{
	const struct mu_declared *target =
	    mu_declared_types_known(&typed->types, field->type);
	bool plain = target == NULL || target->size == 0 || target->scalar;
	struct mu_block block;

	if (!mu_range_has(typed->places->blocks->envelope, word))
		return plain;
	return mu_blocks_find(typed->places->blocks, word, &block) &&
	    (plain ||
		(block.range.begin == word &&
		    target->size <= mu_range_size(block.range)));
}

/*
 * True if the first word of BLOCK is text, although DECLARED has none there: it
 * is a buffer now, and behind the text it may still have what was there before.
 */
static bool
is_buffer(const struct mu_declared *declared, const struct mu_block *block)
{
	size_t length = 0;

	while (length < WORD && block->view[length] >= ' ' &&
	    block->view[length] <= '~')
		length++;
	return !declared->letters && length >= TEXT_LEAST &&
	    (length == WORD || block->view[length] == '\0');
}

bool
mu_typed_is_confirmed(const struct mu_typed *typed,
    const struct mu_declared *declared, const struct mu_block *block,
    struct mu_deadline *deadline)
{
	const struct mu_declared_field *field = declared->fields;
	size_t size = mu_range_size(block->range), i, j, at;
	bool confirmed = false, right;
	uintptr_t word;

	if (is_buffer(declared, block))
		return false;
	for (i = 0; i < declared->num_fields; i++, field++) {
		for (j = 0; !field->one_of && field->offset >= 0 &&
		     (j == 0 || (j < field->count && field->stride > 0));
		     j++) {
			at = (size_t)field->offset + j * field->stride;
			if (at > size || size - at < WORD)
				break;
			memcpy(&word, block->view + at, WORD);
			if (word == 0)
				continue;
			right = points_right(typed, field, word);
			if (mu_range_has(typed->places->blocks->envelope, word)
				? !right
				: mu_snapshot_mapping(
				      typed->places->snap, word) == NULL)
				return false;
			confirmed |= right;
			mu_deadline_passed(deadline, 4);
		}
	}
	return confirmed;
}

bool
mu_typed_has_pointers(const struct mu_typed *typed,
    const struct mu_block *block, struct mu_deadline *deadline)
{
	size_t at, size = mu_range_size(block->range);
	struct mu_block target;
	uintptr_t word;

	for (at = 0; at + WORD <= size; at += WORD) {
		memcpy(&word, block->view + at, WORD);
		if (word != 0 &&
		    (!mu_blocks_find(typed->places->blocks, word, &target) ||
			target.range.begin != word))
			return false;
		mu_deadline_passed(deadline, 4);
	}
	return true;
}
