#include "lib/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain/collections.h"
#include "lib/explain/explaining.h"
#include "lib/explain/python_owners.h"
#include "lib/explain/share.h"
#include "mu/text.h"

/* More say that an object lives for ever (CPython 3.12), or are damaged. */
#define USES_MAX ((uintptr_t)1 << 28)

#define STRINGS_LIMIT ((size_t)1 << 30)

/*
 * A quarter of the time remains for the answer itself, and another one if a
 * look has to be written.
 */
static uint64_t
explain_until(uint64_t deadline_ns, bool save)
{
	return mu_share_until(mu_sys_now_ns(), deadline_ns, save ? 2 : 3, 4);
}

/*
 * The next part may take PARTS of WHOLE of the time that is left, and wait for
 * names in the first three quarters of that. What these take of a CPU has a
 * limit of its own (lib/symbolize/confinement.c).
 */
static void
give_time(struct mu_explaining *explaining, unsigned parts, unsigned whole)
{
	uint64_t now = mu_sys_now_ns(), until;

	until = mu_share_until(now, explaining->end_ns, parts, whole);
	explaining->deadline = (struct mu_deadline) { .ns = until };
	explaining->places.deadline_ns = mu_share_until(now, until, 3, 4);
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
find_held(struct mu_explaining *explaining)
{
	return mu_held_find(&explaining->held, explaining->graph,
	    explaining->roots, explaining->snap, explaining->tables,
	    &explaining->deadline);
}

static enum mu_status
find_types(struct mu_explaining *explaining)
{
	return mu_live_types_find(&explaining->types, &explaining->places,
	    &explaining->typed, &explaining->held, &explaining->deadline);
}

struct part {
	const char *what; /* is missing without it */
	enum mu_status (*explain)(struct mu_explaining *);
	bool wanted;
	bool large;  /* may take three quarters of the time that is left;
			others have equal shares */
	bool needed; /* by those that follow */
	bool always; /* also if there was no time for what it needs */
};

/* WHAT is missing: there was no time or no memory for it. */
static void
leave_out(
    struct mu_explaining *explaining, enum mu_status status, const char *what)
{
	struct mu_missing *missing = &explaining->missing;
	struct mu_text text = { missing->what, sizeof(missing->what),
		strlen(missing->what) };

	mu_text_add(&text, "%s%s", text.length > 0 ? ", " : "", what);
	if (missing->status != MU_ERR_NO_MEMORY)
		missing->status = status;
}

static void
explain_parts(
    struct mu_explaining *explaining, const struct part *parts, size_t count)
{
	enum mu_status status, stuck = MU_OK;
	unsigned left = 1; /* the last share is for the names of steps */
	size_t i;

	for (i = 0; i < count; i++)
		left += parts[i].wanted;
	for (i = 0; i < count; i++) {
		if (!parts[i].wanted)
			continue;
		if (parts[i].large)
			give_time(explaining, 3, 4);
		else
			give_time(explaining, 1, left);
		left--;
		status = stuck;
		if (stuck == MU_OK ||
		    (stuck == MU_ERR_TIMEOUT && parts[i].always))
			status = parts[i].explain(explaining);
		if (status != MU_OK && parts[i].what != NULL)
			leave_out(explaining, status, parts[i].what);
		if (stuck == MU_OK &&
		    (parts[i].needed || status == MU_ERR_NO_MEMORY))
			stuck = status;
	}
	give_time(explaining, 1, 1);
}

static void
explain_all(struct mu_explaining *explaining)
{
	const struct mu_explain *wanted = &explaining->out->wanted;
	const bool why = wanted->why || wanted->why_type != NULL;
	const struct part parts[] = {
		{ NULL, find_held, true, .large = true, .needed = true },
		{ "the types of all blocks", find_types, true, .large = true },
		{ "the names in the look", mu_save_explain,
		    wanted->save != NULL, .always = true },
		{ "what is in use", mu_in_use_explain,
		    .wanted = wanted->in_use },
		{ "who allocated that", mu_stacks_explain,
		    .wanted = wanted->in_use && explaining->recorder != NULL },
		{ "what collections hold", mu_collections_explain,
		    .wanted = wanted->in_use && wanted->collections },
		{ NULL, mu_python_owners_find, why || wanted->retained > 0,
		    .large = true, .needed = true },
		{ "why blocks live", mu_why_explain, .wanted = why },
		{ "what holds the heap", mu_retained_explain,
		    .wanted = wanted->retained > 0 },
	};

	/* Types are proven again when a saved look is read. */
	explaining->typed.unproven =
	    wanted->save != NULL && !mu_explain_shows(wanted);
	mu_blocks_each(explaining->graph->blocks, add_live, explaining->out);
	explain_parts(explaining, parts, sizeof(parts) / sizeof(*parts));
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
note(struct mu_explained *out, const struct mu_missing *missing,
    struct mu_places *places, size_t unasked)
{
	const char *names_note = places->helper.why;
	bool stripped = has_no_debug_information(places);

	out->cut = missing->status != MU_OK || names_note[0] != '\0';
	if (missing->status == MU_ERR_NO_MEMORY)
		mu_text_format(out->note, sizeof(out->note),
		    "there was no memory for %s; --max-memory allows more",
		    missing->what);
	else if (missing->status != MU_OK)
		mu_text_format(out->note, sizeof(out->note),
		    "there was no time for %s; --timeout gives more",
		    missing->what);
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
		.end_ns =
		    explain_until(search->deadline_ns, wanted->save != NULL),
	};

	if (out == NULL)
		return NULL;
	out->wanted = *wanted;
	mu_arena_open(&out->arena, STRINGS_LIMIT);
	if (mu_places_open(&explaining.places, search->snap,
		&search->heap.blocks, source, rights, &out->arena,
		search->tables))
		explain_all(&explaining);
	else
		leave_out(&explaining, MU_ERR_NO_MEMORY, "any of it");
	describe_steps(&explaining);
	note(out, &explaining.missing, &explaining.places,
	    explaining.types.unasked);
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
