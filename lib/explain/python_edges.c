#include "lib/explain/python_edges.h"

#include <string.h>

#include "heapwalk/explain/edges.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/mark/integers.h"
#include "lib/python/class.h"
#include "lib/types/python_keys.h"

#define WORD sizeof(uintptr_t)

#define USES_MAX ((uintptr_t)1 << 28) /* more: it lives for ever */

#define MANY UINT32_MAX

/* Words of PyTupleObject in Include/cpython/tupleobject.h. */
#define TUPLE_COUNT MU_PYTHON_LENGTH

#define WEAK_OBJECT 2 /* the word of PyWeakReference */
#define ADDED_MAX 3   /* words: malloc splits off no less than 32 bytes */

#define WORDS_MAX 4

struct cutting {
	struct mu_explaining *explaining;
	uint64_t *cut;    /* a bit for each block: an edge to it is gone */
	uint64_t *hashed; /* a bit for each block: a hash leads to it */
	uint8_t *objects; /* by block: references from objects and their parts,
			     at most UINT8_MAX */
	uint32_t *values; /* by block, of values: 1 + their owner, or MANY */
	uint32_t from;    /* the block whose words are judged */
	bool from_object; /* it is of an object */
	const struct mu_block *plain; /* the one whose edges may be chance */
};

bool
mu_python_class_find(
    const struct mu_snapshot *snap, const uintptr_t *head, size_t before)
{
	struct mu_python_class class;

	return mu_python_class_read(snap, head[before / WORD + 1], &class) &&
	    mu_python_class_fits(&class, head, before);
}

/* True if the object in BLOCK is of CPython 3.7 or older. */
static bool
has_old_head(const struct mu_live_type *type, const struct mu_block *block)
{
	uintptr_t head[MU_PYTHON_BEFORE / WORD];

	if (type->offset != MU_PYTHON_BEFORE)
		return false;
	memcpy(head, block->view, sizeof(head));
	return mu_python_is_old_head(head);
}

struct mu_range
mu_python_links_of(
    const struct mu_explaining *explaining, const struct mu_block *block)
{
	const struct mu_live_type *type =
	    mu_live_type_of(&explaining->types, block->number);
	struct mu_range links = { 0, 0 };

	if (type->counter != MU_COUNTER_PYTHON || !type->certain ||
	    type->offset < 2 * WORD ||
	    type->offset > mu_range_size(block->range))
		return links;
	links.begin = has_old_head(type, block)
	    ? block->range.begin
	    : block->range.begin + type->offset - 2 * WORD;
	links.end = block->range.begin + type->offset;
	return links;
}

/*
 * Words of OBJECT of CLASS, in ROOM of them, with its items. What malloc adds
 * keeps old words. 0: there is more behind it than malloc adds.
 */
static size_t
object_end(
    const struct mu_python_class *class, const uintptr_t *object, size_t room)
{
	intptr_t count = (intptr_t)object[MU_PYTHON_LENGTH];
	size_t size = class->basicsize;

	if (mu_python_class_values(class) != 0)
		return 0;
	if (class->itemsize != 0) {
		count = count == INTPTR_MIN ? INTPTR_MAX : count;
		count = count < 0 ? -count : count;
		if ((size_t)count > room * WORD / class->itemsize)
			return 0;
		size += (size_t)count * class->itemsize;
	}
	size = (size + WORD - 1) / WORD;
	/* PyType_GenericAlloc() adds an item. */
	return size <= room &&
		room - size <= ADDED_MAX + (class->itemsize + WORD - 1) / WORD
	    ? size
	    : 0;
}

/*
 * Where the references end in the object at word AT of BLOCK: behind the items
 * of a tuple; of code, before its instructions; of another, at its end. 0: it
 * is not known.
 */
static size_t
references_end(const struct mu_explaining *explaining,
    const struct mu_block *block, const char *name, size_t at)
{
	size_t room = mu_range_size(block->range) / WORD - at;
	uintptr_t object[MU_PYTHON_ITEMS];
	struct mu_python_class class;

	if (room < MU_PYTHON_ITEMS)
		return 0;
	memcpy(object, block->view + at * WORD, sizeof(object));
	if (strcmp(name, "tuple") == 0)
		return object[TUPLE_COUNT] > room - MU_PYTHON_ITEMS
		    ? room
		    : MU_PYTHON_ITEMS + object[TUPLE_COUNT];
	if (!mu_python_class_read(
		explaining->snap, object[MU_PYTHON_CLASS], &class) ||
	    class.basicsize > room * WORD)
		return 0;
	if (strcmp(name, "code") == 0)
		return class.basicsize / WORD;
	/* Others may have references there: locals of a generator. */
	return strcmp(name, "type") == 0 || strcmp(name, "dict") == 0 ||
		mu_python_is_weak(explaining, block->number)
	    ? object_end(&class, object, room)
	    : 0;
}

