#include "lib/watch/group_name.h"

#include <bsd/string.h>
#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/term/human.h"
#include "lib/writers/groups_text.h"
#include "mu/text.h"

#define EXACT ((size_t)1024) /* bytes; larger sizes are classes */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* A function of the C or C++ library allocates for its caller. */
static bool
is_library(const char *module)
{
	const char *name = base_name(module);

	return strncmp(name, "libc.so", 7) == 0 ||
	    strncmp(name, "libc-", 5) == 0 ||
	    strncmp(name, "libstdc++.so", 12) == 0;
}

/* The innermost frame with a line; else the innermost function. */
static bool
find_frame(const struct LeakBacktrace *backtrace, const struct mu_names *names,
    struct mu_symbol *chosen)
{
	size_t i, count = mu_backtrace_count(backtrace);
	struct mu_symbol symbol;
	bool found = false;

	for (i = 0; i < count; i++) {
		if (!mu_names_find(
			names, mu_backtrace_frame(backtrace, i), &symbol) ||
		    mu_symbol_function(&symbol, 0) == NULL ||
		    is_library(symbol.module))
			continue;
		if (symbol.file != NULL) {
			*chosen = symbol;
			return true;
		}
		if (!found)
			*chosen = symbol;
		found = true;
	}
	return found;
}

static void
add_kind(struct mu_text *text, const struct mu_type *type, size_t size)
{
	if (type->name != NULL)
		mu_text_add(text, "%s%s",
		    type->certain || type->source == MU_TYPE_CONTENT
			? ""
			: "probably ",
		    type->name);
	else if (size > 0)
		mu_text_add(text, "blocks of %zu bytes", size);
	else
		mu_text_add(text, "blocks of several sizes");
}

void
mu_watch_name_lost(
    char *name, const struct mu_groups_at *at, const struct mu_names *names)
{
	struct mu_text text = { name, MU_WATCH_NAME, 0 };
	struct mu_symbol symbol;
	struct mu_type type;
	const char *site;

	memset(name, 0, MU_WATCH_NAME);
	mu_group_type(names, &at->group, &type);
	add_kind(&text, &type, at->group.size);
	if (!find_frame(&at->example.backtrace, names, &symbol)) {
		site = at->group.mixed
		    ? NULL
		    : mu_names_find_site(names, &at->example);
		if (site != NULL)
			mu_text_add(&text, " (probably at %s)", site);
		return;
	}
	mu_text_add(&text, " (%s", mu_symbol_function(&symbol, 0));
	if (symbol.file != NULL)
		mu_text_add(
		    &text, " at %s:%u)", base_name(symbol.file), symbol.line);
	else
		mu_text_add(&text, " in %s)", base_name(symbol.module));
}

/* "int[1000]" is "int[]". */
static void
cut_length(char *name)
{
	size_t length = strlen(name), at;

	if (length < 3 || name[length - 1] != ']')
		return;
	for (at = length - 1; at > 0 && strchr("0123456789", name[at - 1]);)
		at--;
	if (at > 0 && name[at - 1] == '[')
		strlcpy(name + at, "]", MU_WATCH_NAME - at);
}

void
mu_watch_name_live(char *name, const struct mu_in_use *in_use)
{
	struct mu_text text = { name, MU_WATCH_NAME, 0 };
	size_t class = EXACT;

	memset(name, 0, MU_WATCH_NAME);
	if (in_use->type != NULL) {
		mu_text_add(&text, "%s%s",
		    in_use->certain || in_use->content ? "" : "probably ",
		    in_use->type);
		cut_length(name);
	} else if (in_use->size <= EXACT) {
		mu_text_add(&text, "blocks of %zu bytes", in_use->size);
	} else {
		while (class <= in_use->size / 2)
			class *= 2;
		mu_text_add(&text, "blocks of %s to %s",
		    mu_human_bytes(class).text, mu_human_bytes(class * 2).text);
	}
}
