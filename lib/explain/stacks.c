/*
 * Who allocated: the stacks that a recorder keeps, of what is in use and of the
 * blocks that an explanation shows.
 */
#include <stdlib.h>
#include <string.h>

#include "heapwalk/explain/keyed.h"
#include "heapwalk/recorded/recorded.h"
#include "lib/explain/explaining.h"
#include "mu/sort.h"

#define STACKS_SHOWN ((size_t)100)
#define FRAMES ((size_t)32) /* of each that are kept */

struct stack {
	uint64_t key; /* its id, which may be 0, and 1 */
	size_t count, bytes, asked;
};

struct census {
	struct mu_explaining *explaining;
	struct mu_keyed stacks; /* struct stack */
	bool no_memory;
};

static bool
count_block(void *ctx, const struct mu_block *block)
{
	struct census *census = ctx;
	struct mu_recorded_block recorded;
	struct stack *stack;
	bool added;

	if (!mu_block_marked(block) ||
	    !mu_recorder_find(
		census->explaining->recorder, block->range, &recorded))
		return true;
	stack =
	    mu_keyed_add(&census->stacks, (uint64_t)recorded.stack + 1, &added);
	if (stack == NULL) {
		census->no_memory = true;
		return false;
	}
	stack->count++;
	stack->bytes += mu_range_size(block->range);
	stack->asked += mu_range_size(recorded.range);
	return !mu_deadline_passed(&census->explaining->deadline, 16);
}

