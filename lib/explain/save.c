/*
 * Save all that was found. Before that, every name is asked for that a view of
 * the saved look may want.
 */
#include <stdlib.h>
#include <string.h>

#include "heapwalk/recorded/recorded.h"
#include "lib/explain/explaining.h"
#include "lib/explain/save_numbers.h"
#include "lib/explain/shapes.h"
#include "lib/look/write.h"

#define ASKED ((size_t)1024)         /* questions at a time */
#define LOST_MAX ((size_t)1 << 17)   /* lost blocks that are asked for */
#define WORDS 4                      /* of each that may be addresses */
#define FRAMES ((size_t)256)         /* of a stack */
#define STACKS_MAX ((size_t)1 << 16) /* that are asked for */

struct saving {
	struct mu_explaining *explaining;
	struct mu_symbol_question questions[ASKED];
	struct mu_symbol_answer answers[ASKED];
	struct mu_typed_block blocks[ASKED];
	size_t count;
	size_t lost;
	uint32_t last_stack;
	size_t stacks;
};

static void
ask(struct saving *saving)
{
	struct mu_places *places = &saving->explaining->places;

	memset(saving->answers, 0, sizeof(saving->answers));
	if (saving->count > 0)
		mu_symbol_helper_ask(&places->helper, saving->questions,
		    saving->answers, saving->count, places->deadline_ns);
	saving->count = 0;
}

static struct mu_symbol_question *
add(struct saving *saving, uintptr_t address)
{
	struct mu_symbol_question *question;

	if (saving->count == ASKED)
		ask(saving);
	question = &saving->questions[saving->count++];
	*question = (struct mu_symbol_question) { .address = address };
	return question;
}

static void
add_file_address(struct saving *saving, uintptr_t address)
{
	const struct mu_mapping *mapping =
	    mu_snapshot_mapping(saving->explaining->snap, address);

	if (mapping != NULL && mapping->name[0] == '/')
		add(saving, address);
}

/* The first address of each file: a view shows the build-ids. */
static void
add_modules(struct saving *saving)
{
	const struct mu_snapshot *snap = saving->explaining->snap;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++)
		if (snap->mappings[i].offset == 0)
			add_file_address(saving, snap->mappings[i].range.begin);
}

static bool
add_lost(void *ctx, const struct mu_block *block)
{
	struct saving *saving = ctx;
	struct mu_symbol_question *question;
	struct mu_typed_block *typed;
	uintptr_t words[WORDS] = { 0 };
	size_t i, size = mu_range_size(block->range);

	memcpy(words, block->view, size < sizeof(words) ? size : sizeof(words));
	for (i = 0; i < WORDS; i++)
		add_file_address(saving, words[i]);
	question = add(saving, block->range.begin);
	typed = &saving->blocks[question - saving->questions];
	mu_places_typed_block(block, typed);
	question->block = typed;
	return ++saving->lost < LOST_MAX;
}

static bool
add_stack(void *ctx, const struct mu_block *block)
{
	struct saving *saving = ctx;
	const struct mu_recorder *recorder = saving->explaining->recorder;
	struct mu_recorded_block found;
	uintptr_t frames[FRAMES];
	size_t i, count;

	/* Neighbours mostly have the same one. */
	if (!mu_recorder_find(recorder, block->range, &found) ||
	    found.stack == saving->last_stack)
		return true;
	saving->last_stack = found.stack;
	count = mu_recorder_stack(recorder, found.stack, frames, FRAMES);
	for (i = 0; i < count; i++)
		add(saving, frames[i])->call = true;
	return ++saving->stacks < STACKS_MAX;
}

/* Words may already have names by the ranges of others. */
static bool
ask_names(struct mu_explaining *explaining)
{
	struct saving *saving = calloc(1, sizeof(*saving));

	if (saving == NULL)
		return false;
	saving->explaining = explaining;
	add_modules(saving);
	mu_blocks_each_unmarked(explaining->graph->blocks, add_lost, saving);
	if (explaining->recorder != NULL)
		mu_blocks_each(explaining->graph->blocks, add_stack, saving);
	ask(saving);
	free(saving);
	return mu_places_ask(&explaining->places, explaining->held.words,
	    explaining->held.count);
}

enum mu_status
mu_save_explain(struct mu_explaining *explaining)
{
	struct mu_look_parts parts = {
		.snap = explaining->snap,
		.heap = explaining->heap,
		.roots = explaining->roots,
		.owners = &explaining->places.owners,
		.recorder = explaining->recorder,
		.tables = explaining->tables,
	};
	size_t i;

	for (i = 0; i < explaining->snap->num_threads; i++)
		mu_places_thread_name(
		    &explaining->places, explaining->snap->threads[i].tid);
	if (!ask_names(explaining) ||
	    !mu_save_numbers_find(
		explaining, &parts.numbers, &parts.num_numbers))
		return MU_ERR_NO_MEMORY;
	mu_shapes_keep(&explaining->types, &explaining->places,
	    explaining->places.source.kept);
	mu_look_write_graph(explaining->out->wanted.save, &parts);
	return MU_OK;
}
