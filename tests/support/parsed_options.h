/*
 * Options from text, and the warnings about it.
 */
#ifndef TESTS_SUPPORT_PARSED_OPTIONS_H
#define TESTS_SUPPORT_PARSED_OPTIONS_H

#include <check.h>
#include <string.h>

#include "lib/state/options.h"

static char buffer[16384]; /* the warnings */
static struct mu_text warnings;
static struct mu_options options;

/* Parse over the defaults; the result is the warnings. */
static inline const char *
parse(const char *text)
{
	memset(buffer, 0, sizeof(buffer));
	warnings = (struct mu_text) { buffer, sizeof(buffer), 0 };
	mu_options_default(&options);
	mu_options_parse(&options, text, &warnings);
	ck_assert_uint_lt(warnings.length, sizeof(buffer));
	return buffer;
}

static inline size_t
lines(const char *text)
{
	size_t count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

static inline void
assert_defaults(void)
{
	struct mu_options fallback;

	mu_options_default(&fallback);
	ck_assert_mem_eq(&options, &fallback, sizeof(options));
}

#endif
