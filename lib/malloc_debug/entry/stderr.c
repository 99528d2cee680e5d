/*
 * Some programs close stderr as their last step before they exit: gnulib's
 * close_stdout(), an exit handler in all of coreutils. Lists written after all
 * handlers would be lost, so a second descriptor is kept.
 *
 * It is not kept from the start, as programs count their descriptors, nor if a
 * program closes stderr and continues to run, as a reader may wait for that end
 * of a pipe.
 */
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stdio.h>
#include <string.h>

#include "lib/malloc_debug/entry/entry.h"
#include "lib/malloc_debug/state/kept_stderr.h"

ENTRY int fclose(FILE *stream);

#define FRAMES 32

/* True if exit() is among the callers. */
static bool
is_exiting(struct stack_start start)
{
	uintptr_t frames[FRAMES];
	size_t count = stack_capture(start, false, frames, FRAMES), i;
	Dl_info info;

	for (i = 0; i < count; i++) {
		if (dladdr((const void *)frames[i], &info) != 0 &&
		    info.dli_sname != NULL &&
		    strcmp(info.dli_sname, "exit") == 0)
			return true;
	}
	return false;
}

static void *
find_next(void)
{
	void *symbol = dlsym(RTLD_NEXT, "fclose"), *handle;

	if (symbol != NULL)
		return symbol;
	handle = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
	return handle == NULL ? NULL : dlsym(handle, "fclose");
}

ENTRY int
fclose(FILE *stream)
{
	static int (*next)(FILE *);
	void *symbol;

	if (next == NULL) {
		recorder_enter();
		symbol = find_next();
		recorder_leave();
		memcpy(&next, &symbol, sizeof(symbol));
	}
	if (stream == stderr && recording_on &&
	    (recorder_options.leak_track || recorder_options.free_track != 0)) {
		recorder_enter();
		if (is_exiting(STACK_START()))
			kept_stderr_keep();
		recorder_leave();
	}
	return next == NULL ? EOF : next(stream);
}
