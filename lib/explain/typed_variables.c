#include "lib/explain/typed_variables.h"

#include <string.h>

#include "heapwalk/subject/ranges.h"
#include "lib/explain/frame_places.h"
#include "mu/sort.h"

#define WORD sizeof(uintptr_t)
#define ASKED ((size_t)1024) /* questions at a time */
#define LOCALS_MAX ((size_t)1 << 16)

static void
add_variable(struct mu_typed *typed, const struct mu_declared_field *field,
    uintptr_t address, uint64_t size, const char *function)
{
	if (!mu_arena_room(typed->places->tables, typed->variables,
		typed->count, typed->max, 256)) {
		typed->no_memory = true;
		return;
	}
	typed->variables[typed->count++] = (struct mu_typed_variable) {
		.range = { address, address + (size > 0 ? size : WORD) },
		.name = field->name,
		.type = field->type,
		.reference = field->reference,
		.function = function,
	};
}

/* Ask for the types of some of the variables that have words. */
static void
ask_some(
    struct mu_typed *typed, const struct mu_variable *variables, size_t count)
{
	struct mu_places *places = typed->places;
	struct mu_symbol_question questions[ASKED] = { { 0 } };
	struct mu_symbol_answer answers[ASKED];
	const struct mu_declared *declared;
	size_t i;

	memset(answers, 0, count * sizeof(*answers));
	for (i = 0; i < count; i++)
		questions[i] = (struct mu_symbol_question) {
			.address = variables[i].range.begin,
			.declared = MU_DECLARED_VARIABLE,
		};
	mu_symbol_helper_ask(
	    &places->helper, questions, answers, count, places->deadline_ns);
	for (i = 0; i < count; i++) {
		declared = answers[i].declared;
		if (declared != NULL && declared->num_fields == 1)
			add_variable(typed, &declared->fields[0],
			    (uintptr_t)declared->fields[0].offset,
			    declared->size, NULL);
	}
}

void
mu_typed_add_statics(struct mu_typed *typed)
{
	const struct mu_places *places = typed->places;
	size_t i, count = places->num_variables;

	for (i = 0; i < count && !typed->no_memory; i += ASKED)
		ask_some(typed, &places->variables[i],
		    count - i < ASKED ? count - i : ASKED);
}

/* The thread-local variables of the module with ADDRESS; NULL: not known. */
static const struct mu_declared *
ask_thread(struct mu_typed *typed, uintptr_t address)
{
	struct mu_places *places = typed->places;
	struct mu_symbol_question question = {
		.address = address,
		.declared = MU_DECLARED_THREAD,
	};
	struct mu_symbol_answer answer = { .given = false };

	if (address != 0)
		mu_symbol_helper_ask(&places->helper, &question, &answer, 1,
		    places->deadline_ns);
	return answer.declared;
}

/* Those of one thread, which begin at BASE. */
static void
add_thread(struct mu_typed *typed, const struct mu_declared *declared,
    uintptr_t base, const char *module)
{
	const struct mu_declared_field *field;
	size_t i, before;

	for (i = 0; declared != NULL && i < declared->num_fields; i++) {
		field = &declared->fields[i];
		before = typed->count;
		add_variable(
		    typed, field, base + (uintptr_t)field->offset, 0, NULL);
		if (typed->count > before)
			typed->variables[before].module = module;
	}
}

static void
add_library_locals(struct mu_typed *typed)
{
	const struct mu_owners *owners = &typed->places->owners;
	const struct mu_tls_variables *variables = owners->variables;
	const struct mu_declared *declared = NULL;
	const struct mu_mapping *mapping;
	uintptr_t module = 0;
	size_t i;

	for (i = 0; i < owners->num_variables; i++, variables++) {
		mapping =
		    mu_snapshot_mapping(typed->places->snap, variables->module);
		if (mapping == NULL)
			continue;
		if (variables->module != module) /* those of one follow */
			declared = ask_thread(typed, variables->module);
		module = variables->module;
		add_thread(typed, declared, variables->address, mapping->name);
	}
}

void
mu_typed_add_thread_locals(struct mu_typed *typed)
{
	struct mu_places *places = typed->places;
	const struct mu_declared *declared =
	    ask_thread(typed, mu_places_program(places));
	uintptr_t base;
	size_t i;

	for (i = 0; i < places->snap->num_threads; i++)
		if (mu_places_thread_variables(places, i, &base))
			add_thread(typed, declared, base, NULL);
	add_library_locals(typed);
}

static bool
add_local(void *ctx, const struct mu_frame_place *frame)
{
	struct mu_typed *typed = ctx;
	struct mu_places *places = typed->places;
	struct mu_symbol_question question = {
		.address = frame->call,
		.declared = MU_DECLARED_LOCALS,
	};
	struct mu_symbol_answer answer = { .given = false };
	const char *name = mu_symbol_function(frame->symbol, 0);
	const struct mu_declared_field *field;
	const char *function =
	    mu_places_keep(places, name == NULL ? "?" : name);
	uintptr_t bases[MU_FROM_KINDS] = { [MU_FROM_CFA] = frame->cfa,
		[MU_FROM_FP] = frame->fp,
		[MU_FROM_SP] = frame->sp };
	size_t i;

	mu_symbol_helper_ask(
	    &places->helper, &question, &answer, 1, places->deadline_ns);
	for (i = 0; function != NULL && answer.declared != NULL &&
	     i < answer.declared->num_fields;
	     i++) {
		field = &answer.declared->fields[i];
		if (bases[field->from] != 0 && field->from != MU_FROM_REGISTER)
			add_variable(typed, field,
			    bases[field->from] + (uintptr_t)field->offset, 0,
			    function);
	}
	return typed->count < LOCALS_MAX && !typed->no_memory;
}

void
mu_typed_add_locals(struct mu_typed *typed)
{
	size_t i;

	for (i = 0; i < typed->places->snap->num_threads && !typed->no_memory;
	     i++)
		mu_frame_places_each(typed->places,
		    &typed->places->snap->threads[i], add_local, typed);
}

void
mu_typed_sort_variables(struct mu_typed *typed)
{
	struct mu_typed_variable *all = typed->variables;
	const struct mu_declared *declared;
	size_t i, kept = 0;

	for (i = 0; i < typed->count; i++) {
		declared = mu_declared_types_known(&typed->types, all[i].type);
		if (declared != NULL && declared->size > 0 && !all[i].reference)
			all[i].range.end = all[i].range.begin + declared->size;
	}
	if (typed->count > 0)
		mu_sort(all, typed->count, sizeof(*all), mu_range_compare);
	for (i = 0; i < typed->count; i++) {
		if (kept > 0 && all[i].range.begin == all[kept - 1].range.begin)
			continue;
		if (kept > 0 && all[kept - 1].range.end > all[i].range.begin)
			all[kept - 1].range.end = all[i].range.begin;
		all[kept++] = all[i];
	}
	typed->count = kept;
}
