/* Parse options from text, and collect the warnings. */
#ifndef TESTS_SUPPORT_PASS_PARSED_OPTIONS_H
#define TESTS_SUPPORT_PASS_PARSED_OPTIONS_H

#include <check.h>
#include <string.h>

#include "lib/state/options.h"

extern char parsed_buffer[16384]; /* the warnings */
extern struct mu_text parsed_warnings;
extern struct mu_options parsed_options;

/* Parse over the defaults; the result is the warnings. */
const char *parse(const char *text);

size_t lines(const char *text);
void assert_defaults(void);

#endif
