#include "lib/explain/places.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/graph/references.h"
#include "heapwalk/subject/ranges.h"
#include "lib/symbolize/kept_names.h"
#include "lib/types/types.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "mu/sort.h"
#include "mu/sys.h"

#define WORD sizeof(uintptr_t)
#define ASKED ((size_t)4096) /* questions at a time */
#define ROUNDS 24
#define TYPED ((size_t)1024) /* blocks at a time */

bool
mu_places_open(struct mu_places *places, const struct mu_snapshot *snap,
    const struct mu_blocks *blocks, const struct mu_symbols_source *source,
    const struct mu_rights *rights, struct mu_arena *arena,
    struct mu_arena *tables)
{
	*places = (struct mu_places) {
		.snap = snap,
		.blocks = blocks,
		.arena = arena,
		.tables = tables,
		.source = *source,
	};
	places->source.mappings = snap->mappings;
	places->source.num_mappings = snap->num_mappings;
	places->helper.source = &places->source;
	places->helper.rights = *rights;
	places->helper.find_type = mu_types_answer;
	places->helper.find_declared = mu_types_declared;
	return mu_owners_find(&places->owners, snap, blocks, tables);
}

void
mu_places_close(struct mu_places *places)
{
	mu_symbol_helper_close(&places->helper);
	places->helper.source = NULL;
}

const char *
mu_places_keep(const struct mu_places *places, const char *text)
{
	size_t size = text == NULL ? 0 : strlen(text) + 1;
	char *copy = size == 0 ? NULL : mu_arena_alloc(places->arena, size, 1);

	return copy == NULL ? NULL : memcpy(copy, text, size);
}

uintptr_t
mu_places_program(const struct mu_places *places)
{
	size_t i;

	if (places->source.program != 0)
		return places->source.program;
	for (i = 0; i < places->snap->num_mappings; i++)
		if (places->snap->mappings[i].name[0] == '/')
			return places->snap->mappings[i].range.begin;
	return 0;
}

bool
mu_places_thread_variables(
    const struct mu_places *places, size_t index, uintptr_t *address)
{
	*address = places->owners.threads[index].variables;
	return *address != 0;
}

/* The variable at ADDRESS, if it was asked for; NULL: not known. */
static const struct mu_variable *
variable_at(const struct mu_places *places, uintptr_t address)
{
	size_t i = mu_ranges_upper(places->variables, places->num_variables,
	    sizeof(*places->variables), address);

	if (i == 0 || !mu_range_has(places->variables[i - 1].range, address))
		return NULL;
	return &places->variables[i - 1];
}

/*
 * A static variable of a function is "name.1234" for gcc; one whose type has an
 * ABI tag ends with that, "[abi:cxx11]".
 */
static const char *
variable_name(const struct mu_places *places, const char *function)
{
	const char *dot = function == NULL ? NULL : strrchr(function, '.');
	size_t length = function == NULL ? 0 : strlen(function);
	char *copy;

	if (dot != NULL && dot > function && dot[1] != '\0' &&
	    strspn(dot + 1, "0123456789") == strlen(dot + 1))
		length = (size_t)(dot - function);
	dot = function == NULL ? NULL : strstr(function, "[abi:");
	if (dot != NULL && dot > function &&
	    strchr(dot, ']') == function + length - 1)
		length = (size_t)(dot - function);
	copy =
	    length == 0 ? NULL : mu_arena_alloc(places->arena, length + 1, 1);
	if (copy == NULL)
		return NULL;
	memcpy(copy, function, length);
	copy[length] = '\0';
	return copy;
}

/* ADDRESS is that of a word; what is not known of it is a variable, too. */
static bool
add_variable(
    struct mu_places *places, uintptr_t address, const struct mu_symbol *symbol)
{
	struct mu_variable *variable;
	bool known =
	    symbol->function != NULL && mu_range_has(symbol->range, address);

	if (!mu_arena_room(places->tables, places->variables,
		places->num_variables, places->max_variables, 256))
		return false;
	variable = &places->variables[places->num_variables++];
	*variable = (struct mu_variable) {
		.range = { address, address + WORD },
		.module = mu_places_keep(places, symbol->module),
		.offset = symbol->offset,
	};
	if (!known)
		return true;
	variable->offset -= address - symbol->range.begin;
	variable->range = symbol->range;
	variable->name = variable_name(places, symbol->function);
	return true;
}

