#include "lib/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain/collections.h"
#include "lib/explain/explaining.h"
#include "lib/explain/python_owners.h"
#include "mu/text.h"

/* More say that an object lives for ever (CPython 3.12), or are damaged. */
#define USES_MAX ((uintptr_t)1 << 28)

#define STRINGS_LIMIT ((size_t)1 << 30)

uint64_t
mu_explain_until(uint64_t now_ns, uint64_t deadline_ns, bool save)
{
	uint64_t left = deadline_ns > now_ns ? deadline_ns - now_ns : 0;

	return now_ns + left / 4 * (save ? 2 : 3);
}

/*
 * Names may take half of the time that is left. What they take of a CPU has a
 * limit of its own (lib/symbolize/confinement.c).
 */
static uint64_t
names_until(uint64_t deadline_ns)
{
	uint64_t now = mu_sys_now_ns();

	return deadline_ns > now ? now + (deadline_ns - now) / 2 : now;
}

static bool
add_live(void *ctx, const struct mu_block *block)
{
	struct mu_explained *out = ctx;

	if (mu_block_marked(block)) {
		out->live_bytes += mu_range_size(block->range);
		out->live_blocks++;
	}
	return true;
}

static enum mu_status
explain_held(struct mu_explaining *explaining)
{
	const struct mu_explain *wanted = &explaining->out->wanted;
	enum mu_status status = mu_python_owners_find(explaining);

	if (status == MU_OK && (wanted->why || wanted->why_type != NULL))
		status = mu_why_explain(explaining);
	if (status == MU_OK && wanted->retained > 0)
		status = mu_retained_explain(explaining);
	return status;
}

struct steps {
	struct mu_step **items;
	size_t count;
};

static void
add_steps(struct steps *all, struct mu_step *steps, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (all->items != NULL)
			all->items[all->count] = &steps[i];
		all->count++;
	}
}

static void
add_why(struct steps *all, const struct mu_why_held *why)
{
	add_steps(all, why->path, why->num_steps);
	add_steps(all, why->referrers, why->num_referrers);
}

static void
list_steps(const struct mu_explained *out, struct steps *all)
{
	struct mu_retained *retained = out->retained;
	size_t i;

	all->count = 0;
	add_why(all, &out->why);
	for (i = 0; i < out->why_type.count; i++)
		add_why(all, &out->why_type.nearest[i]);
	for (i = 0; i < out->num_retained; i++) {
		add_steps(all, &retained[i].holder, 1);
		add_steps(all, retained[i].path, retained[i].num_steps);
	}
}

/* A thread has most of what it holds in the frame where the path begins. */
static void
name_thread(struct mu_retained *retained)
{
	const struct mu_step *root = retained->path;
	struct mu_step *holder = &retained->holder;

	if (holder->kind != MU_STEP_THREAD || retained->num_steps == 0 ||
	    root->kind != MU_STEP_STACK || root->thread != holder->thread)
		return;
	holder->function = root->function;
	holder->file = root->file;
	holder->line = root->line;
}

/*
 * Each owner of an object that counts has a pointer to its begin. Others may
 * have one, too (a weak_ptr, an old word of a stack): more references than
 * owners say nothing.
 */
static void
count_owners(struct mu_explaining *explaining, struct mu_why_held *why)
{
	const struct mu_step *last =
	    why->num_steps == 0 ? NULL : &why->path[why->num_steps - 1];
	unsigned more;
	uintptr_t word;
	size_t i, at;

	if (last == NULL || !last->certain || why->num_referrers == 0 ||
	    why->num_referrers < why->total_referrers ||
	    !mu_type_counter_place(last->counter, &at, &more) ||
	    !mu_snapshot_word(
		explaining->snap, last->address + last->object + at, &word) ||
	    (word & UINT32_MAX) > USES_MAX)
		return;
	why->counter = mu_type_counter_name(last->counter);
	why->uses = (word & UINT32_MAX) + more;
	for (i = 0; i < why->num_referrers; i++)
		why->references += why->referrers[i].into == last->object;
}

static void
count_all_owners(struct mu_explaining *explaining)
{
	struct mu_explained *out = explaining->out;
	size_t i;

	count_owners(explaining, &out->why);
	for (i = 0; i < out->why_type.count; i++)
		count_owners(explaining, &out->why_type.nearest[i]);
}

/* What the blocks and frames are that the explanation shows. */
static void
describe_steps(struct mu_explaining *explaining)
{
	struct mu_explained *out = explaining->out;
	struct steps all = { .items = NULL };
	size_t i;

	list_steps(explaining->out, &all);
	all.items = calloc(all.count + 1, sizeof(struct mu_step *));
	if (all.items == NULL)
		return;
	list_steps(explaining->out, &all);
	mu_steps_name(explaining, all.items, all.count);
	mu_places_ask_types(&explaining->places, all.items, all.count);
	mu_places_ask_frames(&explaining->places, all.items, all.count);
	mu_stacks_name_steps(explaining, all.items, all.count);
	free(all.items);
	count_all_owners(explaining);
	for (i = 0; i < out->num_retained; i++)
		name_thread(&out->retained[i]);
}

