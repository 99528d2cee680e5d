#include "tests/support/pass/parsed_options.h"

char parsed_buffer[16384]; /* the warnings */
struct mu_text parsed_warnings;
struct mu_options parsed_options;

const char *
parse(const char *text)
{
	memset(parsed_buffer, 0, sizeof(parsed_buffer));
	parsed_warnings =
	    (struct mu_text) { parsed_buffer, sizeof(parsed_buffer), 0 };
	mu_options_default(&parsed_options);
	mu_options_parse(&parsed_options, text, &parsed_warnings);
	ck_assert_uint_lt(parsed_warnings.length, sizeof(parsed_buffer));
	return parsed_buffer;
}

size_t
lines(const char *text)
{
	size_t count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

void
assert_defaults(void)
{
	struct mu_options fallback;

	mu_options_default(&fallback);
	ck_assert_mem_eq(&parsed_options, &fallback, sizeof(parsed_options));
}