/* Sort, and keep one of each; ranges that overlap are cut. */
static void
sort_variables(struct mu_places *places)
{
	struct mu_variable *all = places->variables;
	size_t i, kept = 0;

	if (places->num_variables > 0)
		mu_sort(
		    all, places->num_variables, sizeof(*all), mu_range_compare);
	for (i = 0; i < places->num_variables; i++) {
		if (kept > 0 && all[i].range.begin == all[kept - 1].range.begin)
			continue;
		if (kept > 0 && all[kept - 1].range.end > all[i].range.begin)
			all[kept - 1].range.end = all[i].range.begin;
		all[kept++] = all[i];
	}
	places->num_variables = kept;
}

struct round {
	uintptr_t *pending; /* addresses whose variables are not known */
	size_t count;
	struct mu_symbol_question *questions;
	struct mu_symbol_answer *answers;
};

static void
drop_known(const struct mu_places *places, struct round *round)
{
	size_t i, kept = 0;

	for (i = 0; i < round->count; i++)
		if (variable_at(places, round->pending[i]) == NULL)
			round->pending[kept++] = round->pending[i];
	round->count = kept;
}

/*
 * One of several addresses in a variable tells its range; so those that are
 * asked for are spread over all.
 */
static bool
ask_some(struct mu_places *places, struct round *round)
{
	size_t i, count = round->count < ASKED ? round->count : ASKED;

	for (i = 0; i < count; i++)
		round->questions[i] = (struct mu_symbol_question) {
			.address = round->pending[i * round->count / count],
		};
	memset(round->answers, 0, count * sizeof(*round->answers));
	mu_symbol_helper_ask(&places->helper, round->questions, round->answers,
	    count, places->deadline_ns);
	for (i = 0; i < count; i++)
		if (!add_variable(places, round->questions[i].address,
			&round->answers[i].symbol))
			return false;
	sort_variables(places);
	drop_known(places, round);
	return true;
}

bool
mu_places_ask(
    struct mu_places *places, const struct mu_held_word *words, size_t count)
{
	struct round round = { .count = 0 };
	size_t i, rounds = 0;
	bool ok;

	round.pending =
	    mu_arena_alloc(places->tables, count + 1, sizeof(uintptr_t));
	round.questions =
	    mu_arena_alloc(places->tables, ASKED, sizeof(*round.questions));
	round.answers =
	    mu_arena_alloc(places->tables, ASKED, sizeof(*round.answers));
	ok = round.pending != NULL && round.questions != NULL &&
	    round.answers != NULL;
	for (i = 0; ok && i < count; i++)
		if (words[i].kind == MU_HELD_GLOBALS)
			round.pending[round.count++] = words[i].address;
	if (ok)
		drop_known(places, &round);
	while (ok && round.count > 0 && rounds++ < ROUNDS)
		ok = ask_some(places, &round);
	return ok;
}

const char *
mu_places_thread_name(const struct mu_places *places, pid_t tid)
{
	struct mu_kept_names *kept = places->source.kept;
	char path[80], name[32];
	ssize_t length;

	if (kept != NULL && kept->replay)
		return mu_places_keep(places, mu_kept_names_thread(kept, tid));
	if (places->source.pid == 0 || tid == 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm",
	    (int)places->source.pid, (int)tid);
	length = mu_sys_read_file(AT_FDCWD, path, name, sizeof(name));
	if (length <= 1)
		return NULL;
	name[strcspn(name, "\n")] = '\0';
	if (kept != NULL)
		mu_kept_names_note_thread(kept, tid, name);
	return mu_places_keep(places, name);
}

static void
set_thread(const struct mu_places *places, size_t index, struct mu_step *step)
{
	if (index >= places->snap->num_threads)
		return;
	step->thread = places->snap->threads[index].tid;
	step->thread_name = mu_places_thread_name(places, step->thread);
}

static void
describe_mapping(const struct mu_places *places, const struct mu_referrer *item,
    struct mu_step *step)
{
	const char *name;

	step->kind = MU_STEP_MAPPING;
	if (item->mapping >= places->snap->num_mappings)
		return;
	name = places->snap->mappings[item->mapping].name;
	step->name = name[0] == '\0' ? NULL : mu_places_keep(places, name);
	step->address = item->begin;
	step->size = item->size;
}