static int
compare(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void
keep_symbol(const struct mu_places *places, struct mu_symbol *symbol)
{
	const struct mu_inlined *from = symbol->inlined;
	struct mu_inlined *inlined = mu_arena_alloc(
	    places->arena, symbol->num_inlined + 1, sizeof(*inlined));
	size_t i;

	symbol->module = mu_places_keep(places, symbol->module);
	symbol->build_id = mu_places_keep(places, symbol->build_id);
	symbol->function = mu_places_keep(places, symbol->function);
	symbol->file = mu_places_keep(places, symbol->file);
	if (inlined == NULL)
		symbol->num_inlined = 0;
	for (i = 0; i < symbol->num_inlined; i++)
		inlined[i] = (struct mu_inlined) {
			.function = mu_places_keep(places, from[i].function),
			.file = mu_places_keep(places, from[i].file),
			.line = from[i].line,
		};
	symbol->inlined = inlined;
}

/* The symbols of COUNT frames; their strings are the explanation's. */
static void
name_frames(const struct mu_recorder *recorder, struct mu_places *places,
    const uintptr_t *pcs, size_t count, struct mu_symbol *symbols)
{
	struct mu_symbol_question questions[FRAMES] = { { .address = 0 } };
	struct mu_symbol_answer answers[FRAMES];
	struct mu_script script;
	size_t i;

	memset(answers, 0, sizeof(answers));
	for (i = 0; i < count; i++)
		questions[i] = (struct mu_symbol_question) { .address = pcs[i],
			.call = true };
	mu_symbol_helper_ask(
	    &places->helper, questions, answers, count, places->deadline_ns);
	for (i = 0; i < count; i++) {
		symbols[i] = answers[i].symbol;
		if (mu_recorder_script(recorder, pcs[i], &script))
			symbols[i] = mu_symbol_of_script(&script);
		keep_symbol(places, &symbols[i]);
	}
}

static bool
take_stack(struct mu_explaining *explaining, const struct stack *from,
    struct mu_in_use_stack *to)
{
	struct mu_arena *arena = &explaining->out->arena;
	uintptr_t pcs[FRAMES];

	to->count = from->count;
	to->bytes = from->bytes;
	to->asked = from->asked;
	to->num_frames = mu_recorder_stack(
	    explaining->recorder, (uint32_t)(from->key - 1), pcs, FRAMES);
	to->pcs = mu_arena_alloc(arena, FRAMES, sizeof(*to->pcs));
	to->frames = mu_arena_alloc(arena, FRAMES, sizeof(*to->frames));
	if (to->pcs == NULL || to->frames == NULL)
		return false;
	memcpy(to->pcs, pcs, to->num_frames * sizeof(*pcs));
	name_frames(explaining->recorder, &explaining->places, pcs,
	    to->num_frames, to->frames);
	return true;
}

static bool
take_stacks(struct census *census)
{
	struct mu_explained *out = census->explaining->out;
	const struct stack *stacks = mu_keyed_pack(&census->stacks);
	size_t i, kept = census->stacks.count;

	if (kept > 0)
		mu_sort(census->stacks.items, kept, sizeof(*stacks), compare);
	out->total_stacks = kept;
	if (kept > STACKS_SHOWN)
		kept = STACKS_SHOWN;
	out->stacks =
	    mu_arena_alloc(&out->arena, kept + 1, sizeof(*out->stacks));
	if (out->stacks == NULL)
		return false;
	for (i = 0; i < kept; i++) {
		if (!take_stack(
			census->explaining, &stacks[i], &out->stacks[i]))
			return false;
		out->num_stacks++;
	}
	return true;
}

enum mu_status
mu_stacks_explain(struct mu_explaining *explaining)
{
	struct census census = { .explaining = explaining,
		.stacks = { .arena = explaining->tables,
		    .size = sizeof(struct stack),
		    .first = (size_t)1 << 10,
		    .most = SIZE_MAX } };

	if (explaining->recorder == NULL)
		return MU_OK;
	mu_blocks_each(explaining->graph->blocks, count_block, &census);
	if (explaining->deadline.passed)
		return MU_ERR_TIMEOUT;
	return !census.no_memory && take_stacks(&census) ? MU_OK
							 : MU_ERR_NO_MEMORY;
}

/*
 * True for functions that only pass an allocation on: those of the C++ library,
 * and malloc() by other names, such as xmalloc() and g_malloc0().
 */
static bool
is_wrapper(const char *function)
{
	static const char *const prefixes[] = { "operator new",
		"std::", "__gnu_cxx::", "void* std::" };
	static const char *const words[] = { "malloc", "calloc", "realloc",
		"reallocarray", "memalign", "aligned_alloc", "strdup",
		"strndup", "memdup", "slice_alloc", "asprintf", "vasprintf" };
	size_t i, length;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(function, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	function += strspn(function, "_");
	if (function[0] == 'x')
		function++;
	else if (strncmp(function, "g_", 2) == 0)
		function += 2;
	if (strncmp(function, "try_", 4) == 0)
		function += 4;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		length = strlen(words[i]);
		if (strncmp(function, words[i], length) == 0 &&
		    function[length + strspn(function + length, "0_n")] == '\0')
			return true;
	}
	return false;
}

/* The first function of the stack that is no wrapper. */
static void
name_step(struct mu_explaining *explaining, struct mu_step *step)
{
	struct mu_recorded_block recorded;
	const struct mu_symbol *symbol;
	struct mu_symbol symbols[FRAMES];
	struct mu_block block;
	uintptr_t pcs[FRAMES];
	size_t i, level, count;

	if (!mu_blocks_find(explaining->graph->blocks, step->address, &block) ||
	    !mu_recorder_find(explaining->recorder, block.range, &recorded))
		return;
	count = mu_recorder_stack(
	    explaining->recorder, recorded.stack, pcs, FRAMES);
	name_frames(
	    explaining->recorder, &explaining->places, pcs, count, symbols);
	for (i = 0; i < count; i++) {
		symbol = &symbols[i];
		for (level = 0; level <= symbol->num_inlined; level++) {
			step->function = mu_symbol_function(symbol, level);
			if (step->function == NULL ||
			    is_wrapper(step->function))
				continue;
			step->file = level == 0
			    ? symbol->file
			    : symbol->inlined[level - 1].file;
			step->line = level == 0
			    ? symbol->line
			    : symbol->inlined[level - 1].line;
			return;
		}
	}
	step->function = NULL;
}

void
mu_stacks_name_steps(struct mu_explaining *explaining,
    struct mu_step *const *steps, size_t count)
{
	size_t i;

	for (i = 0; explaining->recorder != NULL && i < count; i++)
		if (steps[i]->kind == MU_STEP_BLOCK)
			name_step(explaining, steps[i]);
}
