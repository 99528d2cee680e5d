#include "lib/malloc_debug/checks/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "lib/malloc_debug/state/kept_stderr.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/report/symbolizer.h"
#include "lib/state/options.h"
#include "memunreachable/memunreachable.h"

/* Set if the program has loaded the library. */
#pragma weak GetUnreachableMemory

static struct mu_symbolizer symbolizer;

/* Errors in options are reported by the library, if it is loaded. */
static bool
is_wanted(void)
{
	char complaints[512] = "";
	struct mu_text text = { complaints, sizeof(complaints), 0 };
	struct mu_options options = MU_OPTIONS_DEFAULT;

	mu_options_parse(
	    &options, secure_getenv("MEMUNREACHABLE_OPTIONS"), &text);
	if (text.length > 0 && GetUnreachableMemory == NULL)
		kept_stderr_write(complaints, strlen(complaints));
	return options.symbolize;
}

void
symbolize_start(void)
{
	if (is_wanted() && !mu_symbolizer_open(&symbolizer))
		recorder_say("symbolize=1: no command memunreachable beside"
			     " the library or in PATH");
}

bool
symbolize_active(void)
{
	return symbolizer.path != NULL;
}

void
symbolize_write(const char *text, size_t length)
{
	struct mu_symbolized named;

	if (mu_symbolizer_run(&symbolizer, text, length, &named)) {
		kept_stderr_write(named.text, named.length);
		mu_symbolized_release(&named);
		return;
	}
	kept_stderr_write(text, length);
	if (named.why != NULL)
		recorder_say("symbolize=1: %s", named.why);
}