static void
describe_variable(const struct mu_places *places,
    const struct mu_referrer *item, struct mu_step *step)
{
	const struct mu_variable *variable = variable_at(places, item->address);

	step->kind = MU_STEP_VARIABLE;
	step->address = item->address;
	if (variable != NULL) {
		step->name = variable->name;
		step->module = variable->module;
		step->address = variable->range.begin;
		step->size = mu_range_size(variable->range);
	}
	if (step->module == NULL && item->mapping < places->snap->num_mappings)
		step->module = mu_places_keep(
		    places, places->snap->mappings[item->mapping].name);
}

static void
describe_register(
    const struct mu_places *places, unsigned place, struct mu_step *step)
{
	char name[64] = "";
	struct mu_text text = { name, sizeof(name), 0 };

	step->kind = MU_STEP_REGISTER;
	if (place < MU_REGNO_END)
		mu_register_name(&text, place);
	step->name = name[0] == '\0' ? NULL : mu_places_keep(places, name);
}

static void
describe_stack(
    const struct mu_places *places, size_t thread, struct mu_step *step)
{
	step->kind = MU_STEP_STACK;
	if (thread >= places->snap->num_threads)
		return;
	step->address = places->owners.threads[thread].stack.begin;
	step->size = mu_range_size(places->owners.threads[thread].stack);
}

static void
describe_tls(
    const struct mu_places *places, size_t thread, struct mu_step *step)
{
	step->kind = MU_STEP_TLS;
	if (thread >= places->snap->num_threads)
		return;
	step->address = places->owners.threads[thread].tls.begin;
	step->size = mu_range_size(places->owners.threads[thread].tls);
}

void
mu_place_of_referrer(struct mu_places *places, const struct mu_referrer *item,
    struct mu_step *step)
{
	struct mu_block block;

	*step = (struct mu_step) { .points = item->address != 0,
		.into = item->into < 0 ? 0 : (size_t)item->into };
	set_thread(places, item->thread, step);
	switch (item->kind) {
	case MU_REFERRER_GLOBAL:
		describe_variable(places, item, step);
		break;
	case MU_REFERRER_STACK:
	case MU_REFERRER_CALLER:
		describe_stack(places, item->thread, step);
		break;
	case MU_REFERRER_TLS:
		describe_tls(places, item->thread, step);
		break;
	case MU_REFERRER_REGISTER:
		describe_register(places, item->regno, step);
		break;
	case MU_REFERRER_REGION:
		step->kind = MU_STEP_REGION;
		step->address = item->begin;
		step->size = item->size;
		break;
	case MU_REFERRER_VALUE:
	case MU_REFERRER_KERNEL:
		step->kind = MU_STEP_VALUE;
		break;
	case MU_REFERRER_BLOCK:
		if (mu_blocks_find(places->blocks, item->begin, &block))
			mu_place_of_block(places, block.number, step);
		break;
	default:
		describe_mapping(places, item, step);
		break;
	}
	step->offset = item->address - step->address;
	step->points = item->address != 0;
}

/* What a register word is, in the words of a reference. */
static void
refer_from_register(const struct mu_places *places,
    const struct mu_held_word *word, struct mu_referrer *item)
{
	const struct mu_snapshot *snap = places->snap;

	item->kind = MU_REFERRER_REGISTER;
	item->thread = word->thread;
	item->address = 0;
	if (word->address >= snap->num_values)
		item->regno = MU_REGNO_GENERAL + MU_PRSTATUS_SP;
	else
		item->regno = snap->regnos == NULL
		    ? MU_REGNO_END
		    : snap->regnos[word->address];
}

/* Where WORD points to in its block. */
static size_t
points_into(const struct mu_places *places, const struct mu_held_word *word)
{
	const struct mu_snapshot *snap = places->snap;
	uintptr_t value = 0;
	struct mu_block block;

	if (word->kind == MU_HELD_REGISTER && word->address < snap->num_values)
		value = snap->values[word->address];
	else if (word->kind == MU_HELD_REGISTER ||
	    !mu_snapshot_word(snap, word->address, &value))
		return 0;
	value = mu_reference_untag(places->blocks, value);
	if (!mu_blocks_at(places->blocks, word->node, &block) ||
	    !mu_range_has(block.range, value))
		return 0;
	return value - block.range.begin;
}

