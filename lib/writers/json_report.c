/*
 * jansson passes failures on: adding NULL to an object fails, and the caller
 * then releases what is unfinished.
 */
#include "lib/writers/json_report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/heaps/usage.h"
#include "lib/report/backtrace.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/explained_json.h"
#include "lib/writers/frame_line.h"
#include "lib/writers/group_key.h"
#include "lib/writers/groups_text.h"
#include "lib/writers/json_frame.h"
#include "lib/writers/json_values.h"

static json_t *
arena_object(const struct mu_arena_usage *arena)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= mu_json_set(object, "address", mu_json_address(arena->address));
#define SET(field) \
	ok &= mu_json_set(object, #field, mu_json_count(arena->field))
	SET(span);
	SET(live);
	SET(bins);
	SET(tcache);
	SET(top);
#undef SET
	return mu_json_done(object, ok);
}

static json_t *
arenas_array(const struct mu_heap_usage *usage)
{
	json_t *arenas = json_array();
	bool ok = arenas != NULL;
	size_t i;

	for (i = 0; ok && i < usage->num_arenas; i++)
		ok = json_array_append_new(
			 arenas, arena_object(&usage->arenas[i])) == 0;
	return mu_json_done(arenas, ok);
}

/* null if it is not known. */
static json_t *
json_heap(const struct mu_heap_usage *usage)
{
	json_t *heap;
	bool ok = true;

	if (mu_usage_held(usage) == 0)
		return json_null();
	heap = json_object();
	ok &= mu_json_set(heap, "verdict",
	    json_string(mu_verdict_name(mu_usage_verdict(usage))));
#define SET(field) ok &= mu_json_set(heap, #field, mu_json_count(usage->field))
	SET(live_reachable);
	SET(live_unreachable);
	SET(free_held);
	SET(mmapped);
	SET(mmapped_live);
#undef SET
	ok &= mu_json_set(heap, "arenas", arenas_array(usage));
	return mu_json_done(heap, ok);
}

static json_t *
frame_object(uintptr_t pc, const struct mu_names *names)
{
	struct mu_symbol symbol;

	mu_names_find(names, pc, &symbol);
	return mu_json_frame(pc, &symbol);
}

static json_t *
frames_array(
    const struct LeakBacktrace *backtrace, const struct mu_names *names)
{
	json_t *frames = json_array();
	size_t i, count = mu_backtrace_count(backtrace);
	bool ok = frames != NULL;

	for (i = 0; ok && i < count; i++)
		ok = json_array_append_new(frames,
			 frame_object(
			     mu_backtrace_frame(backtrace, i), names)) == 0;
	return mu_json_done(frames, ok);
}

static void
put_contents(const struct mu_out *out, const struct Leak *leak)
{
	size_t i, count = leak->size;

	if (count > sizeof(leak->contents))
		count = sizeof(leak->contents);
	mu_put(out, ", \"contents\": \"");
	for (i = 0; i < count; i++)
		mu_put(out, "%02x", (unsigned)leak->contents[i]);
	mu_put(out, "\"");
}

static json_t *
type_object(
    const struct Leak *leak, bool contents, const struct mu_names *names)
{
	json_t *object = json_object();
	struct mu_type type;
	bool ok = true, known = mu_names_find_type(names, leak->begin, &type);

	ok &= mu_json_set(object, "type", mu_json_name(type.name));
	if (!known)
		return mu_json_done(object, ok);
	ok &= mu_json_set(object, "type_source",
	    json_string(mu_type_source_name(type.source)));
	ok &= mu_json_set(object, "certain", json_boolean(type.certain));
	ok &= mu_json_set(object, "type_offset", mu_json_count(type.offset));
	if (contents && type.text != NULL)
		ok &= mu_json_set(object, "text", mu_json_text(type.text));
	return mu_json_done(object, ok);
}

static bool
put_value(const struct mu_out *out, json_t *value)
{
	return mu_json_put(out, value, JSON_ENCODE_ANY);
}

/* Add the members of OBJECT, which is released, to the open one. */
static bool
put_object(const struct mu_out *out, json_t *object)
{
	mu_put(out, ", ");
	return mu_json_put(out, object, JSON_EMBED);
}

/* The path from the example to HOLD: "orders[]+0x8"; false: it was cut. */
static bool
field_path(struct mu_text *path, const struct mu_lost_group *group,
    const struct mu_lost_hold *hold, const struct mu_names *names)
{
	const char *field = mu_names_find_field(names, hold->address);

	if (hold->parent > 0 &&
	    !field_path(path, group, &group->holds[hold->parent - 1], names))
		return false;
	if (hold->element && (hold->parent > 0 || field == NULL))
		mu_text_add(path, "[]");
	if (field != NULL)
		mu_text_add(path, "%s%s", hold->parent > 0 ? "." : "", field);
	else if (!hold->element || hold->offset > 0)
		mu_text_add(path, "+0x%zx", hold->offset);
	return true;
}

