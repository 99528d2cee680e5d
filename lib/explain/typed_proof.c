#include "lib/explain/typed_proof.h"

#include <string.h>

#include "heapwalk/heaps/blocks_reading.h"

#define WORD sizeof(uintptr_t)

struct proving {
	struct mu_typed *typed;
	const struct mu_live_types *live;
	const struct mu_blocks *blocks;
	struct mu_deadline *deadline;
	uint32_t *proven; /* blocks whose words are to be followed */
	size_t count, max;
	bool no_memory;
};

/* What a word says of the block to which it leads. */
enum says { ANOTHER, NOTHING, THE_SAME };

/* What the words of an object are declared to lead to. */
struct holder {
	const struct mu_declared *declared; /* NULL: nothing is declared */
	uint32_t stride;                    /* of a row of these; 0: none */
};

/* True if BLOCK has thread-local variables. */
static bool
has_variables(const struct proving *proving, const struct mu_block *block)
{
	size_t thread;

	return mu_owners_tls_block(
	    &proving->typed->places->owners, block->range.begin, &thread);
}

static const struct mu_live_type *
type_of(const struct proving *proving, uint32_t block)
{
	return mu_live_type_of(proving->live, block);
}

/* True if BLOCK is of a declared type that may be proven. */
static bool
is_claimed(const struct proving *proving, uint32_t block)
{
	const struct mu_live_type *type = type_of(proving, block);
	const uint8_t said = proving->typed->said[block];

	return type->source == MU_TYPE_DWARF && (said & MU_DOUBTED) == 0 &&
	    (type->certain || (said & MU_SOUND) != 0);
}

/* True if BLOCK says itself what it is. */
static bool
is_tagged(const struct proving *proving, uint32_t block)
{
	const struct mu_live_type *type = type_of(proving, block);

	return type->certain && type->source != MU_TYPE_DWARF &&
	    type->source != MU_TYPE_TAG;
}

static struct holder
holder_of(const struct proving *proving, uint32_t block)
{
	const struct mu_live_type *type = type_of(proving, block);

	return (struct holder) { mu_declared_types_known(
				     &proving->typed->types, type->id),
		type->stride };
}

static void
doubt(struct proving *proving, uint32_t block)
{
	proving->typed->said[block] |= MU_DOUBTED;
}

static void
prove(struct proving *proving, uint32_t block)
{
	uint8_t *said = &proving->typed->said[block];

	if ((*said & MU_PROVEN) != 0)
		return;
	*said |= MU_PROVEN;
	if (mu_arena_room(proving->typed->places->tables, proving->proven,
		proving->count, proving->max, 1024))
		proving->proven[proving->count++] = block;
	else
		proving->no_memory = true;
}

/* What the word at OFFSET of HOLDER says of a block of TYPE. */
static enum says
says_of(const struct proving *proving, const struct holder *holder,
    size_t offset, const struct mu_live_type *type)
{
	const struct mu_declared_field *field;
	const struct mu_declared *target;

	if (holder->stride > 0)
		offset %= holder->stride;
	field = mu_declared_field_at(holder->declared, offset);
	if (field == NULL || field->one_of)
		return ANOTHER;
	if (field->type == type->id)
		return THE_SAME;
	target = mu_declared_types_known(&proving->typed->types, field->type);
	if (target == NULL || target->name == NULL)
		return ANOTHER;
	/* Which nodes a bucket has is not declared there. */
	if (target->node_base)
		return NOTHING;
	return strcmp(target->name, type->name) == 0 ? THE_SAME : ANOTHER;
}

/* What a variable with the word at ADDRESS says of a block of TYPE. */
static enum says
variable_says_of(const struct proving *proving, uintptr_t address,
    const struct mu_live_type *type)
{
	const struct mu_typed_variable *variable =
	    mu_typed_variable_at(proving->typed, address);
	struct holder holder = { .declared = NULL };
	enum says says = ANOTHER;

	if (variable == NULL)
		return ANOTHER;
	holder.declared =
	    mu_declared_types_known(&proving->typed->types, variable->type);
	if (!variable->reference)
		says = says_of(
		    proving, &holder, address - variable->range.begin, type);
	else if (variable->type == type->id)
		says = THE_SAME;
	/* A local one may not have a value yet; it proves nothing. */
	return variable->function != NULL && says == THE_SAME ? NOTHING : says;
}

/*
 * Call TAKE with each claimed block to whose begin a word of BLOCK leads, and
 * what the word says of it.
 */
