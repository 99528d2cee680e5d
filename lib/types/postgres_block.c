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
	struct block block;
	bool whole;

	if (!is_wanted(blocks, symbols) || head->count < sizeof(context) / WORD)
		return false;
	memcpy(&block, head->words, sizeof(block));
	whole = read_context(symbols, head->begin, &context);
	if (!whole &&
	    (block.end <= head->begin || block.end - head->begin > head->size ||
		block.free <= head->begin || block.free > block.end ||
		!read_context(symbols, block.context, &context)))
		return false;
	if (mu_subject_string(symbols, context.name, name, sizeof(name)) == 0)
		return false;
	snprintf(blocks->name, sizeof(blocks->name), "%s%s",
	    whole ? CONTEXT : BLOCK CONTEXT, name);
	*type =
	    (struct mu_type) { .name = blocks->name, .source = MU_TYPE_TAG };
	return true;
}
