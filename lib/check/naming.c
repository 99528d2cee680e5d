#include "lib/check/naming.h"

#include <bsd/string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/recorded/recorded.h"
#include "lib/check/group_types.h"
#include "lib/report/backtrace.h"
#include "lib/symbolize/loaded.h"
#include "lib/term/names.h"
#include "lib/types/types.h"
#include "mu/array.h"
#include "mu/bisect.h"
#include "mu/range.h"
#include "mu/sys.h"

#define LEAST_NS MU_NS_PER_SEC

struct noting {
	struct mu_naming *naming;
	const struct mu_recorder *recorder;
	struct mu_loaded *loaded;
	size_t num_loaded;
	size_t max;
	bool no_memory;
};

/* One piece of memory: the array, followed by the names. */
static struct mu_mapping *
copy_mappings(const struct mu_mapping *mappings, size_t count)
{
	size_t i, length, size = count * sizeof(*mappings);
	struct mu_mapping *copy;
	char *name;

	for (i = 0; i < count; i++)
		size += strlen(mappings[i].name) + 1;
	copy = malloc(size + 1);
	if (copy == NULL)
		return NULL;
	name = (char *)(copy + count);
	for (i = 0; i < count; i++) {
		length = strlen(mappings[i].name) + 1;
		memcpy(name, mappings[i].name, length);
		copy[i] = mappings[i];
		copy[i].name = name;
		name += length;
	}
	return copy;
}

/* One piece of memory, as above. */
static struct mu_unloaded *
copy_unloaded(const struct mu_recorder *recorder)
{
	const struct mu_unloaded *module = recorder->unloaded;
	size_t i, size = 1, length;
	struct mu_unloaded *copy;
	char *text;

	for (i = 0; i < recorder->num_unloaded; i++)
		size += sizeof(*copy) + strlen(module[i].path) +
		    strlen(module[i].build_id) + 2;
	copy = malloc(size);
	if (copy == NULL)
		return NULL;
	text = (char *)(copy + recorder->num_unloaded);
	for (i = 0; i < recorder->num_unloaded; i++, module++) {
		copy[i] = *module;
		copy[i].path = text;
		length = strlen(module->path) + 1;
		memcpy(text, module->path, length);
		text += length;
		copy[i].build_id = text;
		length = strlen(module->build_id) + 1;
		memcpy(text, module->build_id, length);
		text += length;
	}
	return copy;
}

/* Unloaded modules get a mapping each, at the addresses of their frames. */
static bool
take_mappings(struct mu_naming *naming, const struct mu_mapping *mappings,
    size_t count, const struct mu_recorder *recorder)
{
	const struct mu_unloaded *module;
	struct mu_mapping *all;
	size_t i, num = 0;

	naming->unloaded = copy_unloaded(recorder);
	naming->num_unloaded =
	    naming->unloaded == NULL ? 0 : recorder->num_unloaded;
	all = calloc(count + naming->num_unloaded + 1, sizeof(*all));
	for (i = 0; all != NULL && i < count; i++)
		all[num++] = mappings[i];
	for (i = 0; all != NULL && i < naming->num_unloaded; i++) {
		module = &naming->unloaded[i];
		all[num++] = (struct mu_mapping) {
			.range = module->range,
			.executable = true,
			.offset = module->offset,
			.name = module->path,
		};
	}
	if (all != NULL && naming->num_unloaded > 0)
		qsort(all, num, sizeof(*all), mu_range_compare);
	naming->mappings = all == NULL ? NULL : copy_mappings(all, num);
	naming->num_mappings = num;
	free(all);
	return naming->unloaded != NULL && naming->mappings != NULL;
}

/*
 * If an address is asked for twice, keep the question as a call, which sorts
 * first.
 */
static int
compare(const void *a, const void *b)
{
	const struct mu_symbol_question *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return y->call - x->call;
}

static void
sort_out(struct mu_naming *naming)
{
	size_t i, kept = 0;

	if (naming->count > 0)
		qsort(naming->questions, naming->count,
		    sizeof(*naming->questions), compare);
	for (i = 0; i < naming->count; i++) {
		if (kept == 0 ||
		    naming->questions[kept - 1].address !=
			naming->questions[i].address)
			naming->questions[kept++] = naming->questions[i];
	}
	naming->count = kept;
}

/*
 * Entries have few distinct addresses, each several times: first drop
 * duplicates. Returns false if memory is exhausted.
 */
static bool
make_room(struct noting *noting)
{
	struct mu_naming *naming = noting->naming;

	sort_out(naming);
	if (noting->max > 0 && naming->count <= noting->max / 2)
		return true;
	return mu_array_room(
	    naming->questions, noting->max, noting->max, 256, SIZE_MAX);
}

/* Skip addresses in no file: they have no names, and there may be many. */
static void
note(struct noting *noting, uintptr_t address, bool call)
{
	struct mu_naming *naming = noting->naming;
	const struct mu_mapping *mapping;

	if (call && mu_frame_is_script(address) &&
	    !mu_scripts_note(&naming->scripts, noting->recorder, address))
		noting->no_memory = true;
	if (address == 0 ||
	    mu_loaded_find(
		noting->loaded, noting->num_loaded, address, &mapping) == NULL)
		return;
	if (naming->count == noting->max && !make_room(noting)) {
		noting->no_memory = true;
		return;
	}
	naming->questions[naming->count++] =
	    (struct mu_symbol_question) { .address = address, .call = call };
}

