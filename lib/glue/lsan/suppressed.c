#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/glue/lsan/lsan.h"
#include "lib/since/pattern.h"
#include "mu/array.h"

__attribute__((weak, visibility("default"))) const char *
__lsan_default_suppressions(void);

__attribute__((weak)) const char *
__lsan_default_suppressions(void)
{
	return "";
}

struct pattern {
	char *text;
	size_t bytes, blocks;
};

struct lsan_suppressed {
	struct pattern *items;
	size_t count, max;
};

/* A line "leak:PATTERN"; others say nothing. */
static void
add(struct lsan_suppressed *suppressed, const char *line)
{
	struct pattern *pattern;

	line += strspn(line, " \t");
	if (strncmp(line, "leak:", 5) != 0 || line[5] == '\0')
		return;
	if (!mu_array_room(suppressed->items, suppressed->count,
		suppressed->max, 16, SIZE_MAX))
		return;
	pattern = &suppressed->items[suppressed->count];
	*pattern = (struct pattern) { .text = strdup(line + 5) };
	suppressed->count += pattern->text != NULL;
}

static void
add_file(struct lsan_suppressed *suppressed, const char *name)
{
	FILE *file = name[0] == '\0' ? NULL : fopen(name, "re");
	char *line = NULL;
	size_t room = 0;

	if (name[0] != '\0' && file == NULL)
		fprintf(stderr,
		    "LeakSanitizer: failed to read suppressions"
		    " file '%s'\n",
		    name);
	while (file != NULL && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		add(suppressed, line);
	}
	free(line);
	if (file != NULL)
		fclose(file);
}

struct lsan_suppressed *
lsan_suppressed_read(const char *file)
{
	struct lsan_suppressed *suppressed = calloc(1, sizeof(*suppressed));
	const char *own = __lsan_default_suppressions();
	char *text = strdup(own != NULL ? own : ""), *rest = text, *line;

	while (suppressed != NULL && text != NULL &&
	    (line = strsep(&rest, "\n")) != NULL)
		add(suppressed, line);
	free(text);
	if (suppressed != NULL)
		add_file(suppressed, file);
	return suppressed;
}

bool
lsan_suppressed_has(struct lsan_suppressed *suppressed,
    const char *const *functions, const char *const *modules, size_t count,
    size_t bytes, size_t blocks)
{
	struct pattern *item;
	size_t i, j;

	for (i = 0; suppressed != NULL && i < suppressed->count; i++) {
		item = &suppressed->items[i];
		for (j = 0; j < count; j++)
			if (mu_suppression_matches(item->text, functions[j]) ||
			    mu_suppression_matches(item->text, modules[j])) {
				item->bytes += bytes;
				item->blocks += blocks;
				return true;
			}
	}
	return false;
}

void
lsan_suppressed_print(const struct lsan_suppressed *suppressed)
{
	static const char rule[] =
	    "-----------------------------------------------------\n";
	bool any = false;
	size_t i;

	for (i = 0; suppressed != NULL && i < suppressed->count; i++) {
		const struct pattern *item = &suppressed->items[i];

		if (item->blocks == 0)
			continue;
		if (!any)
			fprintf(stderr,
			    "%sSuppressions used:\n"
			    "  count      bytes template\n",
			    rule);
		any = true;
		fprintf(stderr, "%7zu %10zu %s\n", item->blocks, item->bytes,
		    item->text);
	}
	if (any)
		fprintf(stderr, "%s\n", rule);
}

void
lsan_suppressed_free(struct lsan_suppressed *suppressed)
{
	size_t i;

	if (suppressed == NULL)
		return;
	for (i = 0; i < suppressed->count; i++)
		free(suppressed->items[i].text);
	free(suppressed->items);
	free(suppressed);
}
