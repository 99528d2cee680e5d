#include "heapwalk/fold/shape.h"

#include <string.h>

#include "heapwalk/graph/references.h"
#include "heapwalk/recorded/recorded.h"
#include "mu/bisect.h"
#include "mu/sort.h"

#define SMALL 24 /* usable bytes of glibc's smallest chunk */
#define LINKS_EACH 8
#define HEAD_ELEMENTS 4 /* with fewer the head is a structure, no array */

/* Signs that do not depend on a size. */
enum { SIGN_SMALL = 1, SIGN_BUFFER, SIGN_ARRAY };

bool
mu_shape_open(struct mu_shape *shape, const struct mu_shape_rules *rules,
    struct mu_arena *arena)
{
	*shape = (struct mu_shape) { .rules = *rules };
	shape->max_links = LINKS_EACH * rules->max;
	for (shape->num_slots = 64; shape->num_slots < 2 * rules->max;)
		shape->num_slots *= 2;
	shape->blocks =
	    mu_arena_alloc(arena, rules->max, sizeof(*shape->blocks));
	shape->links =
	    mu_arena_alloc(arena, shape->max_links, sizeof(*shape->links));
	shape->slots =
	    mu_arena_alloc(arena, shape->num_slots, sizeof(*shape->slots));
	shape->edges =
	    mu_arena_alloc(arena, shape->max_links, sizeof(*shape->edges));
	return shape->blocks != NULL && shape->links != NULL &&
	    shape->slots != NULL && shape->edges != NULL;
}

static uint16_t *
find_slot(const struct mu_shape *shape, uint32_t number)
{
	size_t at = number * 0x9e3779b1u >> 7, i;

	for (;; at++) {
		i = shape->slots[at & (shape->num_slots - 1)];
		if (i == 0 || shape->blocks[i - 1].number == number)
			return &shape->slots[at & (shape->num_slots - 1)];
	}
}

/* Index of the block with NUMBER; shape->count if it was not visited. */
static size_t
index_of(const struct mu_shape *shape, uint32_t number)
{
	uint16_t index = *find_slot(shape, number);

	return index == 0 ? shape->count : index - 1u;
}

uint64_t
mu_shape_sign(const struct mu_tags *tags, uintptr_t tag, size_t size)
{
	uint64_t hash = tag == 0 ? 0 : mu_tags_key(tags, tag);

	return mu_tags_mix(mu_tags_mix(0x5107, hash), size);
}

/* Read the first words of BLOCK, as the program knows it: RANGE. */
static void
read_words(const struct mu_shape *shape, const struct mu_block *block,
    struct mu_range range, struct mu_words *words)
{
	size_t skipped = range.begin - block->range.begin;

	if (skipped > 0 ||
	    !mu_first_words_get(shape->rules.first, block, words))
		mu_first_words_read(
		    shape->rules.memory, range, block->view + skipped, words);
	mu_deadline_passed(shape->rules.deadline, 16 + words->count);
}

/* The unreachable block that the word at INDEX of BLOCK refers to. */
static bool
is_link(const struct mu_shape *shape, const struct mu_shape_block *block,
    const struct mu_words *words, size_t index, struct mu_block *to)
{
	const struct mu_blocks *blocks = shape->rules.blocks;
	uintptr_t word = words->at[index];

	return mu_range_has(
		   blocks->envelope, mu_reference_untag(blocks, word)) &&
	    mu_reference_find(
		blocks, block->range.begin + index * sizeof(word), word, to) &&
	    to->number != block->number &&
	    !mu_blocks_marked(blocks, to->number);
}

/*
 * True if the word at INDEX is the first of begin, end and end of storage of a
 * vector, whose buffer is TO.
 */
static bool
is_vector(const struct mu_words *words, size_t index, const struct mu_block *to)
{
	const uintptr_t *at = &words->at[index];

	return index + 2 < words->count && at[0] == to->range.begin &&
	    at[1] > at[0] && at[1] <= at[2] && at[2] <= to->range.end;
}

