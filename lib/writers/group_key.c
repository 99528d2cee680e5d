#include "lib/writers/group_key.h"

#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/term/safe_text.h"
#include "lib/writers/groups_text.h"

#define FRAMES ((size_t)8) /* the innermost ones */
#define NAME ((size_t)256) /* bytes of each */

static void
add_safe(struct mu_text *text, const char *name)
{
	char safe[NAME];

	mu_text_add(text, "%s", mu_safe_for_terminal(name, safe, sizeof(safe)));
}

/* What calls these differs from libc to libc. */
static bool
is_first(const char *function)
{
	return strcmp(function, "main") == 0 ||
	    strcmp(function, "start_thread") == 0;
}

/*
 * A function; without its name its place in the file. Returns false if it is
 * the last one.
 */
static bool
add_frame(struct mu_text *text, uintptr_t pc, const struct mu_names *names)
{
	struct mu_symbol symbol;
	const char *slash, *function;

	if (!mu_names_find(names, pc, &symbol)) {
		mu_text_add(text, "?");
		return true;
	}
	function = mu_symbol_function(&symbol, 0);
	if (function != NULL) {
		add_safe(text, function);
		return !is_first(function);
	}
	slash = strrchr(symbol.module, '/');
	add_safe(text, slash == NULL ? symbol.module : slash + 1);
	mu_text_add(text, "+0x%zx", (size_t)symbol.offset);
	return true;
}

static void
add_stack(struct mu_text *text, const struct LeakBacktrace *backtrace,
    const struct mu_names *names)
{
	size_t i, count = mu_backtrace_count(backtrace);
	size_t first = mu_backtrace_script(backtrace);
	bool more = true;

	/* In front of interpreted functions only the innermost call counts. */
	if (first == 0 || first == count)
		first = 1;
	for (i = 0; more && i < count && i < first - 1 + FRAMES; i++) {
		if (i > 0 && i < first)
			continue;
		mu_text_add(text, "%s", i > 0 ? " < " : "");
		more = add_frame(text, mu_backtrace_frame(backtrace, i), names);
	}
}

static void
add_shape(struct mu_text *text, const struct mu_lost_group *group,
    const struct mu_names *names)
{
	const struct mu_lost_hold *hold = group->holds;
	const char *field;
	struct mu_type type;
	size_t i;

	mu_group_type(names, group, &type);
	if (type.name != NULL)
		add_safe(text, type.name);
	else if (group->size > 0)
		mu_text_add(text, "%zu bytes", group->size);
	else
		mu_text_add(text, "several sizes");
	for (i = 0; i < group->num_holds; i++, hold++) {
		mu_text_add(text, "%s", i == 0 ? " {" : ", ");
		field = mu_names_find_field(names, hold->address);
		if (field == NULL)
			mu_text_add(text, "+0x%zx", hold->offset);
		else
			mu_text_add(text, ".");
		if (field != NULL)
			add_safe(text, field);
	}
	mu_text_add(text, "%s", group->num_holds > 0 ? "}" : "");
}

void
mu_group_key(struct mu_text *text, const struct mu_groups_at *at,
    const struct mu_names *names)
{
	if (mu_backtrace_count(&at->example.backtrace) > 0)
		add_stack(text, &at->example.backtrace, names);
	else
		add_shape(text, &at->group, names);
}
