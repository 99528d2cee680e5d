/*
 * LSAN_OPTIONS. What the library has by the same name becomes an option of the
 * library, by memunreachable_default_options().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/glue/lsan/lsan.h"
#include "memunreachable/memunreachable.h"

#define SEPARATORS ":, \t\n" /* sanitizer_flag_parser.cpp */
#define TEXT 8192

__attribute__((weak, visibility("default"))) const char *__lsan_default_options(
    void);

__attribute__((weak)) const char *
__lsan_default_options(void)
{
	return "";
}

/* Call EACH with every pair; the environment comes last, and wins. */
static void
each_option(
    void (*each)(void *ctx, const char *key, const char *value), void *ctx)
{
	const char *given = secure_getenv("LSAN_OPTIONS");
	const char *own = __lsan_default_options();
	char text[TEXT], *rest = text, *word, *value;

	snprintf(text, sizeof(text), "%s:%s", own != NULL ? own : "",
	    given != NULL ? given : "");
	while ((word = strsep(&rest, SEPARATORS)) != NULL) {
		value = strchr(word, '=');
		if (value == NULL)
			continue;
		*value++ = '\0';
		each(ctx, word, value);
	}
}

static bool
is_true(const char *value)
{
	return strcmp(value, "1") == 0 || strcmp(value, "true") == 0 ||
	    strcmp(value, "yes") == 0;
}

static void
take(void *ctx, const char *key, const char *value)
{
	struct lsan_options *options = ctx;

	if (strcmp(key, "detect_leaks") == 0)
		options->detect_leaks = is_true(value);
	else if (strcmp(key, "leak_check_at_exit") == 0)
		options->leak_check_at_exit = is_true(value);
	else if (strcmp(key, "print_suppressions") == 0)
		options->print_suppressions = is_true(value);
	else if (strcmp(key, "exitcode") == 0)
		options->exitcode = atoi(value);
	else if (strcmp(key, "max_leaks") == 0)
		options->max_leaks = strtoul(value, NULL, 10);
	else if (strcmp(key, "suppressions") == 0)
		snprintf(options->suppressions, sizeof(options->suppressions),
		    "%s", value);
}

void
lsan_options_read(struct lsan_options *options)
{
	*options = (struct lsan_options) {
		.detect_leaks = true,
		.leak_check_at_exit = true,
		.print_suppressions = true,
		.exitcode = 23,
	};
	each_option(take, options);
}

static void
translate(void *ctx, const char *key, const char *value)
{
	static const char *const same[] = { "use_globals", "use_stacks",
		"use_registers", "use_tls", "use_root_regions",
		"use_unaligned" };
	char *text = ctx;
	size_t i, length = strlen(text);

	for (i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (strcmp(key, same[i]) == 0)
			snprintf(text + length, TEXT - length, "%s%s=%d",
			    length > 0 ? ":" : "", key, is_true(value));
}

__attribute__((visibility("default"))) const char *
memunreachable_default_options(void)
{
	static char text[TEXT];

	text[0] = '\0';
	each_option(translate, text);
	return text;
}
