/*
 * dlclose(): cached rules are discarded before other code can replace the
 * unloaded code, and names of modules are kept. It does not depend on its
 * caller, unlike dlopen().
 */
#include <dlfcn.h>
#include <link.h>

#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/gone_modules.h"
#include "lib/malloc_debug/unwind/stack_capture.h"

static unsigned long long unloaded; /* last known number of unloaded modules */

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
