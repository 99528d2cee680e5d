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
#include "lib/term/safe_text.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/frame_line.h"
#include "lib/writers/status_word.h"
#include "mu/recorded.h"

/*
 * Values of the JSON report: counts, addresses, names, the heap's figures. NULL
 * always means "no memory" and is passed on.
 */

/*
 * Add VALUE to OBJECT, which takes it over; false if either is NULL or memory
 * is exhausted.
 */
static bool
json_set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

/* Returns VALUE if OK; otherwise releases VALUE and returns NULL. */
static json_t *
json_done(json_t *value, bool ok)
{
	if (ok)
		return value;
	json_decref(value);
	return NULL;
}

/*
 * json_int_t has 63 bits for the value, enough for any amount of memory or
 * time.
 */
static json_t *
json_count(uint64_t count)
{
	return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

static json_t *
json_address(uintptr_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%lx", (unsigned long)address);
	return json_string(text);
}

static json_t *
json_text(const char *text)
{
	size_t size = MU_SAFE_SIZE(strlen(text));
	char *safe = malloc(size);
	json_t *value = NULL;

	if (safe != NULL)
		value = json_string(mu_safe_for_json(text, safe, size));
	free(safe);
	return value;
}

static json_t *
json_name(const char *name)
{
	return name == NULL || name[0] == '\0' ? json_null() : json_text(name);
}

static json_t *
arena_object(const struct mu_arena_usage *arena)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= json_set(object, "address", json_address(arena->address));
#define SET(field) ok &= json_set(object, #field, json_count(arena->field))
	SET(span);
	SET(live);
	SET(bins);
	SET(tcache);
	SET(top);
#undef SET
	return json_done(object, ok);
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
	return json_done(arenas, ok);
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
	ok &= json_set(heap, "verdict",
	    json_string(mu_verdict_name(mu_usage_judge(usage))));
#define SET(field) ok &= json_set(heap, #field, json_count(usage->field))
	SET(live_reachable);
	SET(live_unreachable);
	SET(free_held);
	SET(mmapped);
	SET(mmapped_live);
#undef SET
	ok &= json_set(heap, "arenas", arenas_array(usage));
	return json_done(heap, ok);
}

static bool
set_place(json_t *object, const char *function, const char *file, unsigned line)
{
	bool ok = true;

	ok &= json_set(object, "function", json_name(function));
	ok &= json_set(object, "file", json_name(file));
	ok &=
	    json_set(object, "line", line > 0 ? json_count(line) : json_null());
	return ok;
}

static json_t *
inlined_array(const struct mu_symbol *symbol)
{
	json_t *callers = json_array(), *caller;
	bool ok = callers != NULL;
	size_t i;

	for (i = 0; ok && i < symbol->num_inlined; i++) {
		caller = json_object();
		ok =
		    json_array_append_new(callers,
			json_done(caller,
			    set_place(caller, mu_symbol_function(symbol, i + 1),
				symbol->inlined[i].file,
				symbol->inlined[i].line))) == 0;
	}
	return json_done(callers, ok);
}

static json_t *
frame_object(uintptr_t pc, const struct mu_names *names)
{
	json_t *frame = json_object();
	struct mu_symbol symbol;
	bool ok = true;

	mu_names_find(names, pc, &symbol);
	ok &= json_set(
	    frame, "pc", json_address((uintptr_t)mu_frame_address(pc)));
	ok &= json_set(frame, "module", json_name(symbol.module));
	ok &= json_set(frame, "build_id", json_name(symbol.build_id));
	ok &= json_set(frame, "offset",
	    symbol.module != NULL ? json_address(symbol.offset) : json_null());
	ok &= set_place(
	    frame, mu_symbol_function(&symbol, 0), symbol.file, symbol.line);
	ok &= json_set(frame, "inlined_into", inlined_array(&symbol));
	return json_done(frame, ok);
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
	return json_done(frames, ok);
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

static int
put_piece(const char *bytes, size_t length, void *ctx)
{
	const struct mu_out *out = ctx;

	out->put(out->ctx, bytes, length);
	return 0;
}

/* Written without the library, which would need ten allocations per entry. */
static bool
put_leak(const struct mu_out *out, const struct Leak *leak, bool contents,
    const struct mu_names *names)
{
	json_t *frames;
	bool ok;

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
	mu_put(out, ", \"frames\": ");
	frames = frames_array(&leak->backtrace, names);
	ok = frames != NULL &&
	    json_dump_callback(
		frames, put_piece, (void *)out, JSON_ENSURE_ASCII) == 0;
	json_decref(frames);
	mu_put(out, ", \"frames_cut\": %s}",
	    leak->backtrace.cut != 0 ? "true" : "false");
	return ok;
}

/* Totals, which a heap that was not judged does not have. */
static bool
set_totals(json_t *report, const struct UnreachableMemoryInfo *info)
{
	bool ok = true, judged = mu_exit_judged(info);

#define SET(field)      \
	ok &= json_set( \
	    report, #field, judged ? json_count(info->field) : json_null())
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

	ok &= json_set(report, "schema", json_integer(MU_JSON_SCHEMA));
	ok &= json_set(report, "pid",
	    answer->pid > 0 ? json_integer(answer->pid) : json_null());
	ok &= json_set(report, "program", json_text(answer->program));
	ok &= json_set(
	    report, "status", json_string(mu_status_word(info->status)));
	ok &= json_set(report, "reason", json_text(info->reason));
	ok &= json_set(report, "remedy", json_text(mu_report_remedy(answer)));
	ok &= json_set(report, "allocator", json_text(answer->allocator));
	return ok;
}

static bool
set_look(json_t *report, const struct mu_report *answer)
{
	const struct UnreachableMemoryInfo *info = &answer->info;
	bool ok = true;

	ok &= json_set(report, "pause_ns", json_count(info->pause_ns));
	ok &= json_set(report, "total_ns", json_count(info->total_ns));
	ok &= json_set(report, "stop",
	    json_text(answer->stop != NULL ? answer->stop : ""));
	ok &= json_set(report, "threads", json_count(info->num_threads));
	ok &= json_set(report, "tries", json_count(info->tries));
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
	bool ok = true, first = true, judged = mu_exit_judged(&answer->info);
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_put(out, ",\n  \"leaks\": [");
	mu_entries_open(&at, &answer->entries);
	for (; ok && judged && (leak = mu_entries_next(&at)) != NULL;
	     first = false) {
		mu_put(out, first ? "\n    " : ",\n    ");
		ok = put_leak(out, leak, contents, names);
	}
	mu_put(out, first ? "]" : "\n  ]");
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
	ok &= json_set(object, "heap", json_heap(&report->usage));
	ok &= json_set(object, "names_note", json_text(report->names_note));
	ok = ok && put_members(out, object) &&
	    put_leaks(out, report, shown->contents, &report->names);
	mu_put(out, "\n}\n");
	json_decref(object);
	return ok;
}

const struct mu_writer mu_writer_json = {
	.name = "json",
	.write = mu_json_report,
};
