#include "lib/since/suppressions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/since/valgrind_entry.h"
#include "lib/term/out.h"
#include "lib/term/safe_text.h"
#include "lib/writers/findings.h"
#include "lib/writers/groups_text.h"
#include "mu/array.h"

#define FRAMES ((size_t)256) /* with those that are inlined */
#define HEAD "# memunreachable suppressions: groups of lost blocks\n"

static const char *const kinds[] = { "leak", "function", "module", "type",
	"size", "valgrind" };

static bool
read_number(const char *text, size_t *number, const char **end)
{
	char *behind;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*number = strtoul(text, &behind, 10);
	*end = behind;
	return errno == 0;
}

static bool
read_sizes(struct mu_suppression *item)
{
	const char *text = item->pattern;

	if (!read_number(text, &item->min_size, &text))
		return false;
	item->max_size = item->min_size;
	return *text == '\0' ||
	    (*text == '-' && read_number(text + 1, &item->max_size, &text) &&
		*text == '\0' && item->max_size >= item->min_size);
}

static bool
is_date(const char *text)
{
	static const char form[] = "dddd-dd-dd";
	size_t i;

	for (i = 0; form[i] != '\0'; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i])
				   : text[i] != form[i])
			return false;
	return text[i] == '\0';
}

/* Cut conditions off the end of LINE. */
static bool
read_conditions(struct mu_suppression *item, char *line)
{
	const char *end;
	char *word;

	while ((word = strrchr(line, ' ')) != NULL) {
		if (word[1] == '\0') {
			*word = '\0';
			continue;
		}
		if (strncmp(word, " count=", 7) == 0) {
			if (!read_number(word + 7, &item->cap, &end) ||
			    *end != '\0' || item->cap == 0)
				return false;
		} else if (strncmp(word, " until=", 7) == 0) {
			if (!is_date(word + 7))
				return false;
			memcpy(item->until, word + 7, sizeof(item->until));
		} else {
			break;
		}
		*word = '\0';
	}
	return true;
}

static bool
is_there(const struct mu_suppressions *suppressions,
    const struct mu_suppression *item)
{
	const struct mu_suppression *other = suppressions->items;
	size_t i;

	for (i = 0; i < suppressions->count; i++, other++)
		if (other->kind == item->kind && other->cap == item->cap &&
		    strcmp(other->pattern, item->pattern) == 0 &&
		    strcmp(other->until, item->until) == 0)
			return true;
	return false;
}

/* LINE is changed. */
static bool
read_line(struct mu_suppressions *suppressions, char *line, const char *today)
{
	struct mu_suppression item = { .cap = 0 };
	char *colon = strchr(line, ':');
	unsigned kind = 0;

	if (colon == NULL)
		return false;
	*colon = '\0';
	while (kind < MU_SUPPRESS_VALGRIND && strcmp(kinds[kind], line) != 0)
		kind++;
	if (kind == MU_SUPPRESS_VALGRIND ||
	    !read_conditions(&item, colon + 1) || colon[1] == '\0')
		return false;
	item.kind = (enum mu_suppression_kind)kind;
	item.pattern = strdup(colon + 1);
	item.expired = item.until[0] != '\0' && strcmp(today, item.until) > 0;
	if (item.pattern != NULL && is_there(suppressions, &item)) {
		free(item.pattern);
		return true;
	}
	if (item.pattern == NULL ||
	    (kind == MU_SUPPRESS_SIZE && !read_sizes(&item)) ||
	    !mu_array_room(suppressions->items, suppressions->count,
		suppressions->max, 16, SIZE_MAX)) {
		free(item.pattern);
		return false;
	}
	suppressions->items[suppressions->count++] = item;
	return true;
}

/* One of other tools, or of blocks that are not lost, says nothing. */
static bool
read_entry(struct mu_suppressions *suppressions, FILE *file, size_t *number)
{
	struct mu_valgrind_entry entry;
	bool ok = mu_valgrind_entry_read(&entry, file, number);

	if (ok && entry.callers != NULL)
		ok = mu_array_room(suppressions->items, suppressions->count,
		    suppressions->max, 16, SIZE_MAX);
	if (!ok || entry.callers == NULL) {
		free(entry.name);
		free(entry.callers);
		return ok;
	}
	suppressions->items[suppressions->count++] = (struct mu_suppression) {
		.kind = MU_SUPPRESS_VALGRIND,
		.pattern = entry.name,
		.callers = entry.callers,
	};
	return true;
}

static enum mu_status
read_lines(struct mu_suppressions *suppressions, FILE *file, const char *today,
    struct mu_why *why)
{
	char *line = NULL, *text;
	size_t room = 0, number = 0;
	enum mu_status status = MU_OK;

