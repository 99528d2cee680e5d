/*
 * lib/state/options.c on any text: no fault, every warning is one printable
 * line, and options stay within their ranges.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/state/options.h"

#define TEXT_MAX 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(int holds)
{
	if (!holds)
		abort();
}

static void
check_warnings(const struct mu_text *warnings)
{
	size_t i, length = warnings->length;

	require(length == 0 || warnings->buffer[length - 1] == '\n');
	for (i = 0; i < length; i++) {
		char c = warnings->buffer[i];

		require(c == '\n' || (c >= 0x20 && c <= 0x7e));
	}
}

static void
check_options(const struct mu_options *options)
{
	require(options->timeout > 0 && options->timeout <= 1000000000);
	require(options->min_interval <= 1000000000);
	require(options->verbosity <= 2);
	require(memchr(options->log_path, '\0', MU_PATH_MAX) != NULL);
	require(options->signal >= 0 && options->signal <= 64);
	require(options->signal != 9 && options->signal != 19 &&
	    options->signal != 32 && options->signal != 33);
	require(options->exitcode >= 0 && options->exitcode <= 255);
	require((~options->pointer_mask & MU_OPTION_MASK_MIN) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* An entry of one character warns in about 100. */
	static char buffer[TEXT_MAX * 128];
	struct mu_text warnings = { buffer, sizeof(buffer), 0 };
	struct mu_options options;
	char *text;

	if (size > TEXT_MAX)
		return 0;
	text = malloc(size + 1);
	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	mu_options_default(&options);
	mu_options_parse(&options, text, &warnings);
	require(warnings.length < sizeof(buffer));
	check_warnings(&warnings);
	check_options(&options);
	mu_options_signal(text);
	free(text);
	return 0;
}
