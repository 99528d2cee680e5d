/*
 * Which options the environment gives: see options.h.
 *
 * Runs in: the original, before main(). Uses no malloc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/malloc_debug/state/options.h"
#include "lib/malloc_debug/state/state.h"

static const char *
not_empty(const char *text)
{
	if (text != NULL)
		text += strspn(text, " \t\n\v\f\r");
	return text != NULL && *text != '\0' ? text : NULL;
}

/* Our own variable obeys the filter, as Android's property did. */
static const char *
wanted_text(void)
{
	const char *text, *program;

	text = not_empty(secure_getenv("LIBC_DEBUG_MALLOC_OPTIONS"));
	if (text != NULL)
		return text;
	program =
	    not_empty(secure_getenv("MEMUNREACHABLE_MALLOC_DEBUG_PROGRAM"));
	if (program != NULL &&
	    strstr(program_invocation_short_name, program) == NULL)
		return NULL;
	return not_empty(secure_getenv("MEMUNREACHABLE_MALLOC_DEBUG"));
}

bool
debug_options_environment(struct debug_options *options)
{
	const char *hooks = secure_getenv("LIBC_HOOKS_ENABLE");
	const char *text = wanted_text();

	*options = (struct debug_options) {
		.hooks = hooks != NULL && *hooks != '\0' && *hooks != '0',
	};
	if (text == NULL)
		return options->hooks;
	if (debug_options_parse(options, text))
		return true;
	recorder_say("%s: none of these options is in force: nothing is "
		     "recorded or checked",
	    program_invocation_short_name);
	return options->hooks;
}
