/*
 * Android asks by mallopt(M_LOG_STATS); other allocators have their own
 * functions.
 */
#include "lib/malloc_debug/dumps/allocator_stats.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/malloc_debug/state/real.h"
#include "lib/malloc_debug/state/state.h"

#define TCMALLOC_TEXT 65536

/* Look up a function of the program by name; false if there is none. */
static bool
find(const char *name, void *function)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static bool
log_tcmalloc(void)
{
	void (*get)(char *buffer, int size);
	char *text;

	if (!find("MallocExtension_GetStats", &get))
		return false;
	text = malloc(TCMALLOC_TEXT);
	if (text == NULL)
		return false;
	get(text, TCMALLOC_TEXT);
	fputs(text, stderr);
	free(text);
	return true;
}

/* jemalloc(3), mimalloc.h, gperftools' malloc_extension_c.h. */
static bool
log_foreign(void)
{
	void (*jemalloc)(void (*)(void *, const char *), void *, const char *);
	void (*mimalloc)(void *);

	if (find("malloc_stats_print", &jemalloc))
		jemalloc(NULL, NULL, NULL);
	else if (find("mi_stats_print", &mimalloc))
		mimalloc(NULL);
	else
		return log_tcmalloc();
	return true;
}

void
allocator_stats_log(void)
{
	recorder_enter();
	recorder_say("Logging allocator stats...");
	if (real.glibc || !log_foreign())
		malloc_stats();
	recorder_leave();
}

void
stats_at_exit(void)
{
	if (recorder_options.stats_on_exit)
		allocator_stats_log();
}