static void
note_cut(const struct cutting *cutting, uint32_t number)
{
	cutting->cut[number / 64] |= 1ull << number % 64;
}

/* True if a word of BLOCK outside of WORDS refers to TO. */
static bool
refers(const struct mu_blocks *blocks, const struct mu_block *block,
    struct mu_range words, struct mu_range to)
{
	size_t step = mu_reference_step(blocks, false);
	uintptr_t at = mu_reference_first(blocks, false, block->range.begin);
	uintptr_t word;

	for (; mu_reference_word(block->range, block->view, false, at, &word);
	     at += step)
		if (!mu_range_has(words, at) &&
		    mu_range_has(to, mu_reference_untag(blocks, word)))
			return true;
	return false;
}

/* What some words of a block lead to, and its other words do not. */
struct ends {
	uint32_t numbers[WORDS_MAX];
	size_t count;
};

static bool
is_end(void *ctx, uint32_t target)
{
	const struct ends *ends = ctx;
	size_t i;

	for (i = 0; i < ends->count; i++)
		if (ends->numbers[i] == target)
			return true;
	return false;
}

/* WORDS of BLOCK own nothing; of more than a few only the first. */
static void
cut_words(struct cutting *cutting, const struct mu_block *block,
    struct mu_range words)
{
	struct mu_graph *graph = cutting->explaining->graph;
	struct ends ends = { .count = 0 };
	uint32_t node = block->number;
	uintptr_t at, word;
	struct mu_block to;
	size_t first;

	/* The words of a large block belong to its parts. */
	if (mu_graph_parts(graph, node, &first) > 0)
		node = graph->num_blocks + (uint32_t)first;
	for (at = words.begin; at < words.end && ends.count < WORDS_MAX;
	     at += WORD) {
		memcpy(&word, block->view + (at - block->range.begin), WORD);
		if (!mu_blocks_find(
			graph->blocks, word & ~MU_PYTHON_LINK_FLAGS, &to) ||
		    refers(graph->blocks, block, words, to.range))
			continue;
		ends.numbers[ends.count++] = to.number;
		note_cut(cutting, to.number);
	}
	if (ends.count > 0)
		mu_edges_drop(graph, node, is_end, &ends);
}

/* Of block NUMBER, and of its parts. */
static void
drop(struct cutting *cutting, uint32_t number,
    bool (*is_dropped)(void *ctx, uint32_t target))
{
	struct mu_graph *graph = cutting->explaining->graph;
	size_t first, parts = mu_graph_parts(graph, number, &first);

	if (parts == 0)
		mu_edges_drop(graph, number, is_dropped, cutting);
	for (; parts > 0; parts--)
		mu_edges_drop(graph, graph->num_blocks + (uint32_t)first++,
		    is_dropped, cutting);
}

static bool
is_hashed(void *ctx, uint32_t target)
{
	const struct cutting *cutting = ctx;

	if (target >= cutting->explaining->graph->num_blocks ||
	    (cutting->hashed[target / 64] >> target % 64 & 1) == 0)
		return false;
	note_cut(cutting, target);
	return true;
}

/* Set or clear the bits of what words lead to, STRIDE bytes from each other. */
static bool
mark_hashed(const struct cutting *cutting, const struct mu_block *table,
    size_t at, const struct mu_python_keys *keys, bool set)
{
	bool any = false;
	struct mu_block to;
	uintptr_t word;
	uint64_t bit;
	size_t i;

	for (i = 0; i < keys->count; i++, at += keys->stride) {
		memcpy(&word, table->view + at, WORD);
		if (!mu_blocks_find(
			cutting->explaining->graph->blocks, word, &to))
			continue;
		bit = 1ull << to.number % 64;
		if (set)
			cutting->hashed[to.number / 64] |= bit;
		else
			cutting->hashed[to.number / 64] &= ~bit;
		any = true;
	}
	return any;
}

