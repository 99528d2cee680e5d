/*
 * Sanitizers define a symbol that their instrumented code calls at its start;
 * Valgrind preloads its own libraries.
 */
#include "lib/malloc_debug/entry/stand_aside.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

/* Weak: bound when the program is loaded, if any object has them. */
void __asan_init(void) __attribute__((weak));
void __hwasan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));
void __lsan_init(void) __attribute__((weak));

static int
is_valgrind(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	return object->dlpi_name != NULL &&
	    strstr(object->dlpi_name, "/vgpreload_") != NULL;
}

const char *
stand_aside_for(void)
{
	if (__asan_init != NULL)
		return "AddressSanitizer";
	if (__hwasan_init != NULL)
		return "HWAddressSanitizer";
	if (__msan_init != NULL)
		return "MemorySanitizer";
	if (__tsan_init != NULL)
		return "ThreadSanitizer";
	if (__lsan_init != NULL)
		return "LeakSanitizer";
	return dl_iterate_phdr(is_valgrind, NULL) != 0 ? "Valgrind" : NULL;
}
