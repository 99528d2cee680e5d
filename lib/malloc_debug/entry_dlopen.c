/*
 * dlopen() and dlmopen() without RTLD_DEEPBIND.
 *
 * With that flag an object looks for symbols in its own dependencies first: it
 * finds libc's malloc, and what it frees or allocates passes the recorder by.
 * The program then frees with one what comes from the other.
 *
 * libc takes the search path (DT_RUNPATH, $ORIGIN) and the namespace of the
 * object that dlopen()'s return address lies in. So it is jumped to.
 */
#include <dlfcn.h>

#include "lib/malloc_debug/entry.h"
#include "lib/malloc_debug/startup.h"

/* The mode to go on with. */
static int
without_deepbind(const char *file, int mode)
{
	static int said;

	if ((mode & RTLD_DEEPBIND) == 0)
		return mode;
	if (entry_way() == RECORDING_UNBORN)
		startup_now();
	if (entry_way() == RECORDING_ASLEEP)
		return mode;
	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
		recorder_say("%s is opened without RTLD_DEEPBIND, which would"
			     " hide its blocks from the recorder",
		    file == NULL ? recorder_program() : file);
	return mode & ~RTLD_DEEPBIND;
}

ENTRY void *
dlopen(const char *file, int mode)
{
	void *(*next)(const char *, int);

	mode = without_deepbind(file, mode);
	*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	if (next == NULL)
		return NULL;
	JUMP next(file, mode);
}

/* Another namespace has a malloc of its own, and no recorder. */
ENTRY void *
dlmopen(Lmid_t space, const char *file, int mode)
{
	void *(*next)(Lmid_t, const char *, int);

	if (space == LM_ID_BASE)
		mode = without_deepbind(file, mode);
	*(void **)&next = dlsym(RTLD_NEXT, "dlmopen");
	if (next == NULL)
		return NULL;
	JUMP next(space, file, mode);
}