void
mu_place_of_word(struct mu_places *places, const struct mu_held_word *word,
    struct mu_step *step)
{
	struct mu_referrer item = { .thread = MU_NO_INDEX,
		.mapping = MU_NO_INDEX,
		.address = word->address };
	struct mu_root root = { .kind = (enum mu_root_kind)word->kind };
	struct mu_block block;

	if (word->kind == MU_HELD_REGISTER) {
		refer_from_register(places, word, &item);
	} else if (word->kind == MU_HELD_VALUE ||
	    word->kind == MU_HELD_HEADER || word->kind == MU_HELD_INTERPRETER) {
		item.kind = MU_REFERRER_VALUE;
		item.address = 0;
	} else if (word->kind == MU_HELD_KEPT) {
		item.kind = MU_REFERRER_BLOCK;
		if (mu_blocks_find(places->blocks, word->address, &block))
			item.begin = block.range.begin;
	} else {
		mu_referrer_locate(&item, &root, &places->owners);
	}
	mu_place_of_referrer(places, &item, step);
	if (word->kind == MU_HELD_HEADER)
		step->kind = MU_STEP_ALLOCATOR;
	if (word->kind == MU_HELD_INTERPRETER)
		step->kind = MU_STEP_INTERPRETER;
	step->into = points_into(places, word);
}

void
mu_place_in_thread(
    const struct mu_places *places, size_t thread, struct mu_step *step)
{
	step->kind = MU_STEP_TLS;
	set_thread(places, thread, step);
}

void
mu_place_of_block(
    const struct mu_places *places, uint32_t number, struct mu_step *step)
{
	struct mu_block block;

	step->kind = MU_STEP_BLOCK;
	if (!mu_blocks_at(places->blocks, number, &block))
		return;
	step->address = block.range.begin;
	step->size = mu_range_size(block.range);
}

void
mu_places_typed_block(
    const struct mu_block *block, struct mu_typed_block *typed)
{
	*typed = (struct mu_typed_block) {
		.begin = block->range.begin,
		.size = mu_range_size(block->range),
		.num_head = sizeof(typed->head),
		.declared = true,
	};
	if (typed->size < typed->num_head)
		typed->num_head = typed->size;
	memcpy(typed->head, block->view, typed->num_head);
}

static bool
describe_block(const struct mu_places *places, const struct mu_step *step,
    struct mu_typed_block *typed)
{
	struct mu_block block;

	if (step->kind != MU_STEP_BLOCK || step->type != NULL ||
	    !mu_blocks_find(places->blocks, step->address, &block))
		return false;
	mu_places_typed_block(&block, typed);
	return true;
}

struct typing {
	struct mu_symbol_question questions[TYPED];
	struct mu_symbol_answer answers[TYPED];
	struct mu_typed_block blocks[TYPED];
	struct mu_step *steps[TYPED];
	size_t count;
};

static void
ask_types(struct mu_places *places, struct typing *typing)
{
	const struct mu_type *type;
	size_t i;

	memset(typing->answers, 0, sizeof(typing->answers));
	if (typing->count > 0)
		mu_symbol_helper_ask(&places->helper, typing->questions,
		    typing->answers, typing->count, places->deadline_ns);
	for (i = 0; i < typing->count; i++) {
		type = &typing->answers[i].type;
		if (!mu_type_names_block(type))
			continue;
		typing->steps[i]->type = mu_places_keep(places, type->name);
		typing->steps[i]->certain = type->certain;
		typing->steps[i]->content = type->source == MU_TYPE_CONTENT;
		typing->steps[i]->counter = type->counter;
		typing->steps[i]->object = type->offset;
	}
	typing->count = 0;
}

void
mu_places_ask_types(
    struct mu_places *places, struct mu_step *const *steps, size_t count)
{
	struct typing *typing = calloc(1, sizeof(*typing));
	size_t i;

	for (i = 0; typing != NULL && i < count; i++) {
		if (!describe_block(
			places, steps[i], &typing->blocks[typing->count]))
			continue;
		typing->questions[typing->count] = (struct mu_symbol_question) {
			.address = steps[i]->address,
			.block = &typing->blocks[typing->count],
		};
		typing->steps[typing->count++] = steps[i];
		if (typing->count == TYPED)
			ask_types(places, typing);
	}
	if (typing != NULL)
		ask_types(places, typing);
	free(typing);
}
