/*
 * dlopen() and dlmopen() without RTLD_DEEPBIND. With that flag an object looks
 * for symbols in its own dependencies first and finds libc's malloc, so its
 * calls bypass the recorder: the program then frees with one allocator what
 * comes from the other.
 */
#include <dlfcn.h>
#include <link.h>

#include "lib/malloc_debug/entry/entry.h"
#include "lib/malloc_debug/entry/startup.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/gone_modules.h"
#include "lib/malloc_debug/unwind/stack_capture.h"

static unsigned long long unloaded; /* last known number of unloaded modules */

/*
 * dlclose(): cached rules are discarded before other code can replace the
 * unloaded code, and names of modules are kept. It does not depend on its
 * caller, unlike dlopen().
 */

static int
count_unloaded(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(unsigned long long *)ctx = info->dlpi_subs;
	return 1;
}

__attribute__((visibility("default"))) int
dlclose(void *handle)
{
	int (*next)(void *);
	unsigned long long now = 0;
	int result;

	*(void **)&next = dlsym(RTLD_NEXT, "dlclose");
	/* In a static program; POSIX permits dlclose() to do nothing. */
	if (next == NULL)
		return 0;
	if (memunreachable_recorded.directory != 0)
		gone_modules_note();
	result = next(handle);
	/* Most calls only drop one of several references. */
	dl_iterate_phdr(count_unloaded, &now);
	if (__atomic_exchange_n(&unloaded, now, __ATOMIC_RELAXED) != now) {
		gone_modules_update();
		stack_capture_forget();
	}
	return result;
}

/* The mode to pass on. */
static int
without_deepbind(const char *file, int mode)
{
	static int said;

	if ((mode & RTLD_DEEPBIND) == 0)
		return mode;
	if (entry_way() == RECORDING_NOT_STARTED)
		startup_now();
	if (entry_way() == RECORDING_OFF)
		return mode;
	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
		recorder_say("%s is opened without RTLD_DEEPBIND, which would"
			     " hide its blocks from the recorder",
		    file == NULL ? recorder_program() : file);
	return mode & ~RTLD_DEEPBIND;
}

/*
 * libc takes the search path (DT_RUNPATH, $ORIGIN) of the object that contains
 * the return address, so libc's function is jumped to. dlmopen() does the same
 * as dlopen() in the namespace of the caller, which is the first one: others
 * have no recorder.
 *
 * clang jumps only between functions of one type: here of three words, which
 * the ABIs of x86-64 and aarch64 pass in the registers of these arguments.
 */
typedef void *words_function(long, long, long);

/*
 * A program may have wrapped dlsym(), from where RTLD_NEXT leads back to this
 * library.
 */
static words_function *
next_dlmopen(void)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.3.4",
		"GLIBC_2.17" };
	void *symbol = NULL;
	size_t i;

	for (i = 0; symbol == NULL && i < sizeof(versions) / sizeof(*versions);
	     i++)
		symbol = dlvsym(RTLD_NEXT, "dlmopen", versions[i]);
	return (words_function *)symbol;
}

words_function dlopen_words __asm__("dlopen") ENTRY;
words_function dlmopen_words __asm__("dlmopen") ENTRY;

void *
dlopen_words(long file, long mode, __attribute__((unused)) long none)
{
	mode = without_deepbind((const char *)file, (int)mode);
	JUMP next_dlmopen()(LM_ID_BASE, file, mode);
}

void *
dlmopen_words(long space, long file, long mode)
{
	if (space == LM_ID_BASE)
		mode = without_deepbind((const char *)file, (int)mode);
	JUMP next_dlmopen()(space, file, mode);
}