/* Add the links of BLOCK, whose words are at WORDS. */
static void
add_links(struct mu_shape *shape, struct mu_shape_block *block,
    const struct mu_words *words)
{
	size_t i, others = 0;
	struct mu_block to;
	bool vector;

	block->first = (uint32_t)shape->num_links;
	block->dense = block->tag == 0;
	for (i = 0; i < words->count && shape->num_links < shape->max_links;
	     i++) {
		if (words->at[i] == 0)
			continue;
		if (!is_link(shape, block, words, i, &to)) {
			others++;
			continue;
		}
		block->dense = block->dense && others == 0;
		vector = is_vector(words, i, &to);
		shape->links[shape->num_links++] = (struct mu_shape_link) { 0,
			to.number, (uint16_t)(i * sizeof(uintptr_t)), vector };
		if (vector)
			i += 2;
	}
	block->count = (uint32_t)shape->num_links - block->first;
}

static bool
is_printable(unsigned char byte)
{
	return (byte >= 0x20 && byte != 0x7f) || byte == '\t' || byte == '\n';
}

/* Copy the beginning of the text that is all of BLOCK, if that is text. */
static void
copy_text(struct mu_shape_block *block, const struct mu_words *words)
{
	const unsigned char *bytes = (const unsigned char *)words->at;
	size_t size = words->count * sizeof(uintptr_t), i;

	if (size > MU_SHAPE_TEXT - 1)
		size = MU_SHAPE_TEXT - 1;
	for (i = 0; i < size && is_printable(bytes[i]); i++)
		;
	if (i < 2 || (i < size && bytes[i] != 0))
		return;
	memcpy(block->text, bytes, i);
	block->text[i] = '\0';
}

static void
describe(struct mu_shape *shape, struct mu_shape_block *block,
    const struct mu_words *words)
{
	size_t size = mu_range_size(block->range);

	if (words->count > 0 && mu_tags_has(shape->rules.tags, words->at[0]))
		block->tag = words->at[0];
	add_links(shape, block, words);
	if (block->count == 0 && block->tag == 0)
		copy_text(block, words);
	if (block->buffer)
		block->sign = SIGN_BUFFER;
	else if (block->count == 0 && block->tag == 0 &&
	    (size <= SMALL || block->text[0] != '\0'))
		block->sign = SIGN_SMALL;
	else
		block->sign =
		    mu_shape_sign(shape->rules.tags, block->tag, size);
}

/* Add the block that LINK of the block at index PARENT leads to. */
static bool
add_block(struct mu_shape *shape, size_t parent,
    const struct mu_shape_link *link, uint16_t *slot)
{
	const struct mu_blocks *blocks = shape->rules.blocks;
	struct mu_shape_block *block = &shape->blocks[shape->count];
	struct mu_recorded_block known;
	struct mu_words words;
	struct mu_block found;

	if (!mu_blocks_at(blocks, link->number, &found))
		return false;
	if (blocks->recorder == NULL ||
	    !mu_recorder_find(blocks->recorder, found.range, &known) ||
	    known.range.begin == found.range.begin)
		known.range = found.range;
	*block = (struct mu_shape_block) { .range = known.range,
		.number = link->number,
		.parent = (uint32_t)parent,
		.offset = link->offset,
		.buffer = link->buffer };
	*slot = (uint16_t)(1 + shape->count++);
	read_words(shape, &found, known.range, &words);
	describe(shape, block, &words);
	return true;
}

/* True if enough blocks like the last one were visited from such a parent. */
static bool
is_repeated(const struct mu_shape *shape)
{
	const struct mu_shape_block *blocks = shape->blocks, *last, *block;
	uint64_t parent;
	size_t alike = 0;

	if (shape->rules.alike == 0)
		return false;
	last = &blocks[shape->count - 1];
	parent = blocks[last->parent].sign;
	for (block = blocks + 1; block < last; block++)
		alike += block->sign == last->sign &&
		    blocks[block->parent].sign == parent;
	return alike >= shape->rules.alike;
}

/* Follow LINK of the block at index PARENT. */
static void
visit(struct mu_shape *shape, size_t parent, struct mu_shape_link *link)
{
	uint16_t *slot = find_slot(shape, link->number);
	size_t count = shape->count, num_links = shape->num_links;

	if (*slot == 0 &&
	    (shape->count >= shape->max ||
		!add_block(shape, parent, link, slot)))
		return;
	link->sign = shape->blocks[*slot - 1].sign;
	if (shape->count == count || !is_repeated(shape))
		return;
	*slot = 0;
	shape->count = count;
	shape->num_links = num_links;
}

