/*
 * After the marking, every root and every live block is searched once more,
 * with the same rules for references: heapwalk/graph/references.h.
 */
#include "heapwalk/refer/referrers.h"

#include <string.h>

#include "heapwalk/graph/encodings.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/mark/integers.h"
#include "heapwalk/refer/locate.h"
#include "heapwalk/subject/deadline.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"

#define WORD sizeof(uintptr_t)
#define LARGE (1u << 20) /* larger blocks are checked with populated() */

struct search {
	struct mu_referrers *out;
	const struct mu_blocks *blocks;
	const struct mu_roots *roots;
	const struct mu_snapshot *snap;
	struct mu_arena *arena;
	struct mu_range ours;
	struct mu_owners owners;
	struct mu_deadline deadline;
	bool no_memory;
};

/* Add a record; NULL if records are full and only the number counts. */
static struct mu_referrer *
add(struct search *search)
{
	struct mu_referrers *out = search->out;
	struct mu_referrer *item;

	out->total++;
	if (out->count == MU_MAX_REFERRERS)
		return NULL;
	if (!mu_arena_room(
		search->arena, out->items, out->count, out->max_items, 64)) {
		search->no_memory = true;
		return NULL;
	}
	item = &out->items[out->count++];
	*item = (struct mu_referrer) {
		.thread = MU_NO_INDEX, .mapping = MU_NO_INDEX, .reachable = 1
	};
	return item;
}

static bool
is_target(const struct search *search, const struct mu_block *block)
{
	return block->range.begin == search->out->target.begin;
}

/*
 * True if WORD refers to the target. AT is its address if it is in a block.
 * BY_HEADER: the address of a chunk header counts here.
 */
static bool
refers(const struct search *search, uintptr_t at, uintptr_t word,
    bool by_header, int64_t *into)
{
	const struct mu_range *target = &search->out->target;
	uintptr_t value = mu_reference_untag(search->blocks, word);
	struct mu_block to;

	if (mu_range_has(*target, value) &&
	    mu_reference_find(search->blocks, at, word, &to) &&
	    is_target(search, &to)) {
		*into = (int64_t)(value - target->begin);
		return true;
	}
	if (by_header && mu_reference_by_header(search->blocks, word, &to) &&
	    is_target(search, &to)) {
		*into = (int64_t)(word - target->begin);
		return true;
	}
	return false;
}

/* True if WORD at AT is the address of the target as an integer. */
static bool
is_integer(const struct search *search, uintptr_t at, uintptr_t word)
{
	unsigned encodings = search->blocks->integers;

	return encodings != 0 && at % WORD == 0 &&
	    mu_integers_refer(
		search->snap, encodings, at, word, search->out->target.begin);
}

static void
found(struct search *search, const struct mu_root *root,
    const struct mu_block *block, const struct mu_referrer *what)
{
	struct mu_referrer *item = add(search);
	size_t thread;

	if (item == NULL)
		return;
	item->address = what->address;
	item->value = what->value;
	item->into = what->into;
	if (block == NULL) {
		mu_referrer_locate(item, root, &search->owners);
		return;
	}
	item->kind = MU_REFERRER_BLOCK;
	item->reachable = mu_block_marked(block);
	item->base = item->begin = block->range.begin;
	item->size = mu_range_size(block->range);
	if (mu_owners_tls_block(&search->owners, block->range.begin, &thread))
		item->thread = (uint32_t)thread;
}

/* Search RANGE, whose bytes are at VIEW; it is part of ROOT or of BLOCK. */
static void
look(struct search *search, struct mu_range range, const char *view,
    const struct mu_root *root, const struct mu_block *block)
{
	bool stack = root != NULL && root->kind == MU_ROOT_STACK &&
	    search->roots->frames.count > 0;
	bool code = root != NULL
	    ? root->code || root->loads
	    : mu_reference_in_code(search->blocks, block->range);
	size_t step = mu_reference_step(search->blocks, code);
	/* A kept block is scanned as a root. */
	bool inside =
	    block != NULL && (block->listed == NULL || !block->listed->keep);
	struct mu_referrer what = { 0 };
	uintptr_t at, word;

	at = mu_reference_first(search->blocks, code, range.begin);
	for (; mu_reference_word(range, view, code, at, &word); at += step) {
		if (is_integer(search, at, word))
			what.into = 0;
		else if (!refers(search, inside ? at : 0, word,
			     stack && at % WORD == 0 &&
				 mu_ranges_has(&search->roots->frames, at),
			     &what.into) &&
		    (!code ||
			!refers(
			    search, 0, word & UINT32_MAX, false, &what.into)))
			continue;
		if (mu_range_has(search->ours, at))
			continue;
		what.address = at;
		what.value = word;
		found(search, root, block, &what);
	}
	mu_deadline_passed(&search->deadline, mu_range_size(range) / step + 8);
}

