#include "lib/writers/groups_text.h"

#include <string.h>

#include "lib/term/human.h"
#include "lib/writers/leaks_text.h"

#define ROWS_SHOWN 12 /* of what hangs on an example */
#define DEPTH_SHOWN 3

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

bool
mu_group_type(const struct mu_names *names, const struct mu_lost_group *group,
    struct mu_type *type)
{
	if (!group->mixed &&
	    mu_names_find_type(names, group->example.range.begin, type)) {
		/* Objects of a class have one size: some are something else. */
		type->certain &= group->size > 0;
		return true;
	}
	*type = (struct mu_type) { .name = NULL };
	return false;
}

/* "probably shop::Plain", "48 bytes" or "blocks of several sizes". */
static void
put_kind(const struct mu_out *out, const struct mu_type *type, size_t size)
{
	if (type->name != NULL) {
		mu_put(out,
		    type->certain || type->source == MU_TYPE_CONTENT
			? ""
			: "probably ");
		mu_put_safe(out, type->name);
	} else if (size > 0) {
		mu_put(out, "%zu byte%s", size, plural(size));
	} else {
		mu_put(out, "blocks of several sizes");
	}
}

static void
put_module(const struct mu_out *out, const struct mu_names *names,
    const struct mu_lost_group *group)
{
	struct mu_symbol symbol;
	const char *slash;

	if (!mu_names_find(names, group->module_address, &symbol)) {
		mu_put(out, "blocks of no known module");
		return;
	}
	slash = strrchr(symbol.module, '/');
	mu_put(out, "blocks of ");
	mu_put_safe(out, slash == NULL ? symbol.module : slash + 1);
}

static void
put_hanging(const struct mu_out *out, const struct mu_lost_group *group)
{
	size_t hanging = group->num_blocks - group->count;

	if (group->count == 0 || group->num_blocks <= group->count)
		return;
	if (!group->uneven && hanging % group->count == 0)
		mu_put(out, ", %zu block%s hang%s on %s",
		    hanging / group->count, plural(hanging / group->count),
		    hanging == group->count ? "s" : "",
		    group->count == 1 ? "it" : "each");
	else
		mu_put(out, ", %zu block%s hang%s on them", hanging,
		    plural(hanging), hanging == 1 ? "s" : "");
}

/* "6.8 KiB in 130 blocks: 10 x Session, 12 blocks hang on each" */
static void
put_head(const struct mu_out *out, const struct mu_report *report,
    const struct mu_lost_group *group, const struct mu_style *style)
{
	struct mu_type type;

	mu_group_type(&report->names, group, &type);
	mu_put(out, "%s  %s in %zu block%s: %zu \u00d7 ", style->bold,
	    mu_human_bytes(group->total_bytes).text, group->num_blocks,
	    plural(group->num_blocks), group->count);
	if (report->groups.by == MU_BY_MODULE)
		put_module(out, &report->names, group);
	else
		put_kind(out, &type, group->size);
	put_hanging(out, group);
	mu_put(out, "%s\n", style->off);
}

static unsigned
depth_of(const struct mu_lost_group *group, const struct mu_lost_hold *hold)
{
	unsigned depth = 1;

	for (; hold->parent > 0; depth++)
		hold = &group->holds[hold->parent - 1];
	return depth;
}

/* "values[]" */
static bool
is_array(const char *field)
{
	size_t length = field == NULL ? 0 : strlen(field);

	return length > 2 && strcmp(field + length - 2, "[]") == 0;
}

static void
put_hold(const struct mu_out *out, const struct mu_names *names,
    const struct mu_lost_group *group, const struct mu_lost_hold *hold,
    bool contents)
{
	const char *field = mu_names_find_field(names, hold->address);
	unsigned depth = depth_of(group, hold);
	struct mu_type type;

	mu_names_find_type(names, hold->address, &type);
	mu_put(out, " ");
	while (depth-- > 0)
		mu_put(out, "  ");
	if (hold->element && !is_array(field))
		mu_put(out, "[]");
	if (!hold->element || hold->offset > 0)
		mu_put(out, "+0x%zx", hold->offset);
	if (field != NULL) {
		mu_put(out, " .");
		mu_put_safe(out, field);
	}
	mu_put(out, "  %zu \u00d7 ", hold->count);
	put_kind(out, &type, mu_lost_hold_mixed(hold) ? 0 : hold->size);
	if (hold->again)
		mu_put(out, ", which hang on each other");
	if (contents && hold->text[0] != '\0') {
		mu_put(out, " \"");
		mu_put_safe(out, hold->text);
		mu_put(out, "\"");
	}
	mu_put(out, "\n");
}

/* The first rows are the nearest to the example. */
static bool
is_shown(const struct mu_lost_group *group, size_t row)
{
	return row < ROWS_SHOWN &&
	    depth_of(group, &group->holds[row]) <= DEPTH_SHOWN;
}