static void
note_leak(struct noting *noting, const struct Leak *leak)
{
	size_t i, count = mu_backtrace_count(&leak->backtrace);

	for (i = 0; i < count; i++)
		note(noting, mu_backtrace_frame(&leak->backtrace, i), true);
	count = mu_names_words(leak);
	for (i = 0; i < count; i++)
		note(noting, mu_names_word(leak, i), false);
	mu_block_types_want(
	    &noting->naming->types, leak->begin, leak->size, leak->contents, 0);
}

static void
note_group(struct noting *noting, const struct mu_groups_at *at)
{
	const struct mu_lost_group *group = &at->group;
	const struct mu_lost_hold *hold = group->holds;
	unsigned char head[MU_LEAK_CONTENTS] = { 0 };
	uintptr_t above;
	size_t i;

	note(
	    noting, group->module_address, group->module_address != group->tag);
	note_leak(noting, &at->example);
	for (i = 0; i < group->num_holds; i++, hold++) {
		memcpy(head, &hold->tag, sizeof(hold->tag));
		above = hold->parent == 0 ? at->example.begin
		    : hold->parent <= i ? group->holds[hold->parent - 1].address
					: 0;
		mu_block_types_want(&noting->naming->types, hold->address,
		    hold->size, head, above == 0 ? 0 : above + hold->offset);
	}
}

/* Find ADDRESS. Returns false if it is in no file or was not noted. */
static bool
find(void *ctx, uintptr_t address, struct mu_symbol *symbol)
{
	const struct mu_naming *naming = ctx;
	const struct mu_script *script =
	    mu_scripts_find(&naming->scripts, address);
	size_t low = 0;

	if (script != NULL) {
		*symbol = mu_symbol_of_script(script);
		return true;
	}
	mu_bisect(
	    low, naming->count, i, naming->questions[i].address < address);
	if (low == naming->count || naming->questions[low].address != address)
		return false;
	*symbol = naming->answers[low].symbol;
	return symbol->module != NULL;
}

static bool
find_type(void *ctx, uintptr_t begin, struct mu_type *type)
{
	const struct mu_naming *naming = ctx;

	return mu_block_types_find(&naming->types, begin, type);
}

static const char *
find_field(void *ctx, uintptr_t begin)
{
	const struct mu_naming *naming = ctx;

	return mu_hold_types_field(&naming->holds, begin);
}

void
mu_naming_open(struct mu_report *answer, const struct mu_mapping *mappings,
    size_t num_mappings, const struct mu_recorder *recorder)
{
	struct mu_naming *naming = calloc(1, sizeof(*naming));
	struct noting noting = { .naming = naming, .recorder = recorder };
	struct mu_groups_at groups;
	struct mu_entries_at at;
	const struct Leak *leak;

	answer->naming = naming;
	if (naming == NULL)
		return;
	answer->names = (struct mu_names) {
		.find = find,
		.find_type = find_type,
		.find_field = find_field,
		.ctx = naming,
		.words = true,
	};
	if (!take_mappings(naming, mappings, num_mappings, recorder)) {
		mu_naming_close(answer);
		return;
	}
	noting.loaded = mu_loaded_list(
	    naming->mappings, naming->num_mappings, &noting.num_loaded);
	mu_entries_open(&at, &answer->entries);
	while ((leak = mu_entries_next(&at)) != NULL)
		note_leak(&noting, leak);
	mu_groups_open(&groups, &answer->entries);
	while (mu_groups_next(&groups) != NULL)
		note_group(&noting, &groups);
	mu_group_types_want(&naming->types, &answer->entries);
	free(noting.loaded);
	sort_out(naming);
	naming->answers = calloc(naming->count + 1, sizeof(*naming->answers));
	if (noting.no_memory || naming->answers == NULL)
		mu_naming_close(answer);
}

void
mu_naming_ask(struct mu_report *answer, const struct mu_symbols_source *source,
    const struct mu_rights *rights, uint64_t deadline_ns)
{
	struct mu_naming *naming = answer->naming;
	struct mu_symbols_source own = *source;
	uint64_t now = mu_sys_now_ns(), span = LEAST_NS;

	if (naming == NULL) {
		snprintf(answer->names_note, sizeof(answer->names_note),
		    "there is no memory for them");
		return;
	}
	if (deadline_ns > now && (deadline_ns - now) / 2 > span)
		span = (deadline_ns - now) / 2;
	own.mappings = naming->mappings;
	own.num_mappings = naming->num_mappings;
	if (answer->kept != NULL)
		own.kept = answer->kept;
	own.unloaded = naming->unloaded;
	own.num_unloaded = naming->num_unloaded;
	naming->helper.source = &own;
	naming->helper.rights = *rights;
	naming->helper.find_type = mu_types_answer;
	naming->helper.find_declared = mu_types_declared;
	mu_symbol_helper_ask(&naming->helper, naming->questions,
	    naming->answers, naming->count, now + span);
	mu_block_types_ask(&naming->types, &naming->helper, now + span);
	mu_group_types_settle(&naming->types, &answer->entries);
	mu_hold_types_ask(&naming->holds, &naming->types, &answer->entries,
	    &naming->helper, now + span);
	strlcpy(
	    answer->names_note, naming->helper.why, sizeof(answer->names_note));
	mu_helper_stop(&naming->helper);
	naming->helper.source = NULL;
}

void
mu_naming_close(struct mu_report *answer)
{
	struct mu_naming *naming = answer->naming;

	if (naming == NULL)
		return;
	mu_symbol_helper_close(&naming->helper);
	free(naming->mappings);
	free(naming->unloaded);
	free(naming->questions);
	free(naming->answers);
	mu_scripts_close(&naming->scripts);
	mu_block_types_close(&naming->types);
	mu_hold_types_close(&naming->holds);
	free(naming);
	answer->naming = NULL;
	answer->names = (struct mu_names) { .find = NULL };
}
