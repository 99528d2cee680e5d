/*
 * SARIF 2.1.0: a report is a run, a group of lost blocks a result.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/findings.h"
#include "lib/writers/json_values.h"
#include "lib/writers/writer.h"

#define SCHEMA                                                                \
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/" \
	"sarif-schema-2.1.0.json"
#define RULE "lost-memory"

static json_t *
message(const char *text)
{
	json_t *object = json_object();

	return mu_json_done(
	    object, mu_json_set(object, "text", mu_json_text(text)));
}

/* A path as a URI: RFC 3986. */
static json_t *
uri_of(const char *prefix, const char *path)
{
	char uri[3 * sizeof(((struct mu_source_line *)0)->file)];
	size_t used = (size_t)snprintf(uri, sizeof(uri), "%s", prefix);

	for (; *path != '\0' && used + 4 < sizeof(uri); path++) {
		if (isalnum((unsigned char)*path) ||
		    strchr("/-._~", *path) != NULL)
			uri[used++] = *path;
		else
			used += (size_t)snprintf(uri + used, sizeof(uri) - used,
			    "%%%02X", (unsigned char)*path);
	}
	uri[used] = '\0';
	return json_string(uri);
}

static json_t *
physical_location(const struct mu_source_line *source, const char *root)
{
	json_t *object = json_object(), *artifact = json_object();
	json_t *region;
	bool ok = true;

	ok &= mu_json_set(artifact, "uri",
	    uri_of(source->relative ? "" : "file://", source->file));
	if (source->below && root != NULL)
		ok &=
		    mu_json_set(artifact, "uriBaseId", json_string("SRCROOT"));
	ok &= mu_json_set(object, "artifactLocation", artifact);
	if (source->line > 0) {
		region = json_object();
		ok &= mu_json_set(
		    region, "startLine", mu_json_count(source->line));
		ok &= mu_json_set(object, "region", region);
	}
	return mu_json_done(object, ok);
}

static json_t *
logical_locations(const char *function)
{
	json_t *array = json_array(), *object = json_object();
	bool ok =
	    mu_json_set(object, "fullyQualifiedName", mu_json_text(function));

	ok &= mu_json_set(object, "kind", json_string("function"));
	ok = json_array_append_new(array, object) == 0 && ok;
	return mu_json_done(array, ok);
}

static json_t *
location(
    const struct mu_source_line *source, const char *function, const char *root)
{
	json_t *object = json_object();
	bool ok = true;

	if (source->file[0] != '\0')
		ok &= mu_json_set(object, "physicalLocation",
		    physical_location(source, root));
	if (function != NULL)
		ok &= mu_json_set(
		    object, "logicalLocations", logical_locations(function));
	return mu_json_done(object, ok);
}

static json_t *
frame(uintptr_t pc, const struct mu_names *names, const char *root)
{
	json_t *object = json_object();
	struct mu_symbol symbol;
	struct mu_source_line source;
	bool ok = true;

	mu_names_find(names, pc, &symbol);
	mu_source_line_of(&source, symbol.file, symbol.line, root);
	ok &= mu_json_set(object, "location",
	    location(&source, mu_symbol_function(&symbol, 0), root));
	if (symbol.module != NULL)
		ok &=
		    mu_json_set(object, "module", mu_json_text(symbol.module));
	return mu_json_done(object, ok);
}

static json_t *
stacks(const struct LeakBacktrace *backtrace, const struct mu_names *names,
    const char *root)
{
	json_t *array = json_array(), *stack = json_object();
	json_t *frames = json_array();
	size_t i, count = mu_backtrace_count(backtrace);
	bool ok = frames != NULL;

	for (i = 0; ok && i < count; i++)
		ok = json_array_append_new(frames,
			 frame(mu_backtrace_frame(backtrace, i), names,
			     root)) == 0;
	ok &= mu_json_set(stack, "message", message("allocated by"));
	ok &= mu_json_set(stack, "frames", mu_json_done(frames, ok));
	ok = json_array_append_new(array, stack) == 0 && ok;
	return mu_json_done(array, ok);
}

static json_t *
result(const struct mu_finding *finding, const struct mu_names *names,
    const char *root)
{
	json_t *object = json_object(), *prints = json_object();
	json_t *locations = json_array(), *more = json_object();
	const struct LeakBacktrace *backtrace = &finding->example->backtrace;
	bool ok = true;

	ok &= mu_json_set(object, "ruleId", json_string(RULE));
	ok &= mu_json_set(object, "ruleIndex", json_integer(0));
	ok &= mu_json_set(
	    object, "level", json_string(finding->known ? "note" : "error"));
	if (finding->known)
		ok &= mu_json_set(
		    object, "baselineState", json_string("unchanged"));
	ok &= mu_json_set(object, "message", message(finding->what));
	if (finding->source.file[0] != '\0' || finding->function != NULL)
		ok &= json_array_append_new(locations,
			  location(
			      &finding->source, finding->function, root)) == 0;
	ok &= mu_json_set(object, "locations", locations);
	ok &= mu_json_set(
	    prints, "memunreachableGroup/v1", json_string(finding->print));
	ok &= mu_json_set(object, "partialFingerprints", prints);
	if (mu_backtrace_count(backtrace) > 0)
		ok &= mu_json_set(
		    object, "stacks", stacks(backtrace, names, root));
	ok &= mu_json_set(more, "bytes", mu_json_count(finding->bytes));
	ok &= mu_json_set(more, "blocks", mu_json_count(finding->blocks));
	ok &= mu_json_set(more, "group", mu_json_text(finding->key));
	ok &= mu_json_set(object, "properties", more);
	return mu_json_done(object, ok);
}