struct encoded {
	struct search *search;
	const struct mu_block *block;
};

static void
look_at_encoded(void *ctx, uintptr_t at, const struct mu_block *to)
{
	struct encoded *encoded = ctx;
	const struct mu_block *block = encoded->block;
	struct mu_referrer what = { .address = at };

	if (!is_target(encoded->search, to))
		return;
	memcpy(&what.value, block->view + (at - block->range.begin), WORD);
	found(encoded->search, NULL, block, &what);
}

static bool
look_at_block(void *ctx, const struct mu_block *block)
{
	struct search *search = ctx;
	struct mu_memory *memory = (struct mu_memory *)&search->snap->memory;
	struct mu_range rest = block->range, part;
	bool large = mu_range_size(rest) >= LARGE && memory->ops != NULL;
	bool code = mu_reference_in_code(search->blocks, rest);
	uintptr_t end;

	if (is_target(search, block))
		return true;
	if (search->blocks->encodings && mu_range_size(rest) == MU_ENCODED_SIZE)
		mu_encodings_each(search->blocks, block, look_at_encoded,
		    &(struct encoded) { search, block });
	while (mu_range_size(rest) > 0 && !search->deadline.passed) {
		part = rest;
		if (large && !memory->ops->populated(memory, rest, &part))
			break;
		if (part.begin < rest.begin || part.end > rest.end ||
		    part.begin >= part.end)
			part = rest;
		end = part.end;
		/* A word may cross from one part into an adjacent one. */
		if (part.begin == rest.begin &&
		    rest.begin - block->range.begin >= WORD)
			part.begin -=
			    WORD - mu_reference_step(search->blocks, code);
		look(search, part,
		    block->view + (part.begin - block->range.begin), NULL,
		    block);
		rest.begin = end;
	}
	return !search->deadline.passed && !search->no_memory;
}

/* True if NODE refers, or may refer, to TARGET. */
static bool
leads_to(const struct mu_graph *graph, uint32_t node, uint32_t target)
{
	uint32_t cell = mu_graph_cell(graph, node);
	const uint32_t *at;

	if (cell == MU_CELL_NONE || cell == MU_CELL_READ)
		return cell == MU_CELL_READ;
	if ((cell & MU_CELL_ONE) != 0)
		return (cell & ~MU_CELL_ONE) == target;
	for (at = &graph->targets[cell - 1];; at++) {
		if ((*at & MU_TARGET_LINK) != 0)
			at++;
		if ((*at & ~MU_TARGET_LAST) == target)
			return true;
		if ((*at & MU_TARGET_LAST) != 0)
			return false;
	}
}

/* The same for BLOCK and its parts. A kept block has no edges. */
static bool
block_leads_to(const struct mu_graph *graph, uint32_t block, uint32_t target)
{
	size_t first, count;

	if (leads_to(graph, block, target))
		return true;
	if (graph->num_parts == 0 || graph->cells[block] == MU_CELL_NONE)
		return false;
	count = mu_graph_parts(graph, block, &first);
	for (; count > 0; count--, first++)
		if (leads_to(
			graph, graph->num_blocks + (uint32_t)first, target))
			return true;
	return false;
}

static void
look_at_blocks(
    struct search *search, const struct mu_graph *graph, uint32_t target)
{
	const struct mu_listed *listed = graph->blocks->listed;
	size_t i = 0, end = graph->blocks->num_listed;
	struct mu_block block;
	uint32_t node;

	for (node = 0; node < graph->num_blocks; node++) {
		while (i < end && listed[i].number < node)
			i++;
		if (mu_deadline_passed(&search->deadline, 2))
			return;
		if (!block_leads_to(graph, node, target) &&
		    (i == end || listed[i].number != node || !listed[i].keep))
			continue;
		if (mu_blocks_at(graph->blocks, node, &block) &&
		    !look_at_block(search, &block))
			return;
	}
}

/*
 * Check a word without an address. Returns NULL if it does not refer to the
 * target or is not recorded.
 */
static struct mu_referrer *
look_at_word(struct search *search, uintptr_t word, bool by_header,
    enum mu_referrer_kind kind)
{
	struct mu_referrer *item;
	int64_t into;

