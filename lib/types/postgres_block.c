#include "lib/types/postgres_block.h"

#include <stdio.h>
#include <string.h>

#define WORD sizeof(uintptr_t)
#define CONTEXT "memory context "
#define BLOCK "block of "

/*
 * MemoryContextData of PostgreSQL 13 and up, as far as it is read: kind and two
 * flags, bytes, functions, places in the tree of contexts, name.
 */
struct context {
	uintptr_t kind, allocated, methods;
	uintptr_t parent, first, previous, next;
	uintptr_t name;
};

/* AllocBlockData */
struct block {
	uintptr_t context, previous, next, free, end;
};

/* GenerationBlock since PostgreSQL 16: of tuples that are sorted or kept. */
struct generation {
	uintptr_t previous, next, context, size, pieces, free, end;
};

/* Before, each piece had the context. */
struct old_generation {
	uintptr_t previous, next, size, pieces, free, end;
	uintptr_t piece_size, piece_block, piece_context;
};

/* True if there is a context at AT, which is where its relatives say. */
static bool
read_context(
    const struct mu_symbols *symbols, uintptr_t at, struct context *context)
{
	const struct mu_mapping *mapping;
	struct context relative;

	if (at == 0 || at % WORD != 0 ||
	    !mu_symbols_read(symbols, at, context, sizeof(*context)) ||
	    !mu_symbols_in_file(symbols, context->methods, &mapping) ||
	    !mu_symbols_in_file(symbols, context->name, &mapping))
		return false;
	if (context->parent == 0)
		return context->previous == 0 && context->next == 0;
	if (context->previous != 0)
		return mu_symbols_read(symbols, context->previous, &relative,
			   sizeof(relative)) &&
		    relative.next == at;
	return mu_symbols_read(
		   symbols, context->parent, &relative, sizeof(relative)) &&
	    relative.first == at;
}

/* The context that the block with HEAD says it is of; 0: it says none. */
static uintptr_t
context_of(const struct mu_block_head *head)
{
	struct block block;
	struct generation generation;
	struct old_generation old = { .piece_block = 0 };
	uintptr_t begin = head->begin, size;

	memcpy(&block, head->words, sizeof(block));
	memcpy(&generation, head->words, sizeof(generation));
	if (head->count >= sizeof(old) / WORD)
		memcpy(&old, head->words, sizeof(old));
	if (block.end > begin && block.end - begin <= head->size &&
	    block.free > begin && block.free <= block.end)
		return block.context;
	size = generation.size;
	if (size <= head->size && generation.end == begin + size)
		return generation.context;
	size = old.size;
	if (size <= head->size && old.end == begin + size &&
	    old.piece_block == begin)
		return old.piece_context;
	return 0;
}

static bool
is_wanted(struct mu_postgres_blocks *blocks, const struct mu_symbols *symbols)
{
	if (!blocks->asked)
		blocks->there = mu_symbols_has_file(symbols, "/postgres");
	blocks->asked = true;
	return blocks->there;
}

bool
mu_postgres_block_find(struct mu_postgres_blocks *blocks,
    const struct mu_symbols *symbols, const struct mu_block_head *head,
    struct mu_type *type)
{
	char name[MU_POSTGRES_NAME - sizeof(BLOCK CONTEXT)];
	struct context context;
	bool whole;

	if (!is_wanted(blocks, symbols) || head->count < sizeof(context) / WORD)
		return false;
	whole = read_context(symbols, head->begin, &context);
	if (!whole && !read_context(symbols, context_of(head), &context))
		return false;
	if (mu_subject_string(symbols, context.name, name, sizeof(name)) == 0)
		return false;
	snprintf(blocks->name, sizeof(blocks->name), "%s%s",
	    whole ? CONTEXT : BLOCK CONTEXT, name);
	*type =
	    (struct mu_type) { .name = blocks->name, .source = MU_TYPE_TAG };
	return true;
}