static void
read_words(struct proving *proving, const struct mu_block *block,
    void (*take)(struct proving *proving, uint32_t target, enum says says))
{
	const struct holder holder = holder_of(proving, block->number);
	const bool variables = has_variables(proving, block);
	size_t at, size = mu_range_size(block->range);
	const struct mu_live_type *type;
	struct mu_block target;
	uintptr_t word;

	for (at = 0; at + WORD <= size; at += WORD) {
		memcpy(&word, block->view + at, WORD);
		if (mu_range_has(proving->blocks->envelope, word) &&
		    mu_blocks_find(proving->blocks, word, &target) &&
		    target.range.begin == word &&
		    target.number != block->number &&
		    is_claimed(proving, target.number)) {
			type = type_of(proving, target.number);
			take(proving, target.number,
			    variables ? variable_says_of(proving,
					    block->range.begin + at, type)
				      : says_of(proving, &holder, at, type));
		}
	}
	mu_deadline_passed(proving->deadline, size / WORD);
}

static void
doubt_other(struct proving *proving, uint32_t target, enum says says)
{
	if (says == ANOTHER)
		doubt(proving, target);
}

static void
prove_same(struct proving *proving, uint32_t target, enum says says)
{
	if (says == THE_SAME)
		prove(proving, target);
}

static enum says
held_says_of(const struct proving *proving, const struct mu_held_word *word,
    const struct mu_live_type *type)
{
	return word->address == 0 || word->kind == MU_HELD_REGISTER
	    ? ANOTHER
	    : variable_says_of(proving, word->address, type);
}

/*
 * A word of a stack or a register may be old. But it may also hold a block that
 * is not filled yet: malloc() leaves a link of a free list at its begin, which
 * takes more than 32 bits, and what was there before behind it.
 */
static bool
may_be_old(const struct proving *proving, const struct mu_held_word *word)
{
	const struct holder holder = holder_of(proving, word->node);
	struct mu_block block;
	uintptr_t first;

	if ((word->kind != MU_HELD_STACK && word->kind != MU_HELD_CALLER &&
		word->kind != MU_HELD_REGISTER) ||
	    !mu_blocks_at(proving->blocks, word->node, &block) ||
	    mu_range_size(block.range) < sizeof(first))
		return false;
	memcpy(&first, block.view, sizeof(first));
	return first <= UINT32_MAX ||
	    mu_declared_field_at(holder.declared, 0) != NULL;
}

/* True if WORD leads to the begin of its block, as far as is known. */
static bool
leads_to_begin(const struct proving *proving, const struct mu_held_word *word)
{
	const struct mu_snapshot *snap = proving->typed->places->snap;
	struct mu_block block;
	uintptr_t value;

	if (word->kind == MU_HELD_REGISTER) {
		if (word->address >= snap->num_values)
			return false; /* a stack pointer */
		value = snap->values[word->address];
	} else if (word->address == 0 ||
	    !mu_snapshot_word(snap, word->address, &value)) {
		return true;
	}
	return !mu_blocks_at(proving->blocks, word->node, &block) ||
	    value == block.range.begin;
}

static void
read_held(struct proving *proving, const struct mu_held *held,
    void (*take)(struct proving *proving, uint32_t target, enum says says))
{
	const struct mu_held_word *word = held->words;
	size_t i;

	for (i = 0; i < held->count; i++, word++)
		if (word->node < proving->blocks->count &&
		    is_claimed(proving, word->node) &&
		    !may_be_old(proving, word) && leads_to_begin(proving, word))
			take(proving, word->node,
			    held_says_of(
				proving, word, type_of(proving, word->node)));
}

static bool
contest(void *ctx, const struct mu_block *block)
{
	struct proving *proving = ctx;

	read_words(proving, block, doubt_other);
	if (is_tagged(proving, block->number) || has_variables(proving, block))
		prove(proving, block->number);
	return !proving->no_memory && !proving->deadline->passed;
}

static bool
drop_unproven(void *ctx, const struct mu_block *block)
{
	struct proving *proving = ctx;

	if (is_claimed(proving, block->number) &&
	    (proving->typed->said[block->number] & MU_PROVEN) == 0)
		doubt(proving, block->number);
	return true;
}

enum mu_status
mu_typed_prove(struct mu_typed *typed, const struct mu_live_types *live,
    const struct mu_held *held, struct mu_deadline *deadline)
{
	struct proving proving = {
		.typed = typed,
		.live = live,
		.blocks = typed->places->blocks,
		.deadline = deadline,
	};
	struct mu_block block;

	read_held(&proving, held, doubt_other);
	mu_blocks_read_each(
	    proving.blocks, typed->places->snap, contest, &proving);
	read_held(&proving, held, prove_same);
	while (proving.count > 0 && !deadline->passed && !proving.no_memory)
		if (mu_blocks_at(proving.blocks,
			proving.proven[--proving.count], &block))
			read_words(&proving, &block, prove_same);
	mu_blocks_each(proving.blocks, drop_unproven, &proving);
	if (proving.no_memory)
		return MU_ERR_NO_MEMORY;
	return deadline->passed ? MU_ERR_TIMEOUT : MU_OK;
}