	if (!refers(search, 0, word, by_header, &into))
		return NULL;
	item = add(search);
	if (item != NULL) {
		item->kind = kind;
		item->value = word;
		item->into = into;
	}
	return item;
}

static void
look_at_words(struct search *search, const uintptr_t *words, size_t count,
    enum mu_referrer_kind kind)
{
	size_t i;

	for (i = 0; i < count; i++)
		look_at_word(search, words[i], false, kind);
}

/* Check register I of the snapshot, of thread number THREAD. */
static void
look_at_register(struct search *search, size_t thread, size_t i)
{
	const struct mu_snapshot *snap = search->snap;
	bool in_malloc =
	    mu_ranges_has(&search->roots->frames, snap->threads[thread].sp);
	size_t shift, step = mu_reference_step(search->blocks, false);
	struct mu_referrer *item;
	uintptr_t word;

	for (shift = 0; shift < WORD; shift += step) {
		/*
		 * Vector registers are rows of bytes, so a pointer may cross
		 * two values.
		 */
		if (shift > 0 && i + 1 >= snap->num_values)
			break;
		memcpy(&word, (const char *)&snap->values[i] + shift, WORD);
		item = look_at_word(search, word, in_malloc && shift == 0,
		    MU_REFERRER_REGISTER);
		if (item == NULL)
			continue;
		item->thread = (uint32_t)thread;
		item->regno =
		    snap->regnos != NULL ? snap->regnos[i] : MU_REGNO_END;
	}
}

/* Check the registers, and the stack pointer unless it is among them. */
static void
look_at_thread(struct search *search, size_t index)
{
	const struct mu_snapshot *snap = search->snap;
	const struct mu_thread *thread = &snap->threads[index];
	size_t i, end = thread->first_value + thread->num_values;
	bool has_sp = thread->sp == 0 || snap->reach.no_stacks;
	struct mu_referrer *item;

	if (snap->reach.no_registers)
		end = thread->first_value;
	for (i = thread->first_value; i < end; i++) {
		look_at_register(search, index, i);
		has_sp |= snap->values[i] == thread->sp;
	}
	item = has_sp
	    ? NULL
	    : look_at_word(search, thread->sp, false, MU_REFERRER_REGISTER);
	if (item != NULL) {
		item->thread = (uint32_t)index;
		item->regno = MU_REGNO_GENERAL + MU_PRSTATUS_SP;
	}
}

static void
look_at_roots(struct search *search)
{
	const struct mu_roots *roots = search->roots;
	const struct mu_snapshot *snap = search->snap;
	size_t i;

	for (i = 0; i < roots->num_ranges; i++)
		look(search, roots->ranges[i].range, roots->ranges[i].view,
		    &roots->ranges[i], NULL);
	for (i = 0; i < snap->num_threads; i++)
		look_at_thread(search, i);
	look_at_words(search, snap->kernel_values, snap->num_kernel_values,
	    MU_REFERRER_KERNEL);
	look_at_words(search, snap->root_values, snap->num_root_values,
	    MU_REFERRER_VALUE);
}

enum mu_status
mu_referrers_find(struct mu_referrers *out, uintptr_t address,
    const struct mu_graph *graph, const struct mu_roots *roots,
    const struct mu_snapshot *snap, struct mu_range ours,
    struct mu_arena *arena, uint64_t deadline_ns, struct mu_why *why)
{
	const struct mu_blocks *blocks = graph->blocks;
	struct search search = { .out = out,
		.blocks = blocks,
		.roots = roots,
		.snap = snap,
		.arena = arena,
		.ours = ours,
		.deadline = { .ns = deadline_ns } };
	struct mu_block target;

	*out = (struct mu_referrers) { .items = NULL };
	if (!mu_blocks_find(blocks, address, &target))
		return mu_why(why, MU_ERR_ARGUMENT,
		    "no live block has the address %lx",
		    (unsigned long)address);
	out->target = target.range;
	out->reachable = mu_block_marked(&target);
	search.no_memory = !mu_owners_find(&search.owners, snap, blocks, arena);
	if (!search.no_memory) {
		look_at_roots(&search);
		look_at_blocks(&search, graph, target.number);
	}
	if (search.no_memory)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for %zu references", out->count);
	if (search.deadline.passed)
		return mu_why(why, MU_ERR_TIMEOUT,
		    "the search for references did not end in time");
	return MU_OK;
}