/* The rows below row PARENT, each followed by those below it. */
static void
put_holds(const struct mu_out *out, const struct mu_names *names,
    const struct mu_lost_group *group, size_t parent, bool contents)
{
	size_t i;

	for (i = parent; i < group->num_holds; i++) {
		if (group->holds[i].parent != parent || !is_shown(group, i))
			continue;
		put_hold(out, names, group, &group->holds[i], contents);
		put_holds(out, names, group, 1 + i, contents);
	}
}

/* What make_shared() puts before an object is no part of its name here. */
static void
put_member(const struct mu_out *out, const char *type, const char *field,
    size_t offset)
{
	const char *end = strstr(type, " with its ");
	char name[MU_GROUP_CYCLE];
	struct mu_text text = { name, sizeof(name), 0 };

	mu_text_add(&text, "%s", type);
	if (end != NULL && (size_t)(end - type) < sizeof(name))
		name[end - type] = '\0';
	mu_put_safe(out, name);
	if (field == NULL || field[0] == '\0') {
		mu_put(out, "+0x%zx", offset);
		return;
	}
	mu_put(out, ".");
	mu_put_safe(out, field);
}

/* Row NUMBER, from 1, and those that lead there: what leads to each of them. */
static bool
put_way(const struct mu_out *out, const struct mu_names *names,
    const struct mu_groups_at *at, size_t number, const char *arrow)
{
	const struct mu_lost_hold *hold = &at->group.holds[number - 1];
	uintptr_t above = at->example.begin;
	struct mu_type type;

	if (hold->parent > 0) {
		if (!put_way(out, names, at, hold->parent, arrow))
			return false;
		above = at->group.holds[hold->parent - 1].address;
	}
	if (!mu_names_find_type(names, above, &type))
		return false;
	put_member(out, type.name, mu_names_find_field(names, hold->address),
	    hold->offset);
	mu_put(out, "%s", arrow);
	return true;
}

bool
mu_group_cycle(const struct mu_names *names, const struct mu_groups_at *at,
    const char *arrow, struct mu_text *text)
{
	const struct mu_out out = mu_out_text(text);
	const struct mu_lost_group *group = &at->group;
	size_t row = group->back;
	struct mu_type type;

	for (; row > 0; row = group->holds[row - 1].parent)
		if (!mu_names_find_type(
			names, group->holds[row - 1].address, &type))
			return false;
	if (group->back == 0 ||
	    !mu_names_find_type(names, at->example.begin, &type) ||
	    !put_way(&out, names, at, group->back, arrow) ||
	    !mu_names_find_type(
		names, group->holds[group->back - 1].address, &type))
		return false;
	put_member(&out, type.name,
	    mu_names_find_field(names, at->example.begin), group->back_at);
	return true;
}

static void
put_cycle(const struct mu_out *out, const struct mu_names *names,
    const struct mu_groups_at *at)
{
	char buffer[MU_GROUP_CYCLE] = "";
	struct mu_text text = { buffer, sizeof(buffer), 0 };

	if (mu_group_cycle(names, at, " \u2192 ", &text))
		mu_put(out, "   a cycle: %s\n", buffer);
}

/* Blocks that hang on the example, but on no row that is shown. */
static void
put_others(const struct mu_out *out, const struct mu_lost_group *group)
{
	size_t i, count = group->example.referenced_count;

	for (i = 0; i < group->num_holds; i++)
		if (is_shown(group, i))
			count -= group->holds[i].count < count
			    ? group->holds[i].count
			    : count;
	if (group->num_holds > 0 && count > 0)
		mu_put(out, "   and %zu more block%s\n", count, plural(count));
}

static void
put_group(const struct mu_out *out, const struct mu_report *report,
    const struct mu_groups_at *at, const struct mu_shown *shown)
{
	const struct mu_lost_group *group = &at->group;
	struct mu_shown example = *shown;

	example.style.bold = "";
	put_head(out, report, group, &shown->style);
	mu_leak_text(out, &at->example, &example, &report->names);
	put_holds(out, &report->names, group, 0, shown->contents);
	put_cycle(out, &report->names, at);
	put_others(out, group);
	mu_put(out, "\n");
}

/* The groups of a baseline take one line. */
static void
put_known(const struct mu_out *out, const struct mu_report *report)
{
	const struct mu_report_baseline *known = report->baseline;

	if (known == NULL || known->groups == 0)
		return;
	mu_put(out, "  %s in %zu block%s of %zu group%s that ",
	    mu_human_bytes(known->bytes).text, known->blocks,
	    plural(known->blocks), known->groups, plural(known->groups));
	mu_put_safe(out, known->file);
	mu_put(out, " knows\n\n");
}

void
mu_groups_text(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	const struct mu_groups_info *info = &report->groups;
	size_t more = info->num_total - info->count;
	struct mu_groups_at at;
	size_t i;

	mu_groups_open(&at, &report->entries);
	for (i = 0; mu_groups_next(&at) != NULL; i++)
		if (!mu_report_known(report, i))
			put_group(out, report, &at, shown);
	put_known(out, report);
	if (more > 0)
		mu_put(out, "  ... and %zu more group%s, %s\n\n", more,
		    plural(more), mu_human_bytes(info->rest_bytes).text);
}
