#include "lib/explain/python_owners.h"

#include <string.h>

#include "heapwalk/explain/edges.h"
#include "heapwalk/graph/references.h"
#include "lib/explain/heads.h"
#include "lib/types/python_keys.h"

#define WORD sizeof(uintptr_t)
#define FLAGS ((uintptr_t)3) /* of both words, _PyGC_PREV_... */

#define USES_MAX ((uintptr_t)1 << 28) /* more: it lives for ever */

#define IN_MEMORY 0x80000000u
#define MANY UINT32_MAX

/* Words of PyTupleObject in Include/cpython/tupleobject.h. */
#define TUPLE_COUNT MU_PYTHON_LENGTH
#define TUPLE_ITEMS 3

#define WEAK_OBJECT 2 /* the word of PyWeakReference */
#define ADDED_MAX 3   /* words: malloc splits off no less than 32 bytes */

#define WORDS_MAX 4

enum state {
	OWNER, /* or it is not known that it is none */
	NONE,
	LINK,
};

struct finding {
	struct mu_explaining *explaining;
	struct mu_held all; /* the words before */
	uint8_t *states;    /* enum state, for each of them */
	uint64_t *linked;   /* a bit for each block: a link to it is gone */
	uint64_t *hashed;   /* a bit for each block: a hash leads to it */
	uint8_t *objects; /* by block: references from objects and their parts,
			     at most UINT8_MAX */
	uint32_t *owners; /* by block: first of values 1 + their owner, or
			     MANY; then 1 + those in blocks; 0: has no count;
			     IN_MEMORY: words of no block may be some, too */
	uint32_t from;    /* the block whose words are judged */
	bool from_object; /* it is of an object */
};

static bool
read_class(const struct mu_snapshot *snap, uintptr_t address,
    struct mu_python_class *class)
{
	const void *view;

	if (address == 0 || address % WORD != 0)
		return false;
	view = mu_snapshot_peek(snap, address, sizeof(*class), class);
	if (view == NULL)
		return false;
	if (view != class)
		memcpy(class, view, sizeof(*class));
	return mu_python_class_ready(class);
}

bool
mu_python_class_find(
    const struct mu_snapshot *snap, uintptr_t address, size_t before)
{
	struct mu_python_class class;

	return read_class(snap, address, &class) &&
	    mu_python_class_before(&class) == before;
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
	links.end = block->range.begin + type->offset;
	links.begin = links.end - 2 * WORD;
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
	uintptr_t object[TUPLE_ITEMS];
	struct mu_python_class class;

	if (room < TUPLE_ITEMS)
		return 0;
	memcpy(object, block->view + at * WORD, sizeof(object));
	if (strcmp(name, "tuple") == 0)
		return object[TUPLE_COUNT] > room - TUPLE_ITEMS
		    ? room
		    : TUPLE_ITEMS + object[TUPLE_COUNT];
	if (!read_class(explaining->snap, object[MU_PYTHON_CLASS], &class) ||
	    class.basicsize > room * WORD)
		return 0;
	return strcmp(name, "code") == 0 ? class.basicsize / WORD
					 : object_end(&class, object, room);
}

static bool
has_objects(const struct mu_live_types *live)
{
	size_t i;

	for (i = 1; i < live->count; i++)
		if (live->types[i].counter == MU_COUNTER_PYTHON)
			return true;
	return false;
}

static void
note_linked(const struct finding *finding, uint32_t number)
{
	finding->linked[number / 64] |= 1ull << number % 64;
}

static bool
was_linked(const struct finding *finding, uint32_t number)
{
	return (finding->linked[number / 64] >> number % 64 & 1) != 0;
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
cut_words(struct finding *finding, const struct mu_block *block,
    struct mu_range words)
{
	struct mu_graph *graph = finding->explaining->graph;
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
		if (!mu_blocks_find(graph->blocks, word & ~FLAGS, &to) ||
		    refers(graph->blocks, block, words, to.range))
			continue;
		ends.numbers[ends.count++] = to.number;
		note_linked(finding, to.number);
	}
	if (ends.count > 0)
		mu_edges_drop(graph, node, is_end, &ends);
}