/*
 * The hash of a number is the number, which may be an address: the keys of
 * tp_subclasses are the addresses of types.
 */
static void
cut_hashes(struct cutting *cutting, const struct mu_block *block,
    const struct mu_python_keys *keys)
{
	size_t key = keys->first + keys->key;

	if (keys->key == 0 ||
	    !mark_hashed(cutting, block, keys->first, keys, true))
		return;
	mark_hashed(cutting, block, key, keys, false);
	mark_hashed(cutting, block, key + WORD, keys, false);
	drop(cutting, block->number, is_hashed);
	mark_hashed(cutting, block, keys->first, keys, false);
}

/* What malloc adds to a table keeps old words. */
static void
cut_added(struct cutting *cutting, const struct mu_block *block,
    const struct mu_python_keys *keys)
{
	struct mu_range added = block->range;
	size_t first;

	if (mu_graph_parts(cutting->explaining->graph, block->number, &first) >
	    0)
		return;
	added.begin += (keys->bytes + WORD - 1) / WORD * WORD;
	cut_words(cutting, block, added);
}

static void
cut_table(struct cutting *cutting, const struct mu_block *block)
{
	struct mu_python_keys keys;

	if (!mu_python_keys_read(
		block->view, mu_range_size(block->range), &keys))
		return;
	cut_hashes(cutting, block, &keys);
	cut_added(cutting, block, &keys);
}

bool
mu_python_is_weak(const struct mu_explaining *explaining, uint32_t number)
{
	/* Up to 3.10, since 3.11, and classes of the module weakref. */
	static const char *const names[] = { "weakref", "weakproxy",
		"weakcallableproxy", "weakref.ReferenceType",
		"weakref.ProxyType", "weakref.CallableProxyType", "KeyedRef",
		"WeakMethod" };
	size_t i;
	const struct mu_live_type *type =
	    mu_live_type_of(&explaining->types, number);

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (type->counter == MU_COUNTER_PYTHON &&
		    strcmp(type->name, names[i]) == 0)
			return true;
	return false;
}

/* True if BLOCK is an object, or a dictionary's table, without an owner. */
static bool
is_free(const struct cutting *cutting, const struct mu_block *block)
{
	size_t size = mu_range_size(block->range), at;
	uintptr_t words[MU_PYTHON_BEFORE / WORD + 2] = { 0 };
	struct mu_python_keys keys;

	if (mu_live_type_of(&cutting->explaining->types, block->number)
		->certain)
		return false;
	if (mu_python_keys_read(block->view, size, &keys) && keys.uses == 0)
		return true;
	memcpy(words, block->view, size < sizeof(words) ? size : sizeof(words));
	for (at = 0; at <= MU_PYTHON_BEFORE; at += 2 * WORD)
		if (words[at / WORD] == 0 &&
		    mu_python_class_find(cutting->explaining->snap, words, at))
			return true;
	return false;
}

/* What is in use does not belong to what is free. */
static bool
is_in_use(void *ctx, uint32_t target)
{
	const struct cutting *cutting = ctx;
	struct mu_block block;

	if (!mu_blocks_at(cutting->explaining->graph->blocks, target, &block) ||
	    is_free(cutting, &block))
		return false;
	note_cut(cutting, target);
	return true;
}

/* True if the object in PLAIN is a number: the address of TO. */
static bool
is_number_of(const struct mu_explaining *explaining,
    const struct mu_block *plain, const struct mu_block *to)
{
	uintptr_t at, word;

	for (at = plain->range.begin; at + WORD <= plain->range.end;
	     at += WORD) {
		memcpy(&word, plain->view + (at - plain->range.begin), WORD);
		if (mu_integers_refer(explaining->snap,
			explaining->graph->blocks->integers, at, word,
			to->range.begin))
			return true;
	}
	return false;
}

/* Letters and digits may look like pointers. */
static bool
is_chance(void *ctx, uint32_t target)
{
	const struct cutting *cutting = ctx;
	const struct mu_explaining *explaining = cutting->explaining;
	struct mu_block to;

	if (mu_blocks_at(explaining->graph->blocks, target, &to) &&
	    is_number_of(explaining, cutting->plain, &to))
		return false;
	note_cut(cutting, target);
	return true;
}