bool
mu_shape_find(struct mu_shape *shape, uint32_t head, size_t max)
{
	struct mu_shape_link link = { .number = head };
	size_t i, j;

	memset(shape->slots, 0, shape->num_slots * sizeof(*shape->slots));
	shape->max = max < shape->rules.max ? max : shape->rules.max;
	shape->count = shape->num_links = 0;
	if (!add_block(shape, 0, &link, find_slot(shape, head)))
		return false;
	shape->blocks[0].sign = mu_shape_sign(shape->rules.tags,
	    shape->blocks[0].tag, mu_range_size(shape->blocks[0].range));
	for (i = 0; i < shape->count && !shape->rules.deadline->passed; i++)
		for (j = 0; j < shape->blocks[i].count; j++)
			visit(shape, i,
			    &shape->links[shape->blocks[i].first + j]);
	return true;
}

bool
mu_shape_leads_back(const struct mu_shape *shape)
{
	size_t i;

	for (i = 0; i < shape->num_links; i++)
		if (shape->links[i].number == shape->blocks[0].number)
			return true;
	return false;
}

/* The visited block that link J of BLOCK leads to; or NULL. */
static struct mu_shape_block *
target_of(
    const struct mu_shape *shape, const struct mu_shape_block *block, size_t j)
{
	size_t index = index_of(shape, shape->links[block->first + j].number);

	return index < shape->count ? &shape->blocks[index] : NULL;
}

/* In a cycle: BLOCK leads to one with IN set, and so to the head. */
static bool
leads_in(const struct mu_shape *shape, const struct mu_shape_block *block,
    const uint64_t *in)
{
	const struct mu_shape_block *to;
	size_t j;

	for (j = 0; j < block->count; j++) {
		to = target_of(shape, block, j);
		if (to != NULL && in[to - shape->blocks] != 0)
			return true;
	}
	return false;
}

/* Set IN to 1 for each block that leads to the head: it is in its cycle. */
static void
find_cycle(const struct mu_shape *shape, uint64_t *in)
{
	size_t i, count = 1, before = 0;

	memset(in, 0, shape->count * sizeof(*in));
	in[0] = 1;
	while (count > before) {
		before = count;
		for (i = shape->count; i-- > 1;)
			if (in[i] == 0 &&
			    leads_in(shape, &shape->blocks[i], in)) {
				in[i] = 1;
				count++;
			}
	}
}

/* A block of a cycle, as a candidate for its beginning. */
struct candidate {
	const struct mu_shape_block *block;
	size_t alike;     /* blocks of the cycle with this sign */
	uint64_t holders; /* blocks of the cycle that point to it */
	size_t links;     /* of it, to blocks of the cycle */
};