/* Of block NUMBER, and of its parts. */
static void
drop(struct finding *finding, uint32_t number,
    bool (*is_dropped)(void *ctx, uint32_t target))
{
	struct mu_graph *graph = finding->explaining->graph;
	size_t first, parts = mu_graph_parts(graph, number, &first);

	if (parts == 0)
		mu_edges_drop(graph, number, is_dropped, finding);
	for (; parts > 0; parts--)
		mu_edges_drop(graph, graph->num_blocks + (uint32_t)first++,
		    is_dropped, finding);
}

static bool
is_hashed(void *ctx, uint32_t target)
{
	const struct finding *finding = ctx;

	if (target >= finding->explaining->graph->num_blocks ||
	    (finding->hashed[target / 64] >> target % 64 & 1) == 0)
		return false;
	note_linked(finding, target);
	return true;
}

/* Set or clear the bits of what words lead to, STRIDE bytes from each other. */
static bool
mark_hashed(const struct finding *finding, const struct mu_block *table,
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
			finding->explaining->graph->blocks, word, &to))
			continue;
		bit = 1ull << to.number % 64;
		if (set)
			finding->hashed[to.number / 64] |= bit;
		else
			finding->hashed[to.number / 64] &= ~bit;
		any = true;
	}
	return any;
}

/*
 * The hash of a number is the number, which may be an address: the keys of
 * tp_subclasses are the addresses of types.
 */
static void
cut_hashes(struct finding *finding, const struct mu_block *block)
{
	struct mu_python_keys keys;

	if (!mu_python_keys_read(
		block->view, mu_range_size(block->range), &keys) ||
	    keys.key == 0 ||
	    !mark_hashed(finding, block, keys.first, &keys, true))
		return;
	mark_hashed(finding, block, keys.first + keys.key, &keys, false);
	mark_hashed(finding, block, keys.first + keys.key + WORD, &keys, false);
	drop(finding, block->number, is_hashed);
	mark_hashed(finding, block, keys.first, &keys, false);
}

/* What it refers to does not count it. */
static bool
is_weak(const struct finding *finding, uint32_t number)
{
	const struct mu_live_type *type =
	    mu_live_type_of(&finding->explaining->types, number);

	return type->counter == MU_COUNTER_PYTHON &&
	    strncmp(type->name, "weak", 4) == 0;
}

/* True if BLOCK is an object, or a dictionary's table, without an owner. */
static bool
is_free(const struct finding *finding, const struct mu_block *block)
{
	size_t size = mu_range_size(block->range), at;
	uintptr_t words[MU_PYTHON_BEFORE / WORD + 2] = { 0 };
	struct mu_python_keys keys;

	if (mu_live_type_of(&finding->explaining->types, block->number)
		->certain)
		return false;
	if (mu_python_keys_read(block->view, size, &keys) && keys.uses == 0)
		return true;
	memcpy(words, block->view, size < sizeof(words) ? size : sizeof(words));
	for (at = 0; at <= MU_PYTHON_BEFORE; at += 2 * WORD)
		if (words[at / WORD] == 0 &&
		    mu_python_class_find(
			finding->explaining->snap, words[at / WORD + 1], at))
			return true;
	return false;
}

/* What is in use does not belong to what is free. */
static bool
is_in_use(void *ctx, uint32_t target)
{
	const struct finding *finding = ctx;
	struct mu_block block;

	if (!mu_blocks_at(finding->explaining->graph->blocks, target, &block) ||
	    is_free(finding, &block))
		return false;
	note_linked(finding, target);
	return true;
}

static bool
is_any(void *ctx, uint32_t target)
{
	note_linked(ctx, target);
	return true;
}