static void
drop_chance(struct cutting *cutting, const struct mu_block *block)
{
	cutting->plain = block;
	drop(cutting, block->number, is_chance);
}

static bool
is_plain(const struct cutting *cutting, const struct mu_block *block)
{
	const struct mu_live_type *type =
	    mu_live_type_of(&cutting->explaining->types, block->number);
	size_t size = mu_range_size(block->range);

	return type->counter == MU_COUNTER_PYTHON && type->certain &&
	    type->offset < size &&
	    mu_python_is_plain(
		type->name, block->view + type->offset, size - type->offset);
}

/*
 * What owns nothing in BLOCK, if it is proven what it is: old words behind an
 * object, and of a weak reference what it refers to.
 */
static void
cut_object(struct cutting *cutting, const struct mu_block *block)
{
	const struct mu_explaining *explaining = cutting->explaining;
	const struct mu_live_type *type =
	    mu_live_type_of(&explaining->types, block->number);
	uintptr_t object = block->range.begin + type->offset;
	size_t first, end;

	if (type->counter != MU_COUNTER_PYTHON || !type->certain ||
	    object >= block->range.end ||
	    mu_graph_parts(explaining->graph, block->number, &first) > 0)
		return;
	end =
	    references_end(explaining, block, type->name, type->offset / WORD);
	if (end == 0)
		return;
	cut_words(cutting, block,
	    (struct mu_range) { object + end * WORD, block->range.end });
	if (mu_python_is_weak(cutting->explaining, block->number))
		cut_words(cutting, block,
		    (struct mu_range) { object + WEAK_OBJECT * WORD,
			object + (WEAK_OBJECT + 1) * WORD });
}

static bool
cut_edges(void *ctx, const struct mu_block *block)
{
	struct cutting *cutting = ctx;
	struct mu_explaining *explaining = cutting->explaining;
	struct mu_range links;

	if (!mu_block_marked(block))
		return true;
	links = mu_python_links_of(explaining, block);
	cut_object(cutting, block);
	if (mu_range_size(links) > 0)
		cut_words(cutting, block, links);
	else if (is_plain(cutting, block))
		drop_chance(cutting, block);
	else if (is_free(cutting, block))
		drop(cutting, block->number, is_in_use);
	else
		cut_table(cutting, block);
	return !mu_deadline_passed(
	    &explaining->deadline, 4 + mu_range_size(block->range) / 64);
}

uintptr_t
mu_python_uses_of(const struct mu_explaining *explaining, uint32_t number)
{
	const struct mu_live_type *type =
	    mu_live_type_of(&explaining->types, number);
	struct mu_python_keys keys = { .uses = 0 };
	struct mu_block block;
	uintptr_t uses;
	size_t size;

	if (!mu_blocks_at(explaining->graph->blocks, number, &block))
		return 0;
	size = mu_range_size(block.range);
	if (type->counter == MU_COUNTER_PYTHON && type->certain &&
	    size >= type->offset + WORD)
		memcpy(&uses, block.view + type->offset, WORD);
	else if (mu_python_keys_read(block.view, size, &keys))
		uses = keys.uses;
	else
		return 0;
	return uses <= USES_MAX ? uses : 0;
}

bool
mu_python_is_table(const struct mu_explaining *explaining, uint32_t number)
{
	struct mu_python_keys keys;
	struct mu_block block;

	return mu_blocks_at(explaining->graph->blocks, number, &block) &&
	    mu_python_keys_read(block.view, mu_range_size(block.range), &keys);
}

/* True if block NUMBER is an object or a part of one. */
static bool
is_of_object(const struct cutting *cutting, uint32_t number)
{
	return mu_live_type_of(&cutting->explaining->types, number)->source ==
	    MU_TYPE_TAG ||
	    mu_python_is_table(cutting->explaining, number);
}

static void
count_objects(struct cutting *cutting)
{
	const struct mu_graph *graph = cutting->explaining->graph;
	uint32_t node, block, at, target;

	for (node = 0; node < graph->num_nodes; node++) {
		block = mu_route_block(graph, node);
		if (!is_of_object(cutting, block) ||
		    mu_python_is_weak(cutting->explaining, block))
			continue;
		at = graph->cells[node];
		while (mu_edges_next(graph, &at, &target))
			if (target < graph->num_blocks)
				cutting->objects[target] +=
				    cutting->objects[target] < UINT8_MAX;
		mu_deadline_passed(&cutting->explaining->deadline, 8);
	}
}