	while (status == MU_OK && getline(&line, &room, file) > 0) {
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		text = line + strspn(line, " \t");
		if (*text == '\0' || *text == '#')
			continue;
		if (strcmp(text, "{") == 0) {
			if (!read_entry(suppressions, file, &number))
				status = mu_why(why, MU_ERR_ARGUMENT,
				    "%s, line %zu: no entry of Valgrind: name,"
				    " tool:kind, and fun:, obj: or ... up to }",
				    mu_safe_argument(suppressions->file).text,
				    number);
		} else if (!read_line(suppressions, text, today))
			status = mu_why(why, MU_ERR_ARGUMENT,
			    "%s, line %zu: expected leak:, function:, module:,"
			    " type: or size:, with count=N or until=YYYY-MM-DD"
			    " behind it",
			    mu_safe_argument(suppressions->file).text, number);
	}
	free(line);
	return status;
}

enum mu_status
mu_suppressions_open(struct mu_suppressions *suppressions, const char *file,
    const char *today, struct mu_why *why)
{
	enum mu_status status = MU_OK;
	FILE *lines;

	suppressions->file = file;
	if (file == NULL)
		return MU_OK;
	lines = fopen(file, "re");
	if (lines == NULL)
		return mu_why(why, MU_ERR_ARGUMENT, "cannot read %s: %s",
		    mu_safe_argument(file).text, strerror(errno));
	status = read_lines(suppressions, lines, today, why);
	fclose(lines);
	return status;
}

/* What of one group is matched. */
struct judged {
	const struct mu_groups_at *at;
	const struct mu_names *names;
	const char *type;
};

static bool
has_function(const struct mu_symbol *symbol, const char *pattern)
{
	size_t level;

	for (level = 0; level <= symbol->num_inlined; level++)
		if (mu_suppression_matches(
			pattern, mu_symbol_function(symbol, level)))
			return true;
	return false;
}

static bool
has_file(const struct mu_symbol *symbol, const char *pattern)
{
	size_t i;

	if (mu_suppression_matches(pattern, symbol->file))
		return true;
	for (i = 0; i < symbol->num_inlined; i++)
		if (mu_suppression_matches(pattern, symbol->inlined[i].file))
			return true;
	return false;
}

static bool
has_frame(const struct judged *judged, const char *pattern, bool functions,
    bool files, bool modules)
{
	const struct LeakBacktrace *stack = &judged->at->example.backtrace;
	size_t i, count = mu_backtrace_count(stack);
	struct mu_symbol symbol;

	for (i = 0; i < count; i++) {
		if (!mu_names_find(
			judged->names, mu_backtrace_frame(stack, i), &symbol))
			continue;
		if ((functions && has_function(&symbol, pattern)) ||
		    (files && has_file(&symbol, pattern)) ||
		    (modules && mu_suppression_matches(pattern, symbol.module)))
			return true;
	}
	/* Without a stack the module of its vtable or tag is known. */
	return count == 0 && modules &&
	    mu_names_find(
		judged->names, judged->at->group.module_address, &symbol) &&
	    mu_suppression_matches(pattern, symbol.module);
}

static bool
has_callers(const struct judged *judged, const char *callers)
{
	const struct LeakBacktrace *stack = &judged->at->example.backtrace;
	struct mu_valgrind_frame frames[FRAMES];
	size_t i, level, used = 0, count = mu_backtrace_count(stack);
	struct mu_symbol symbol;

	for (i = 0; i < count; i++) {
		if (!mu_names_find(
			judged->names, mu_backtrace_frame(stack, i), &symbol))
			symbol = (struct mu_symbol) { .module = NULL };
		for (level = 0; level <= symbol.num_inlined && used < FRAMES;
		     level++)
			frames[used++] = (struct mu_valgrind_frame) {
				mu_symbol_function(&symbol, level),
				symbol.module,
			};
	}
	return used > 0 && mu_valgrind_entry_matches(callers, frames, used);
}

static bool
is_matched(const struct judged *judged, const struct mu_suppression *item)
{
	size_t size = judged->at->group.size;

	switch (item->kind) {
	case MU_SUPPRESS_LEAK:
		return has_frame(judged, item->pattern, true, true, true);
	case MU_SUPPRESS_FUNCTION:
		return has_frame(judged, item->pattern, true, false, false);
	case MU_SUPPRESS_MODULE:
		return has_frame(judged, item->pattern, false, false, true);
	case MU_SUPPRESS_VALGRIND:
		return has_callers(judged, item->callers);
	case MU_SUPPRESS_TYPE:
		return mu_suppression_matches(item->pattern, judged->type);
	default:
		return size >= item->min_size && size <= item->max_size &&
		    size > 0;
	}
}

static bool
is_suppressed(struct mu_suppressions *suppressions, const struct judged *judged)
{
	const struct mu_lost_group *group = &judged->at->group;
	struct mu_suppression *item = suppressions->items;
	size_t i;

	for (i = 0; i < suppressions->count; i++, item++) {
		if (item->expired || !is_matched(judged, item))
			continue;
		if (item->cap > 0 &&
		    group->num_blocks > item->cap - item->count) {
			item->capped = true;
			continue;
		}
		item->count += group->num_blocks;
		item->bytes += group->total_bytes;
		return true;
	}
	return false;
}

