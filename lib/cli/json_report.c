/*
 * The answer as JSON: see json_report.h. jansson passes failures on: an object
 * to which NULL is added fails, and what is unfinished is given back.
 *
 * Runs in: the command.
 */
#include "lib/cli/json_report.h"

#include <jansson.h>
#include <string.h>

#include "lib/cli/exit_status.h"
#include "lib/cli/frame_line.h"
#include "lib/cli/json_values.h"
#include "lib/cli/status_word.h"

static json_t *
hex_contents(const struct Leak *leak)
{
	char hex[2 * sizeof(leak->contents) + 1] = "";
	size_t i, count = leak->size;

	if (count > sizeof(leak->contents))
		count = sizeof(leak->contents);
	for (i = 0; i < count; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned)leak->contents[i]);
	return json_string(hex);
}

static bool
set_place(json_t *object, const char *function, const char *file, unsigned line)
{
	bool ok = true;

	ok &= mu_json_set(object, "function", mu_json_name(function));
	ok &= mu_json_set(object, "file", mu_json_name(file));
	ok &= mu_json_set(
	    object, "line", line > 0 ? mu_json_count(line) : json_null());
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
		ok = json_array_append_new(callers,
			 mu_json_done(caller,
			     set_place(caller, mu_frame_function(symbol, i + 1),
				 symbol->inlined[i].file,
				 symbol->inlined[i].line))) == 0;
	}
	return mu_json_done(callers, ok);
}

static json_t *
frame_object(uintptr_t pc, const struct mu_names *names)
{
	json_t *frame = json_object();
	struct mu_symbol symbol;
	bool ok = true;

	mu_names_find(names, pc, &symbol);
	ok &= mu_json_set(frame, "pc", mu_json_address(pc));
	ok &= mu_json_set(frame, "module", mu_json_name(symbol.module));
	ok &= mu_json_set(frame, "build_id", mu_json_name(symbol.build_id));
	ok &= mu_json_set(frame, "offset",
	    symbol.module != NULL ? mu_json_address(symbol.offset)
				  : json_null());
	ok &= set_place(
	    frame, mu_frame_function(&symbol, 0), symbol.file, symbol.line);
	ok &= mu_json_set(frame, "inlined_into", inlined_array(&symbol));
	return mu_json_done(frame, ok);
}

static json_t *
frames_array(
    const struct LeakBacktrace *backtrace, const struct mu_names *names)
{
	json_t *frames = json_array();
	size_t i, count = backtrace->num_frames;
	bool ok = frames != NULL;

	if (count > MEMUNREACHABLE_MAX_FRAMES)
		count = MEMUNREACHABLE_MAX_FRAMES;
	for (i = 0; ok && i < count; i++)
		ok = json_array_append_new(frames,
			 frame_object(backtrace->frames[i], names)) == 0;
	return mu_json_done(frames, ok);
}

static json_t *
leak_object(
    const struct Leak *leak, bool contents, const struct mu_names *names)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= mu_json_set(object, "address", mu_json_address(leak->begin));
	ok &= mu_json_set(object, "size", mu_json_count(leak->size));
#define SET(field) ok &= mu_json_set(object, #field, mu_json_count(leak->field))
	SET(referenced_count);
	SET(referenced_size);
	SET(similar_count);
	SET(similar_size);
	SET(total_size);
#undef SET
	if (contents)
		ok &= mu_json_set(object, "contents", hex_contents(leak));
	ok &= mu_json_set(
	    object, "frames", frames_array(&leak->backtrace, names));
	return mu_json_done(object, ok);
}

static json_t *
leaks_array(const struct UnreachableMemoryInfo *info, bool contents,
    const struct mu_names *names)
{
	json_t *leaks = json_array();
	size_t i, count = mu_exit_judged(info) ? info->num_reported : 0;
	bool ok = leaks != NULL;

	for (i = 0; ok && i < count; i++)
		ok = json_array_append_new(leaks,
			 leak_object(&info->leaks[i], contents, names)) == 0;
	return mu_json_done(leaks, ok);
}

/* The figures that a heap which was not judged does not have. */
static bool
set_totals(json_t *report, const struct UnreachableMemoryInfo *info)
{
	bool ok = true, judged = mu_exit_judged(info);

#define SET(field)         \
	ok &= mu_json_set( \
	    report, #field, judged ? mu_json_count(info->field) : json_null())
	SET(num_leaks);
	SET(leak_bytes);
	SET(num_entries);
	SET(unreported_leaks);
	SET(unreported_bytes);
	SET(num_allocations);
	SET(allocation_bytes);
#undef SET
	return ok;
}

static bool
set_subject(json_t *report, const struct mu_answer *answer)
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
	ok &= mu_json_set(report, "allocator", mu_json_text(answer->allocator));
	return ok;
}

static bool
set_look(json_t *report, const struct mu_answer *answer)
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

bool
mu_json_report(FILE *out, const struct mu_answer *answer, bool contents,
    const struct mu_names *names)
{
	json_t *report = json_object();
	bool ok = true;

	ok &= set_subject(report, answer);
	ok &= set_totals(report, &answer->info);
	ok &= set_look(report, answer);
	ok &= mu_json_set(report, "heap", mu_json_heap(&answer->usage));
	ok &=
	    mu_json_set(report, "names_lack", mu_json_text(answer->names_lack));
	ok &= mu_json_set(
	    report, "leaks", leaks_array(&answer->info, contents, names));
	ok = ok &&
	    json_dumpf(report, out, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0 &&
	    fputc('\n', out) != EOF;
	json_decref(report);
	return ok;
}
