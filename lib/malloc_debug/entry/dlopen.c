/*
 * dlopen() without RTLD_DEEPBIND. With that flag an object looks for symbols in
 * its own dependencies first and finds libc's malloc, so its calls bypass the
 * recorder: the program then frees with one allocator what comes from the
 * other.
 */
#include <dlfcn.h>

#include "lib/malloc_debug/entry/entry.h"
#include "lib/malloc_debug/entry/startup.h"

/* The mode to pass on. */
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

/*
 * libc takes the search path (DT_RUNPATH, $ORIGIN) of the object that contains
 * the return address, so libc's function is jumped to. dlmopen() does the same
 * as dlopen(), and can be called without a dlsym() that a program may have
 * wrapped: the caller of this function is in the first namespace, since other
 * namespaces have no recorder.
 *
 * clang jumps only between functions of one type: here of three words, which
 * the ABIs of x86-64 and aarch64 pass in the registers of these arguments.
 */
typedef void *words_function(long, long, long);

words_function dlopen_words __asm__("dlopen") ENTRY;

void *
dlopen_words(long file, long mode, __attribute__((unused)) long none)
{
	words_function *next = (words_function *)(void (*)(void))dlmopen;

	mode = without_deepbind((const char *)file, (int)mode);
	JUMP next(LM_ID_BASE, file, mode);
}