static bool
put_hold(const struct mu_out *out, const struct mu_lost_group *group,
    const struct mu_lost_hold *hold, bool contents,
    const struct mu_names *names)
{
	char field[512] = "";
	struct mu_text path = { field, sizeof(field), 0 };
	struct mu_type type;
	bool ok;

	field_path(&path, group, hold, names);
	mu_put(out, "{\"field\": ");
	ok = put_value(out, mu_json_text(field));
	mu_names_find_type(names, hold->address, &type);
	mu_put(out, ", \"type\": ");
	ok &= put_value(out, mu_json_name(type.name));
	if (type.name != NULL)
		mu_put(out, ", \"type_source\": \"%s\", \"certain\": %s",
		    mu_type_source_name(type.source),
		    type.certain ? "true" : "false");
	mu_put(out, ", \"size\": ");
	ok &= put_value(out,
	    mu_lost_hold_mixed(hold) ? json_null() : mu_json_count(hold->size));
	mu_put(out, ", \"count\": %zu, \"bytes\": %zu, \"text\": ", hold->count,
	    hold->bytes);
	ok &= put_value(out, mu_json_name(contents ? hold->text : NULL));
	mu_put(out, "}");
	return ok;
}

/* "allocated_at", if it is known. */
static bool
put_site(const struct mu_out *out, const struct Leak *leak,
    const struct mu_names *names)
{
	const char *site = mu_names_find_site(names, leak);

	if (site == NULL)
		return true;
	mu_put(out, ", \"allocated_at\": ");
	return put_value(out, mu_json_name(site));
}

static bool
put_group(const struct mu_out *out, const struct mu_groups_at *at, bool known,
    bool contents, const struct mu_names *names)
{
	char key_text[MU_GROUP_KEY] = "";
	char cycle_text[MU_GROUP_CYCLE] = "";
	struct mu_text key = { key_text, sizeof(key_text), 0 };
	struct mu_text cycle = { cycle_text, sizeof(cycle_text), 0 };
	const struct mu_lost_group *group = &at->group;
	bool ok, stack = at->example.backtrace.num_frames > 0;
	struct mu_symbol symbol;
	struct mu_type type;
	size_t i;

	mu_group_type(names, group, &type);
	mu_put(out, "{\"type\": ");
	ok = put_value(out, mu_json_name(type.name));
	mu_put(out, ", \"type_source\": \"%s\", \"certain\": %s",
	    type.name != NULL ? mu_type_source_name(type.source)
		: stack       ? "stack"
			      : "size",
	    type.certain ? "true" : "false");
	mu_put(out, ", \"size\": ");
	ok &= put_value(
	    out, group->size > 0 ? mu_json_count(group->size) : json_null());
	mu_put(out,
	    ", \"count\": %zu, \"blocks\": %zu, \"bytes\": %zu,"
	    " \"total_bytes\": %zu, \"example\": \"0x%lx\", \"holds\": [",
	    group->count, group->num_blocks, group->bytes, group->total_bytes,
	    (unsigned long)at->example.begin);
	for (i = 0; i < group->num_holds; i++) {
		mu_put(out, i > 0 ? ", " : "");
		ok &= put_hold(out, group, &group->holds[i], contents, names);
	}
	mu_put(out, "]");
	if (mu_group_cycle(names, at, " -> ", &cycle)) {
		mu_put(out, ", \"cycle\": ");
		ok &= put_value(out, mu_json_text(cycle_text));
	}
	mu_names_find(names, group->module_address, &symbol);
	mu_put(out, ", \"key\": ");
	mu_group_key(&key, at, names);
	ok &= put_value(out, mu_json_text(key_text));
	mu_put(out, ", \"known\": %s, \"module\": ", known ? "true" : "false");
	ok &= put_value(out, mu_json_name(symbol.module));
	mu_put(out, ", \"frames\": ");
	ok &= put_value(out, frames_array(&at->example.backtrace, names));
	ok &= put_site(out, &at->example, names);
	mu_put(out, "}");
	return ok;
}

/* Written without the library, which would need ten allocations per entry. */
static bool
put_leak(const struct mu_out *out, const struct mu_entries_at *at,
    const struct Leak *leak, bool contents, const struct mu_names *names)
{
	bool ok, typed;

	mu_put(out, "{\"address\": \"0x%lx\", \"size\": %zu",
	    (unsigned long)leak->begin, leak->size);
#define PUT(field) mu_put(out, ", \"" #field "\": %zu", leak->field)
	PUT(referenced_count);
	PUT(referenced_size);
	PUT(similar_count);
	PUT(similar_size);
	PUT(total_size);
#undef PUT
	if (contents)
		put_contents(out, leak);
	typed = put_object(out, type_object(leak, contents, names));
	mu_put(out, ", \"frames\": ");
	ok = put_value(out, frames_array(&leak->backtrace, names));
	ok &= put_site(out, leak, names);
	mu_put(out, ", \"frames_cut\": %s, \"group\": ",
	    leak->backtrace.cut != 0 ? "true" : "false");
	if (at->group > 0)
		mu_put(out, "%zu}", at->group - 1);
	else
		mu_put(out, "null}");
	return ok && typed;
}