/* True if a cycle should begin with A, not with B. */
static bool
begins_better(const struct candidate *a, const struct candidate *b)
{
	size_t size_a = mu_range_size(a->block->range);
	size_t size_b = mu_range_size(b->block->range);

	if ((a->block->tag != 0) != (b->block->tag != 0))
		return a->block->tag != 0;
	if (a->alike != b->alike)
		return a->alike < b->alike;
	if (a->holders != b->holders)
		return a->holders > b->holders;
	if (a->links != b->links)
		return a->links > b->links;
	if (size_a != size_b)
		return size_a > size_b;
	return a->block->range.begin < b->block->range.begin;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* How many of COUNT SIGNS, which are sorted, are SIGN. */
static size_t
count_sign(const uint64_t *signs, size_t count, uint64_t sign)
{
	size_t first = 0, end = 0;

	mu_bisect(first, count, i, signs[i] < sign);
	mu_bisect(end, count, i, signs[i] <= sign);
	return end - first;
}

/*
 * Count in IN, for each block of the cycle, the blocks of it that point there.
 * LAST has room for as many numbers.
 */
static void
count_holders(const struct mu_shape *shape, uint64_t *in, uint64_t *last)
{
	const struct mu_shape_block *to;
	size_t i, j, target;

	memset(last, 0, shape->count * sizeof(*last));
	for (i = 0; i < shape->count; i++)
		for (j = 0; in[i] != 0 && j < shape->blocks[i].count; j++) {
			to = target_of(shape, &shape->blocks[i], j);
			target = to == NULL ? i : (size_t)(to - shape->blocks);
			if (in[target] == 0 || last[target] == 1 + i)
				continue;
			last[target] = 1 + i;
			in[target]++;
		}
}

/* The number of links of BLOCK to blocks of the cycle. */
static size_t
count_links(const struct mu_shape *shape, const struct mu_shape_block *block,
    const uint64_t *in)
{
	const struct mu_shape_block *to;
	size_t j, count = 0;

	for (j = 0; j < block->count; j++) {
		to = target_of(shape, block, j);
		count += to != NULL && in[to - shape->blocks] != 0;
	}
	return count;
}

uint32_t
mu_shape_start(const struct mu_shape *shape)
{
	uint64_t *in = shape->edges, *signs = shape->edges + shape->count;
	const struct mu_shape_block *block = shape->blocks;
	struct candidate best = { .block = block }, next;
	size_t i, count = 0;

	find_cycle(shape, in);
	for (i = 0; i < shape->count; i++)
		if (in[i] != 0)
			signs[count++] = block[i].sign;
	mu_sort(signs, count, sizeof(*signs), compare);
	count_holders(shape, in, signs + count);
	for (i = 0; i < shape->count; i++, block++) {
		if (in[i] == 0)
			continue;
		next = (struct candidate) { .block = block,
			.alike = count_sign(signs, count, block->sign),
			.holders = in[i],
			.links = count_links(shape, block, in) };
		if (i == 0 || begins_better(&next, &best))
			best = next;
	}
	return best.block->number;
}

/* True if BLOCK is an array of pointers to blocks that are alike. */
static bool
is_array(const struct mu_shape *shape, const struct mu_shape_block *block)
{
	const struct mu_shape_link *link = &shape->links[block->first];
	uint64_t sign = 0;
	size_t j, alike = 0;

	if (block->buffer)
		return true;
	if (!block->dense)
		return false;
	for (j = 0; j < block->count; j++, link++) {
		if (link->sign == 0 || link->number == shape->blocks[0].number)
			continue;
		if (link->sign == block->sign ||
		    (sign != 0 && sign != link->sign))
			return false;
		sign = link->sign;
		alike++;
	}
	return alike >= (block == shape->blocks ? HEAD_ELEMENTS : 2);
}

uint64_t
mu_shape_final(const struct mu_shape_block *block)
{
	return block->array ? SIGN_ARRAY : block->sign;
}

/* Fill shape->edges. Returns their number; some are equal. */
static size_t
hash_links(struct mu_shape *shape)
{
	const struct mu_shape_block *block, *to;
	size_t i, j, count = 0;
	uint64_t hash;

	for (i = 0; i < shape->count; i++) {
		block = &shape->blocks[i];
		for (j = 0; j < block->count; j++) {
			to = target_of(shape, block, j);
			if (to == NULL ||
			    (i > 0 && to > shape->blocks &&
				mu_shape_final(block) == mu_shape_final(to)))
				continue;
			hash = mu_tags_mix(i == 0, mu_shape_final(block));
			if (!block->array)
				hash = mu_tags_mix(hash,
				    1u + shape->links[block->first + j].offset);
			shape->edges[count++] =
			    mu_tags_mix(hash, mu_shape_final(to));
		}
	}
	mu_sort(shape->edges, count, sizeof(*shape->edges), compare);
	return count;
}

uint64_t
mu_shape_key(struct mu_shape *shape)
{
	uint64_t key = shape->blocks[0].sign;
	size_t i, count;

	if (shape->num_links == 0)
		return key;
	for (i = 1; i < shape->count; i++)
		shape->blocks[i].array = is_array(shape, &shape->blocks[i]);
	shape->blocks[0].array = is_array(shape, &shape->blocks[0]);
	count = hash_links(shape);
	for (i = 0; i < count; i++)
		if (i == 0 || shape->edges[i] != shape->edges[i - 1])
			key = mu_tags_mix(key, shape->edges[i]);
	return key;
}