/* --only-module, --only-function */
static bool
is_left_out(struct mu_suppressions *suppressions, const struct judged *judged)
{
	const char *module = suppressions->only_module;
	const char *function = suppressions->only_function;

	if ((module == NULL || has_frame(judged, module, false, false, true)) &&
	    (function == NULL ||
		has_frame(judged, function, true, false, false)))
		return false;
	suppressions->left_out += judged->at->group.num_blocks;
	suppressions->left_out_bytes += judged->at->group.total_bytes;
	return true;
}

/* An entry that suppresses this group. */
static void
put_entry(FILE *out, const struct mu_finding *finding, const char *type)
{
	const char *function =
	    finding->script != NULL ? finding->script : finding->function;
	size_t size = finding->example->size;

	fputs("# ", out);
	mu_print_safe(out, finding->what);
	fputs(", ", out);
	mu_print_safe(out, finding->key);
	fputc('\n', out);
	if (function != NULL) {
		fputs("leak:^", out);
		mu_print_safe(out, function);
		fputs("$\n", out);
	} else if (type != NULL) {
		fputs("type:^", out);
		mu_print_safe(out, type);
		fputs("$\n", out);
	} else {
		fprintf(out, "size:%zu\n", size);
	}
}

void
mu_suppressions_judge(
    struct mu_suppressions *suppressions, struct mu_report *report)
{
	struct mu_findings findings;
	const struct mu_finding *finding;
	struct judged judged = { .names = &report->names };
	struct mu_type type;
	size_t i;

	report->suppressed =
	    calloc(report->entries.num_groups + 1, sizeof(*report->suppressed));
	if (report->groups.num_total > report->groups.count)
		suppressions->error = E2BIG;
	if (report->suppressed == NULL)
		suppressions->error = ENOMEM;
	if (suppressions->made != NULL && ftell(suppressions->made) == 0)
		fputs(HEAD, suppressions->made);
	if (report->suppressed == NULL || report->groups.count == 0)
		return;
	mu_findings_open(&findings, report, NULL);
	for (i = 0; (finding = mu_findings_next(&findings)) != NULL; i++) {
		judged.at = &findings.groups;
		mu_group_type(judged.names, &judged.at->group, &type);
		judged.type = type.name;
		suppressions->stacks |=
		    mu_backtrace_count(&judged.at->example.backtrace) > 0;
		report->suppressed[i] = is_left_out(suppressions, &judged) ||
		    is_suppressed(suppressions, &judged);
		if (suppressions->made != NULL && !report->suppressed[i] &&
		    !finding->known)
			put_entry(suppressions->made, finding, type.name);
	}
}

static void
put_item(FILE *out, const struct mu_suppression *item)
{
	fprintf(out, "%s:", kinds[item->kind]);
	mu_print_safe(out, item->pattern);
	if (item->cap > 0)
		fprintf(out, " count=%zu", item->cap);
	if (item->until[0] != '\0')
		fprintf(out, " until=%s", item->until);
}

static void
put_unused(const struct mu_suppressions *suppressions,
    const struct mu_suppression *item, FILE *out)
{
	fputs("Suppression not used: ", out);
	put_item(out, item);
	if (item->expired)
		fputs(" (that day is over)", out);
	else if (item->capped)
		fputs(" (there are more blocks)", out);
	else if (!suppressions->stacks &&
	    (item->kind <= MU_SUPPRESS_FUNCTION ||
		item->kind == MU_SUPPRESS_VALGRIND))
		fputs(
		    " (cannot match: no stack is known, see --backtrace)", out);
	fputc('\n', out);
}

void
mu_suppressions_sum(const struct mu_suppressions *suppressions, FILE *out)
{
	const struct mu_suppression *item;
	bool any = false;
	size_t i;

	for (i = 0; i < suppressions->count; i++) {
		item = &suppressions->items[i];
		if (item->count == 0)
			continue;
		if (!any)
			fputs("Suppressions used:\n"
			      "  count      bytes template\n",
			    out);
		any = true;
		fprintf(out, "%7zu %10zu ", item->count, item->bytes);
		put_item(out, item);
		fputs(item->capped ? " (there are more blocks)\n" : "\n", out);
	}
	for (i = 0; i < suppressions->count; i++)
		if (suppressions->items[i].count == 0)
			put_unused(suppressions, &suppressions->items[i], out);
	if (suppressions->left_out > 0)
		fprintf(out,
		    "Left out by --only-module or --only-function: %zu bytes in"
		    " %zu block%s\n",
		    suppressions->left_out_bytes, suppressions->left_out,
		    suppressions->left_out == 1 ? "" : "s");
}

void
mu_suppressions_close(struct mu_suppressions *suppressions)
{
	size_t i;

	for (i = 0; i < suppressions->count; i++) {
		free(suppressions->items[i].pattern);
		free(suppressions->items[i].callers);
	}
	free(suppressions->items);
	*suppressions = (struct mu_suppressions) { .count = 0 };
}