/* Totals, which a heap that was not checked does not have. */
static bool
set_totals(json_t *report, const struct UnreachableMemoryInfo *info)
{
	bool ok = true, checked = mu_exit_checked(info);

#define SET(field)                        \
	ok &= mu_json_set(report, #field, \
	    checked ? mu_json_count(info->field) : json_null())
	SET(num_leaks);
	SET(leak_bytes);
	SET(num_entries);
	SET(unreported_leaks);
	SET(unreported_bytes);
	SET(num_allocations);
	SET(allocation_bytes);
	SET(sample_bytes);
#undef SET
	return ok;
}

static bool
set_subject(json_t *report, const struct mu_report *answer)
{
	const struct UnreachableMemoryInfo *info = &answer->info;
	bool ok = true;

	ok &= mu_json_set(report, "schema", json_integer(MU_JSON_SCHEMA));
	ok &= mu_json_set(report, "pid",
	    answer->pid > 0 ? json_integer(answer->pid) : json_null());
	ok &= mu_json_set(report, "program", mu_json_text(answer->program));
	ok &= mu_json_set(
	    report, "status", json_string(mu_status_word(info->status)));
	ok &= mu_json_set(report, "reason", mu_json_text(info->reason));
	ok &= mu_json_set(
	    report, "remedy", mu_json_text(mu_report_remedy(answer)));
	ok &= mu_json_set(report, "allocator", mu_json_text(answer->allocator));
	return ok;
}

static bool
set_look(json_t *report, const struct mu_report *answer)
{
	const struct UnreachableMemoryInfo *info = &answer->info;
	bool ok = true;

	ok &= mu_json_set(report, "pause_ns", mu_json_count(info->pause_ns));
	ok &= mu_json_set(report, "total_ns", mu_json_count(info->total_ns));
	ok &= mu_json_set(report, "stop",
	    mu_json_text(answer->stop != NULL ? answer->stop : ""));
	ok &= mu_json_set(report, "threads", mu_json_count(info->num_threads));
	ok &= mu_json_set(report, "tries", mu_json_count(info->tries));
	return ok;
}

/*
 * Write the members of REPORT without the closing brace, so that more can
 * follow.
 */
static bool
put_members(const struct mu_out *out, json_t *report)
{
	char *text = json_dumps(report, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	size_t length = text == NULL ? 0 : strlen(text);

	if (length > 2)
		out->put(out->ctx, text, length - 2); /* "\n}" */
	free(text);
	return length > 2;
}

/* One line per entry, written one at a time: there may be millions. */
static bool
put_leaks(const struct mu_out *out, const struct mu_report *answer,
    bool contents, const struct mu_names *names)
{
	bool ok = true, first = true, checked = mu_exit_checked(&answer->info);
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_put(out, ",\n  \"leaks\": [");
	mu_entries_open(&at, &answer->entries);
	for (; ok && checked && (leak = mu_entries_next(&at)) != NULL;
	     first = false) {
		mu_put(out, first ? "\n    " : ",\n    ");
		ok = put_leak(out, &at, leak, contents, names);
	}
	mu_put(out, first ? "]" : "\n  ]");
	return ok;
}

static bool
put_groups(const struct mu_out *out, const struct mu_report *answer,
    bool contents, const struct mu_names *names)
{
	struct mu_groups_at at;
	bool ok = true;
	size_t i;

	mu_put(out, ",\n  \"groups\": [");
	mu_groups_open(&at, &answer->entries);
	for (i = 0; ok && mu_groups_next(&at) != NULL; i++) {
		mu_put(out, i == 0 ? "\n    " : ",\n    ");
		ok = put_group(
		    out, &at, mu_report_known(answer, i), contents, names);
	}
	mu_put(out, i == 0 ? "]" : "\n  ]");
	return ok;
}

/* How entries are grouped, and what the limit cut; null: not at all. */
static bool
set_groups(json_t *report, const struct mu_groups_info *info)
{
	static const char *const words[] = { "block", "stack", "shape", "type",
		"module" };
	bool ok = true, grouped = info->by != MU_BY_BLOCK;

	ok &= mu_json_set(report, "grouped_by", json_string(words[info->by]));
#define SET(key, value)    \
	ok &= mu_json_set( \
	    report, key, grouped ? mu_json_count(info->value) : json_null())
	SET("num_groups", num_total);
	SET("unreported_group_blocks", rest_blocks);
	SET("unreported_group_bytes", rest_bytes);
#undef SET
	return ok;
}

bool
mu_json_report(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= set_subject(object, report);
	ok &= set_totals(object, &report->info);
	ok &= set_look(object, report);
	ok &= set_groups(object, &report->groups);
	ok &= mu_json_set(object, "heap", json_heap(&report->usage));
	ok &=
	    mu_json_set(object, "names_note", mu_json_text(report->names_note));
	ok &= report->explained == NULL ||
	    mu_explained_json(object, report->explained, shown->contents);
	ok = ok && put_members(out, object) &&
	    put_groups(out, report, shown->contents, &report->names) &&
	    put_leaks(out, report, shown->contents, &report->names);
	mu_put(out, "\n}\n");
	json_decref(object);
	return ok;
}

const struct mu_writer mu_writer_json = {
	.name = "json",
	.write = mu_json_report,
};
