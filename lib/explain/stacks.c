/*
 * Who allocated: the stacks that a recorder keeps, of what is in use and of the
 * blocks that an explanation shows.
 */
#include <stdlib.h>
#include <string.h>

#include "heapwalk/recorded/recorded.h"
#include "lib/explain/explaining.h"
#include "mu/sort.h"

#define STACKS_SHOWN ((size_t)100)
#define FRAMES ((size_t)32)          /* of each that are kept */
#define FIRST_ROOM ((size_t)1 << 10) /* a power of 2 */
#define SPREAD 0x9e3779b1u           /* 2^32 / the golden ratio */

struct stack {
	uint32_t id;
	size_t count, bytes, asked; /* COUNT is 0: unused */
};

struct census {
	struct mu_explaining *explaining;
	struct stack *stacks; /* by id, with free places between */
	size_t count, room;
	bool no_memory;
};

static struct stack *
place_of(const struct census *census, uint32_t id)
{
	size_t at = (id * SPREAD >> 8) & (census->room - 1);

	while (census->stacks[at].count != 0 && census->stacks[at].id != id)
		at = (at + 1) & (census->room - 1);
	return &census->stacks[at];
}

static bool
make_room(struct census *census)
{
	struct census more = *census;
	size_t i;

	if (census->room > 0 && census->count < census->room / 2)
		return true;
	more.room = census->room == 0 ? FIRST_ROOM : census->room * 2;
	more.stacks = mu_arena_alloc_table(
	    census->explaining->tables, more.room, sizeof(*more.stacks));
	if (more.stacks == NULL)
		return false;
	for (i = 0; i < census->room; i++)
		if (census->stacks[i].count != 0)
			*place_of(&more, census->stacks[i].id) =
			    census->stacks[i];
	*census = more;
	return true;
}

static bool
count_block(void *ctx, const struct mu_block *block)
{
	struct census *census = ctx;
	struct mu_recorded_block recorded;
	struct stack *stack;

	if (!mu_block_marked(block) ||
	    !mu_recorder_find(
		census->explaining->recorder, block->range, &recorded))
		return true;
	if (!make_room(census)) {
		census->no_memory = true;
		return false;
	}
	stack = place_of(census, recorded.stack);
	census->count += stack->count == 0;
	stack->id = recorded.stack;
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
	return x->id < y->id ? -1 : x->id > y->id;
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
name_frames(struct mu_places *places, const uintptr_t *pcs, size_t count,
    struct mu_symbol *symbols)
{
	struct mu_symbol_question questions[FRAMES] = { { .address = 0 } };
	struct mu_symbol_answer answers[FRAMES];
	size_t i;

	memset(answers, 0, sizeof(answers));
	for (i = 0; i < count; i++)
		questions[i] = (struct mu_symbol_question) { .address = pcs[i],
			.call = true };
	mu_symbol_helper_ask(
	    &places->helper, questions, answers, count, places->deadline_ns);
	for (i = 0; i < count; i++) {
		symbols[i] = answers[i].symbol;
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
	to->num_frames =
	    mu_recorder_stack(explaining->recorder, from->id, pcs, FRAMES);
	to->pcs = mu_arena_alloc(arena, FRAMES, sizeof(*to->pcs));
	to->frames = mu_arena_alloc(arena, FRAMES, sizeof(*to->frames));
	if (to->pcs == NULL || to->frames == NULL)
		return false;
	memcpy(to->pcs, pcs, to->num_frames * sizeof(*pcs));
	name_frames(&explaining->places, pcs, to->num_frames, to->frames);
	return true;
}

static bool
take_stacks(struct census *census)
{
	struct mu_explained *out = census->explaining->out;
	size_t i, kept = 0;

	for (i = 0; i < census->room; i++)
		if (census->stacks[i].count != 0)
			census->stacks[kept++] = census->stacks[i];
	if (kept > 0)
		mu_sort(census->stacks, kept, sizeof(*census->stacks), compare);
	out->total_stacks = kept;
	if (kept > STACKS_SHOWN)
		kept = STACKS_SHOWN;
	out->stacks =
	    mu_arena_alloc(&out->arena, kept + 1, sizeof(*out->stacks));
	if (out->stacks == NULL)
		return false;
	for (i = 0; i < kept; i++) {
		if (!take_stack(census->explaining, &census->stacks[i],
			&out->stacks[i]))
			return false;
		out->num_stacks++;
	}
	return true;
}

enum mu_status
mu_stacks_explain(struct mu_explaining *explaining)
{
	struct census census = { .explaining = explaining };

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
	name_frames(&explaining->places, pcs, count, symbols);
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