static json_t *
rules(void)
{
	json_t *array = json_array(), *rule = json_object();
	bool ok = true;

	ok &= mu_json_set(rule, "id", json_string(RULE));
	ok &= mu_json_set(rule, "name", json_string("LostMemory"));
	ok &= mu_json_set(rule, "shortDescription",
	    message("Memory that was allocated and not freed, and that nothing"
		    " points to any more."));
	ok = json_array_append_new(array, rule) == 0 && ok;
	return mu_json_done(array, ok);
}

static json_t *
tool(const char *version)
{
	json_t *object = json_object(), *driver = json_object();
	bool ok = true;

	ok &= mu_json_set(driver, "name", json_string("memunreachable"));
	if (version != NULL)
		ok &= mu_json_set(driver, "version", json_string(version));
	ok &= mu_json_set(driver, "rules", rules());
	ok &= mu_json_set(object, "driver", driver);
	return mu_json_done(object, ok);
}

/* How the check ended, and why it has no or no complete answer. */
static json_t *
invocations(const struct mu_report *report)
{
	json_t *array = json_array(), *object = json_object();
	json_t *notes = json_array(), *note = json_object();
	bool checked = mu_exit_checked(&report->info), ok = true;

	ok &= mu_json_set(object, "executionSuccessful", json_boolean(checked));
	if (report->info.status != MEMUNREACHABLE_COMPLETE) {
		ok &= mu_json_set(
		    note, "level", json_string(checked ? "warning" : "error"));
		ok &=
		    mu_json_set(note, "message", message(report->info.reason));
		ok &= json_array_append(notes, note) == 0;
	}
	json_decref(note);
	ok &= mu_json_set(object, "toolExecutionNotifications", notes);
	ok = json_array_append_new(array, object) == 0 && ok;
	return mu_json_done(array, ok);
}

static json_t *
source_root(const char *root)
{
	json_t *bases = json_object(), *base = json_object();
	char path[4096];
	bool ok = true;

	snprintf(path, sizeof(path), "%s%s", root,
	    root[0] != '\0' && root[strlen(root) - 1] == '/' ? "" : "/");
	if (root[0] == '/')
		ok &= mu_json_set(base, "uri", uri_of("file://", path));
	ok &= mu_json_set(bases, "SRCROOT", base);
	return mu_json_done(bases, ok);
}

static json_t *
program(const struct mu_report *report)
{
	json_t *object = json_object();
	bool ok = mu_json_set(object, "program", mu_json_text(report->program));

	return mu_json_done(object, ok);
}

/* All of a run but its results. */
static json_t *
about_run(const struct mu_report *report, const struct mu_shown *shown)
{
	json_t *run = json_object();
	const char *root = shown->source_root;
	bool ok = true;

	ok &= mu_json_set(run, "tool", tool(shown->version));
	ok &= mu_json_set(run, "columnKind", json_string("utf16CodeUnits"));
	if (root != NULL)
		ok &= mu_json_set(run, "originalUriBaseIds", source_root(root));
	ok &= mu_json_set(run, "invocations", invocations(report));
	ok &= mu_json_set(run, "properties", program(report));
	return mu_json_done(run, ok);
}

/* Each is written at once: there may be millions. */
static bool
put_results(
    const struct mu_out *out, const struct mu_report *report, const char *root)
{
	struct mu_findings findings;
	const struct mu_finding *finding;
	bool ok = true, first = true;

	mu_put(out, "\"results\": [");
	mu_findings_open(&findings, report, root);
	while (ok && (finding = mu_findings_next(&findings)) != NULL) {
		mu_put(out, first ? "\n" : ",\n");
		ok = mu_json_put(out, result(finding, &report->names, root), 0);
		first = false;
	}
	mu_put(out, "]");
	return ok;
}

static bool
write_run(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	bool ok;

	if (shown->written != NULL && (*shown->written)++ > 0)
		mu_put(out, ",\n");
	mu_put(out, "{\n");
	ok = mu_json_put(
	    out, about_run(report, shown), JSON_INDENT(1) | JSON_EMBED);
	mu_put(out, ",\n");
	ok = ok && put_results(out, report, shown->source_root);
	mu_put(out, "}");
	return ok;
}

const struct mu_writer mu_writer_sarif = {
	.name = "sarif",
	.head = "{\n\"$schema\": \"" SCHEMA "\",\n\"version\": \"2.1.0\",\n"
		"\"runs\": [\n",
	.tail = "\n]\n}\n",
	.write = write_run,
};