/* The values of the attributes of an object, or of its dictionary, are OWNER's.
 */
static void
note_values(struct cutting *cutting, const struct mu_block *owner, size_t at)
{
	struct mu_block values;
	uintptr_t word;

	if (at + WORD > mu_range_size(owner->range))
		return;
	memcpy(&word, owner->view + at, sizeof(word));
	if (!mu_blocks_find(
		cutting->explaining->graph->blocks, word, &values) ||
	    mu_live_type_of(&cutting->explaining->types, values.number)
		    ->counter == MU_COUNTER_PYTHON)
		return;
	cutting->values[values.number] =
	    cutting->values[values.number] == 0 ? 1 + owner->number : MANY;
}

static bool
find_values(void *ctx, const struct mu_block *block)
{
	struct cutting *cutting = ctx;
	const struct mu_live_type *type =
	    mu_live_type_of(&cutting->explaining->types, block->number);

	if (!mu_block_marked(block) || type->counter != MU_COUNTER_PYTHON ||
	    !type->certain)
		return true;
	if (strcmp(type->name, "dict") == 0)
		note_values(
		    cutting, block, type->offset + MU_PYTHON_VALUES * WORD);
	if (type->offset == MU_PYTHON_BEFORE && !has_old_head(type, block)) {
		note_values(cutting, block, 0);
		note_values(cutting, block, WORD);
	}
	return !mu_deadline_passed(&cutting->explaining->deadline, 8);
}

/* True if objects have as many references to TARGET as it counts. */
static bool
is_owned(const struct cutting *cutting, uint32_t target)
{
	uintptr_t uses = cutting->objects[target] == 0
	    ? 0
	    : mu_python_uses_of(cutting->explaining, target);

	return uses > 0 && cutting->objects[target] >= uses;
}

/* True if a word of cutting->from that leads to TARGET is old. */
static bool
is_old(void *ctx, uint32_t target)
{
	const struct cutting *cutting = ctx;
	uint32_t owner;

	if (target >= cutting->explaining->graph->num_blocks)
		return false;
	owner = cutting->values[target];
	if ((owner == 0 || owner == MANY || owner == 1 + cutting->from) &&
	    (cutting->from_object || !is_owned(cutting, target)))
		return false;
	note_cut(cutting, target);
	return true;
}

/*
 * Values have one owner. Blocks that are no objects have old words, such as
 * those of lists of free objects.
 */
static void
cut_old(struct cutting *cutting)
{
	struct mu_graph *graph = cutting->explaining->graph;
	uint32_t node;

	count_objects(cutting);
	mu_blocks_each(graph->blocks, find_values, cutting);
	for (node = 0; node < graph->num_nodes; node++) {
		cutting->from = mu_route_block(graph, node);
		cutting->from_object = is_of_object(cutting, cutting->from);
		mu_edges_drop(graph, node, is_old, cutting);
		mu_deadline_passed(&cutting->explaining->deadline, 8);
	}
}

void
mu_python_edges_of_free(
    struct mu_explaining *explaining, uint64_t *cut, uint32_t number)
{
	struct cutting cutting = { .explaining = explaining, .cut = cut };

	drop(&cutting, number, is_in_use);
}

enum mu_status
mu_python_edges_cut(struct mu_explaining *explaining, uint64_t *cut)
{
	struct mu_arena *tables = explaining->tables;
	size_t blocks = (size_t)explaining->graph->num_blocks + 1;
	struct cutting cutting = { .explaining = explaining, .cut = cut };

	cutting.hashed = mu_arena_alloc_table(
	    tables, blocks / 64 + 1, sizeof(*cutting.hashed));
	cutting.objects =
	    mu_arena_alloc_table(tables, blocks, sizeof(*cutting.objects));
	cutting.values =
	    mu_arena_alloc_table(tables, blocks, sizeof(*cutting.values));
	if (cutting.hashed == NULL || cutting.objects == NULL ||
	    cutting.values == NULL)
		return MU_ERR_NO_MEMORY;
	mu_blocks_each(explaining->graph->blocks, cut_edges, &cutting);
	cut_old(&cutting);
	return explaining->deadline.passed ? MU_ERR_TIMEOUT : MU_OK;
}