static enum mu_status
explain_all(struct mu_explaining *explaining)
{
	const struct mu_explain *wanted = &explaining->out->wanted;
	enum mu_status status, saved = MU_OK;

	/* Types are proven again when a saved look is read. */
	explaining->typed.unproven =
	    wanted->save != NULL && !mu_explain_shows(wanted);
	mu_blocks_each(explaining->graph->blocks, add_live, explaining->out);
	status = mu_held_find(&explaining->held, explaining->graph,
	    explaining->roots, explaining->snap, explaining->tables,
	    &explaining->deadline);
	if (status == MU_OK)
		status = mu_live_types_find(&explaining->types,
		    &explaining->places, &explaining->typed, &explaining->held,
		    &explaining->deadline);
	/* A look without some types is better than none. */
	if ((status == MU_OK || status == MU_ERR_TIMEOUT) &&
	    wanted->save != NULL)
		saved = mu_save_explain(explaining);
	if (status == MU_OK)
		status = saved;
	if (status == MU_OK && wanted->in_use)
		status = mu_in_use_explain(explaining);
	if (status == MU_OK && wanted->in_use)
		status = mu_stacks_explain(explaining);
	if (status == MU_OK && wanted->in_use && wanted->collections)
		status = mu_collections_explain(explaining);
	if (status == MU_OK &&
	    (wanted->why || wanted->why_type != NULL || wanted->retained > 0))
		status = explain_held(explaining);
	return status;
}

/* True if it is known that the program has none, wherever that was looked for.
 */
static bool
has_no_debug_information(struct mu_places *places)
{
	struct mu_symbol_question question = {
		.address = mu_places_program(places),
		.detail = true,
	};
	struct mu_symbol_answer answer = { .given = false };

	if (question.address != 0)
		mu_symbol_helper_ask(&places->helper, &question, &answer, 1,
		    places->deadline_ns);
	return answer.given && answer.detail < MU_SYMBOLS_LINES;
}

static void
note(struct mu_explained *out, enum mu_status status, struct mu_places *places,
    size_t unasked)
{
	const char *names_note = places->helper.why;
	bool stripped = has_no_debug_information(places);

	out->cut = status != MU_OK || names_note[0] != '\0';
	if (status == MU_ERR_NO_MEMORY)
		mu_text_format(out->note, sizeof(out->note),
		    "there was no memory to explain more; --max-memory allows"
		    " more");
	else if (status == MU_ERR_TIMEOUT)
		mu_text_format(out->note, sizeof(out->note),
		    "there was no time to explain more; --timeout gives more");
	else if (names_note[0] != '\0')
		mu_text_format(out->note, sizeof(out->note),
		    "names are incomplete: %s", names_note);
	else if (stripped)
		mu_text_format(out->note, sizeof(out->note),
		    "the program has no debug information here, by which"
		    " structures and fields have names; install it, or set"
		    " DEBUGINFOD_URLS");
	else if (unasked > 0)
		mu_text_format(out->note, sizeof(out->note),
		    "there are too many blocks to ask for the types of %zu of"
		    " them",
		    unasked);
}

struct mu_explained *
mu_explain(const struct mu_explain *wanted, struct mu_search *search,
    const struct mu_symbols_source *source, const struct mu_rights *rights)
{
	struct mu_arena_piece *pieces = search->tables->pieces;
	struct mu_explained *out = calloc(1, sizeof(*out));
	struct mu_explaining explaining = {
		.out = out,
		.graph = &search->graph,
		.roots = &search->roots,
		.snap = search->snap,
		.heap = &search->heap,
		.recorder = search->recorded ? &search->recorder : NULL,
		.tables = search->tables,
		.deadline = { .ns = mu_explain_until(mu_sys_now_ns(),
				  search->deadline_ns, wanted->save != NULL) },
	};
	enum mu_status status = MU_ERR_NO_MEMORY;

	if (out == NULL)
		return NULL;
	out->wanted = *wanted;
	mu_arena_open(&out->arena, STRINGS_LIMIT);
	if (mu_places_open(&explaining.places, search->snap,
		&search->heap.blocks, source, rights, &out->arena,
		search->tables, names_until(search->deadline_ns)))
		status = explain_all(&explaining);
	describe_steps(&explaining);
	note(out, status, &explaining.places, explaining.types.unasked);
	mu_pools_note(&explaining);
	mu_places_close(&explaining.places);
	mu_arena_rewind(search->tables, pieces);
	return out;
}

void
mu_explained_free(struct mu_explained *explained)
{
	if (explained == NULL)
		return;
	mu_arena_close(&explained->arena);
	free(explained);
}

const char *
mu_step_kind_name(enum mu_step_kind kind)
{
	static const char *const words[MU_STEP_KINDS] = { "variable", "stack",
		"thread_variables", "register", "thread", "root_region",
		"mapping", "kernel_or_ignored", "allocator", "interpreter",
		"block", "more" };

	return kind < MU_STEP_KINDS ? words[kind] : "mapping";
}
