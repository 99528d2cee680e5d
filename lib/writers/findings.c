#include "lib/writers/findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/term/entities.h"
#include "lib/term/safe_text.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/groups_text.h"
#include "mu/hash.h"

const char *
mu_report_name(const struct mu_report *report)
{
	const char *slash = strrchr(report->program, '/');

	if (report->program[0] == '\0')
		return "program";
	return slash != NULL && slash[1] != '\0' ? slash + 1 : report->program;
}

void
mu_source_line_of(struct mu_source_line *source, const char *file,
    unsigned line, const char *root)
{
	size_t length = root == NULL ? 0 : strlen(root);

	*source = (struct mu_source_line) { .line = line };
	if (file == NULL)
		return;
	while (length > 0 && root[length - 1] == '/')
		length--;
	source->relative = file[0] != '/';
	source->below = source->relative && strncmp(file, "../", 3) != 0;
	if (root != NULL && strncmp(file, root, length) == 0 &&
	    file[length] == '/') {
		source->relative = source->below = true;
		file += length + strspn(file + length, "/");
	}
	if (file[0] == '.' && file[1] == '/')
		file += 2;
	snprintf(source->file, sizeof(source->file), "%s", file);
}

/* The innermost frame with a line; below the source root if one is. */
static void
find_place(struct mu_findings *findings, const struct Leak *leak)
{
	struct mu_finding *finding = &findings->finding;
	const struct mu_names *names = &findings->report->names;
	size_t i, count = mu_backtrace_count(&leak->backtrace);
	struct mu_symbol symbol;
	struct mu_source_line source;
	bool any = false;

	for (i = 0; i < count; i++) {
		if (!mu_names_find(names,
			mu_backtrace_frame(&leak->backtrace, i), &symbol) ||
		    symbol.file == NULL)
			continue;
		mu_source_line_of(
		    &source, symbol.file, symbol.line, findings->root);
		if (any && !(findings->root != NULL && source.below))
			continue;
		finding->source = source;
		finding->function = mu_symbol_function(&symbol, 0);
		any = true;
		if (findings->root == NULL || source.below)
			return;
	}
}

/* "parse.c:88", found in the code. */
static void
find_site(struct mu_findings *findings, const struct Leak *leak)
{
	const char *site = mu_names_find_site(&findings->report->names, leak);
	const char *colon = site == NULL ? NULL : strrchr(site, ':');
	char file[sizeof(findings->finding.source.file)];

	if (colon == NULL || colon[1 + strspn(colon + 1, "0123456789")] != '\0')
		return;
	snprintf(file, sizeof(file), "%.*s", (int)(colon - site), site);
	mu_source_line_of(&findings->finding.source, file,
	    (unsigned)strtoul(colon + 1, NULL, 10), findings->root);
}

/* The first function of the stack, if no frame has a line. */
static void
find_function(struct mu_findings *findings, const struct Leak *leak)
{
	size_t i, count = mu_backtrace_count(&leak->backtrace);
	struct mu_symbol symbol;

	for (i = 0; i < count && findings->finding.function == NULL; i++)
		if (mu_names_find(&findings->report->names,
			mu_backtrace_frame(&leak->backtrace, i), &symbol))
			findings->finding.function =
			    mu_symbol_function(&symbol, 0);
}

static void
find_script(struct mu_findings *findings, const struct Leak *leak)
{
	size_t number = mu_backtrace_script(&leak->backtrace);
	struct mu_symbol symbol;

	findings->finding.script = NULL;
	if (number < mu_backtrace_count(&leak->backtrace) &&
	    mu_names_find(&findings->report->names,
		mu_backtrace_frame(&leak->backtrace, number), &symbol))
		findings->finding.script = symbol.function;
}

static void
describe(struct mu_findings *findings, const char *type)
{
	struct mu_finding *finding = &findings->finding;
	char safe[256];

	snprintf(finding->what, sizeof(finding->what),
	    "%zu byte%s in %zu block%s lost%s%s", finding->bytes,
	    finding->bytes == 1 ? "" : "s", finding->blocks,
	    finding->blocks == 1 ? "" : "s", type != NULL ? ": " : "",
	    type != NULL ? mu_safe_for_terminal(type, safe, sizeof(safe)) : "");
}

static void
print_key(struct mu_finding *finding)
{
	snprintf(finding->print, sizeof(finding->print), "%016" PRIx64,
	    mu_hash_bytes(finding->key, strlen(finding->key)));
}

/* What groups and entries share; AT is of this one group. */
static const struct mu_finding *
fill(struct mu_findings *findings, const struct mu_groups_at *at,
    const char *type)
{
	struct mu_finding *finding = &findings->finding;
	struct mu_text key = { finding->key, sizeof(finding->key), 0 };

	finding->example = &at->example;
	find_place(findings, &at->example);
	if (finding->source.file[0] == '\0')
		find_site(findings, &at->example);
	find_function(findings, &at->example);
	find_script(findings, &at->example);
	mu_group_key(&key, at, &findings->report->names);
	print_key(finding);
	describe(findings, type);
	return finding;
}

static const struct mu_finding *
next_group(struct mu_findings *findings)
{
	const struct mu_lost_group *group = mu_groups_next(&findings->groups);
	struct mu_type type;

	if (group == NULL)
		return NULL;
	mu_group_type(&findings->report->names, group, &type);
	findings->finding = (struct mu_finding) {
		.bytes = group->total_bytes,
		.blocks = group->num_blocks,
		.count = group->count,
		.known = mu_report_known(findings->report, findings->index++),
	};
	return fill(findings, &findings->groups, type.name);
}

static const struct mu_finding *
next_entry(struct mu_findings *findings)
{
	const struct Leak *leak = mu_entries_next(&findings->entries);
	struct mu_groups_at *at = &findings->groups;
	struct mu_type type;

	if (leak == NULL)
		return NULL;
	mu_names_find_type(&findings->report->names, leak->begin, &type);
	findings->finding = (struct mu_finding) {
		.bytes = leak->total_size,
		.blocks = 1 + leak->referenced_count + leak->similar_count +
		    leak->similar_referenced_count,
		.count = 1 + leak->similar_count,
	};
	memset(at, 0, sizeof(*at));
	at->group.size = leak->size;
	at->group.count = 1;
	at->group.example.range.begin = leak->begin;
	at->example = *leak;
	return fill(findings, at, type.name);
}

void
mu_findings_open(struct mu_findings *findings, const struct mu_report *report,
    const char *root)
{
	*findings = (struct mu_findings) {
		.report = report,
		.root = root,
		.grouped = report->groups.count > 0,
	};
	if (findings->grouped)
		mu_groups_open(&findings->groups, &report->entries);
	else
		mu_entries_open(&findings->entries, &report->entries);
}

const struct mu_finding *
mu_findings_next(struct mu_findings *findings)
{
	if (!mu_exit_checked(&findings->report->info))
		return NULL;
	return findings->grouped ? next_group(findings) : next_entry(findings);
}

void
mu_put_xml(const struct mu_out *out, const char *text)
{
	struct mu_entities entities = { out, "&<>\"" };
	const struct mu_out xml = { .put = mu_entities_put, .ctx = &entities };

	mu_put_safe(&xml, text);
}