static bool
is_plain(const struct finding *finding, const struct mu_block *block)
{
	const struct mu_live_type *type =
	    mu_live_type_of(&finding->explaining->types, block->number);
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
cut_object(struct finding *finding, const struct mu_block *block)
{
	const struct mu_explaining *explaining = finding->explaining;
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
	cut_words(finding, block,
	    (struct mu_range) { object + end * WORD, block->range.end });
	if (is_weak(finding, block->number))
		cut_words(finding, block,
		    (struct mu_range) { object + WEAK_OBJECT * WORD,
			object + (WEAK_OBJECT + 1) * WORD });
}

static bool
cut_edges(void *ctx, const struct mu_block *block)
{
	struct finding *finding = ctx;
	struct mu_explaining *explaining = finding->explaining;
	struct mu_range links;

	if (!mu_block_marked(block))
		return true;
	links = mu_python_links_of(explaining, block);
	cut_object(finding, block);
	if (mu_range_size(links) > 0)
		cut_words(finding, block, links);
	else if (is_plain(finding, block)) /* letters may look like pointers */
		drop(finding, block->number, is_any);
	else if (is_free(finding, block))
		drop(finding, block->number, is_in_use);
	else
		cut_hashes(finding, block);
	return !mu_deadline_passed(
	    &explaining->deadline, 4 + mu_range_size(block->range) / 64);
}

/* True if WORD refers to an object in the collector's way. */
static bool
is_link(const struct mu_explaining *explaining, const struct mu_held_word *word)
{
	const struct mu_blocks *blocks = explaining->graph->blocks;
	struct mu_block block;
	struct mu_range links;
	uintptr_t value;

	if (word->kind == MU_HELD_REGISTER ||
	    !mu_blocks_at(blocks, word->node, &block))
		return false;
	links = mu_python_links_of(explaining, &block);
	return mu_range_size(links) > 0 &&
	    mu_snapshot_word(explaining->snap, word->address, &value) &&
	    (value & ~FLAGS) == links.begin;
}

/*
 * How many owners block NUMBER has, by its own count: an object, or the table
 * of a dictionary. 0: it has none.
 */
static uintptr_t
uses_of(const struct finding *finding, uint32_t number)
{
	const struct mu_explaining *explaining = finding->explaining;
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

/* True if block NUMBER is the table of a dictionary, whose owner is another. */
static bool
is_table(const struct finding *finding, uint32_t number)
{
	struct mu_python_keys keys;
	struct mu_block block;

	return mu_blocks_at(
		   finding->explaining->graph->blocks, number, &block) &&
	    mu_python_keys_read(block.view, mu_range_size(block.range), &keys);
}

/* True if block NUMBER is an object or a part of one. */
static bool
is_of_object(const struct finding *finding, uint32_t number)
{
	return mu_live_type_of(&finding->explaining->types, number)->source ==
	    MU_TYPE_TAG ||
	    is_table(finding, number);
}

static void
count_objects(struct finding *finding)
{
	const struct mu_graph *graph = finding->explaining->graph;
	uint32_t node, block, at, target;

	for (node = 0; node < graph->num_nodes; node++) {
		block = mu_route_block(graph, node);
		if (!is_of_object(finding, block) || is_weak(finding, block))
			continue;
		at = graph->cells[node];
		while (mu_edges_next(graph, &at, &target))
			if (target < graph->num_blocks)
				finding->objects[target] +=
				    finding->objects[target] < UINT8_MAX;
		mu_deadline_passed(&finding->explaining->deadline, 8);
	}
}

/* The values of the attributes of an object, or of its dictionary, are OWNER's.
 */
static void
note_values(struct finding *finding, const struct mu_block *owner, size_t at)
{
	struct mu_block values;
	uintptr_t word;

	if (at + WORD > mu_range_size(owner->range))
		return;
	memcpy(&word, owner->view + at, sizeof(word));
	if (!mu_blocks_find(
		finding->explaining->graph->blocks, word, &values) ||
	    mu_live_type_of(&finding->explaining->types, values.number)
		    ->counter == MU_COUNTER_PYTHON)
		return;
	finding->owners[values.number] =
	    finding->owners[values.number] == 0 ? 1 + owner->number : MANY;
}

static bool
find_values(void *ctx, const struct mu_block *block)
{
	struct finding *finding = ctx;
	const struct mu_live_type *type =
	    mu_live_type_of(&finding->explaining->types, block->number);

	if (!mu_block_marked(block) || type->counter != MU_COUNTER_PYTHON ||
	    !type->certain)
		return true;
	if (strcmp(type->name, "dict") == 0)
		note_values(
		    finding, block, type->offset + MU_PYTHON_VALUES * WORD);
	if (type->offset == MU_PYTHON_BEFORE) {
		note_values(finding, block, 0);
		note_values(finding, block, WORD);
	}
	return !mu_deadline_passed(&finding->explaining->deadline, 8);
}

/* True if objects have as many references to TARGET as it counts. */
static bool
is_owned(const struct finding *finding, uint32_t target)
{
	uintptr_t uses =
	    finding->objects[target] == 0 ? 0 : uses_of(finding, target);

	return uses > 0 && finding->objects[target] >= uses;
}

/* True if a word of finding->from that leads to TARGET is old. */
static bool
is_old(void *ctx, uint32_t target)
{
	const struct finding *finding = ctx;
	uint32_t owner;

	if (target >= finding->explaining->graph->num_blocks)
		return false;
	owner = finding->owners[target];
	if ((owner == 0 || owner == MANY || owner == 1 + finding->from) &&
	    (finding->from_object || !is_owned(finding, target)))
		return false;
	note_linked(finding, target);
	return true;
}

/*
 * Values have one owner. Blocks that are no objects have old words, such as
 * those of lists of free objects.
 */
static void
cut_old(struct finding *finding)
{
	struct mu_graph *graph = finding->explaining->graph;
	uint32_t node;

	count_objects(finding);
	mu_blocks_each(graph->blocks, find_values, finding);
	for (node = 0; node < graph->num_nodes; node++) {
		finding->from = mu_route_block(graph, node);
		finding->from_object = is_of_object(finding, finding->from);
		mu_edges_drop(graph, node, is_old, finding);
		mu_deadline_passed(&finding->explaining->deadline, 8);
	}
	memset(finding->owners, 0,
	    (size_t)graph->num_blocks * sizeof(*finding->owners));
}

/* Of the blocks that words refer to. */
static void
count_owners(struct finding *finding)
{
	const struct mu_graph *graph = finding->explaining->graph;
	uint32_t node, at, target;
	const struct mu_held_word *word;
	size_t i;

	for (i = 0; i < finding->all.count; i++) {
		word = &finding->all.words[i];
		if (finding->states[i] != OWNER ||
		    uses_of(finding, word->node) == 0)
			continue;
		finding->owners[word->node] |=
		    word->kind == MU_HELD_ANONYMOUS ? IN_MEMORY | 1 : 1;
	}
	for (node = 0; node < graph->num_nodes; node++) {
		if (is_weak(finding, mu_route_block(graph, node)))
			continue;
		at = graph->cells[node];
		while (mu_edges_next(graph, &at, &target))
			if (target < graph->num_blocks &&
			    finding->owners[target] != 0)
				finding->owners[target]++;
		mu_deadline_passed(&finding->explaining->deadline, 8);
	}
}

static void
judge_words(struct finding *finding)
{
	const struct mu_held *all = &finding->all;
	uint32_t node, owners;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (!is_link(finding->explaining, &all->words[i]))
			continue;
		finding->states[i] = LINK;
		note_linked(finding, all->words[i].node);
		mu_deadline_passed(&finding->explaining->deadline, 4);
	}
	count_owners(finding);
	for (i = 0; i < all->count; i++) {
		node = all->words[i].node;
		owners = finding->owners[node] & ~IN_MEMORY;
		if (finding->states[i] != OWNER)
			continue;
		if (owners > 1 && owners > uses_of(finding, node))
			finding->states[i] = NONE;
		else if (finding->owners[node] == 1 && is_table(finding, node))
			mu_edges_drop(finding->explaining->graph, node,
			    is_in_use, finding);
	}
}

/*
 * The words that are owners, by address: behind one for each of COUNT NODES,
 * which have none.
 */
static bool
take_words(struct finding *finding, const uint32_t *nodes, size_t count)
{
	struct mu_held *held = &finding->explaining->held;
	size_t i;

	*held = (struct mu_held) { .max = finding->all.count + count };
	held->words = mu_arena_alloc(
	    finding->explaining->tables, held->max + 1, sizeof(*held->words));
	if (held->words == NULL)
		return false;
	for (i = 0; i < count; i++)
		held->words[held->count++] =
		    (struct mu_held_word) { .node = nodes[i],
			    .kind = MU_HELD_INTERPRETER };
	for (i = 0; i < finding->all.count; i++)
		if (finding->states[i] == OWNER)
			held->words[held->count++] = finding->all.words[i];
	return true;
}

/* Of a cycle that words lead to, one of their blocks is the head. */
static void
find_heads(struct finding *finding, struct mu_heads *heads)
{
	size_t i;
	uint32_t node;

	for (i = 0; i < finding->all.count; i++)
		if (finding->states[i] == NONE)
			mu_heads_add(heads, finding->all.words[i].node);
	for (node = 0; node < heads->routes->graph->num_blocks; node++)
		if (was_linked(finding, node))
			mu_heads_add(heads, node);
	mu_heads_keep(heads);
}

/* Words that lead to a head may be owners; the list keeps heads without one. */
static void
restore_words(struct finding *finding, struct mu_heads *heads)
{
	size_t i, kept = 0;
	uint32_t node;

	for (i = 0; i < finding->all.count; i++) {
		node = finding->all.words[i].node;
		if (finding->states[i] != NONE || !mu_heads_has(heads, node))
			continue;
		finding->states[i] = OWNER;
		finding->linked[node / 64] &= ~(1ull << node % 64);
	}
	for (i = 0; i < heads->count; i++)
		if (was_linked(finding, heads->list[i]))
			heads->list[kept++] = heads->list[i];
	heads->count = kept;
}

static enum mu_status
hold_the_rest(struct finding *finding)
{
	struct mu_explaining *explaining = finding->explaining;
	struct mu_routes routes;
	struct mu_heads heads;
	enum mu_status status = MU_ERR_NO_MEMORY;

	if (take_words(finding, NULL, 0))
		status = mu_routes_find(&routes, explaining->graph,
		    &explaining->held, explaining->tables,
		    &explaining->deadline);
	if (status != MU_OK)
		return status;
	/* Owners are counted. */
	mu_heads_open(&heads, &routes, finding->owners, &explaining->deadline);
	find_heads(finding, &heads);
	restore_words(finding, &heads);
	if (explaining->deadline.passed)
		return MU_ERR_TIMEOUT;
	return take_words(finding, heads.list, heads.count) ? MU_OK
							    : MU_ERR_NO_MEMORY;
}

enum mu_status
mu_python_owners_find(struct mu_explaining *explaining)
{
	struct mu_graph *graph = explaining->graph;
	struct mu_arena *tables = explaining->tables;
	struct finding finding = { .explaining = explaining,
		.all = explaining->held };

	/* The links of objects that are not known would be taken for owners. */
	if (explaining->types.python && explaining->types.late)
		return MU_ERR_TIMEOUT;
	explaining->python = has_objects(&explaining->types);
	if (!explaining->python)
		return MU_OK;
	finding.linked = mu_arena_alloc_table(tables,
	    (size_t)graph->num_blocks / 64 + 1, sizeof(*finding.linked));
	finding.hashed = mu_arena_alloc_table(tables,
	    (size_t)graph->num_blocks / 64 + 1, sizeof(*finding.hashed));
	finding.owners = mu_arena_alloc_table(
	    tables, (size_t)graph->num_blocks + 1, sizeof(*finding.owners));
	finding.states = mu_arena_alloc_table(
	    tables, finding.all.count + 1, sizeof(*finding.states));
	finding.objects = mu_arena_alloc_table(
	    tables, (size_t)graph->num_blocks + 1, sizeof(*finding.objects));
	if (finding.linked == NULL || finding.hashed == NULL ||
	    finding.owners == NULL || finding.objects == NULL ||
	    finding.states == NULL || graph->cells == NULL || graph->reads)
		return MU_ERR_NO_MEMORY;
	mu_blocks_each(graph->blocks, cut_edges, &finding);
	cut_old(&finding);
	judge_words(&finding);
	return explaining->deadline.passed ? MU_ERR_TIMEOUT
					   : hold_the_rest(&finding);
}
