#include "lib/state/variables.h"

#include <stdbool.h>
#include <string.h>

/* The recorder's begin so, too. */
#define RECORDERS "MEMUNREACHABLE_MALLOC_"

static const char *const known[] = {
	"LEAKTRACER_AUTO_REPORTFILENAME",
	"LEAKTRACER_EXIT_CODE_ON_LEAKS",
	"LEAKTRACER_NOBANNER",
	"LEAKTRACER_ONEXIT_REPORT",
	"LEAKTRACER_ONEXIT_REPORTFILENAME",
	"LEAKTRACER_ONLY_UNREACHABLE",
	"LEAKTRACER_ONSIG_REPORT",
	"LEAKTRACER_ONSIG_REPORTFILENAME",
	"LEAKTRACER_ONSIG_STARTALLTHREAD",
	"LEAKTRACER_ONSIG_STOPALLTHREAD",
	"LEAKTRACER_ONSTART_STARTALLTHREAD",
	"LEAKTRACER_STACK_DEPTH",
	"LIBC_DEBUG_MALLOC_OPTIONS",
	"LIBC_HOOKS_ENABLE",
	"MEMUNREACHABLE_LIBRARY", /* of pytest's plug-in */
	"MEMUNREACHABLE_MALLOC_DEBUG",
	"MEMUNREACHABLE_MALLOC_DEBUG_PROGRAM",
	"MEMUNREACHABLE_MEMCHECK_OPTIONS",
	"MEMUNREACHABLE_OPTIONS",
};

static bool
begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool
is_known(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i]) == length && begins(name, known[i]))
			return true;
	return false;
}

static bool
is_unknown(const char *variable, size_t length, enum mu_variables_of of)
{
	bool is_recorders = begins(variable, RECORDERS) ||
	    begins(variable, "LEAKTRACER_") ||
	    begins(variable, "LIBC_DEBUG_MALLOC_") ||
	    begins(variable, "LIBC_HOOKS_");

	if (!is_recorders && !begins(variable, "MEMUNREACHABLE_"))
		return false;
	return is_recorders == (of == MU_VARIABLES_RECORDER) &&
	    !is_known(variable, length);
}

bool
mu_variables_unknown(char *const *environment, enum mu_variables_of of,
    size_t count, char words[MU_VARIABLES_WORDS])
{
	char name[64];
	size_t i, length;

	for (; environment != NULL && *environment != NULL; environment++) {
		length = strcspn(*environment, "=");
		if (!is_unknown(*environment, length, of) || count-- > 0)
			continue;
		if (length >= sizeof(name))
			length = sizeof(name) - 1;
		for (i = 0; i < length; i++)
			name[i] =
			    (*environment)[i] < 0x20 || (*environment)[i] > 0x7e
			    ? '?'
			    : (*environment)[i];
		name[length] = '\0';
		mu_text_format(words, MU_VARIABLES_WORDS,
		    "%s is not used: there is no such variable", name);
		return true;
	}
	return false;
}

void
mu_variables_warn(char *const *environment, struct mu_text *warnings)
{
	char words[MU_VARIABLES_WORDS];
	size_t i;

	for (i = 0;
	     mu_variables_unknown(environment, MU_VARIABLES_LIBRARY, i, words);
	     i++)
		mu_text_add(warnings, "%s\n", words);
}
