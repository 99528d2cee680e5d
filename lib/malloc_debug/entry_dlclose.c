/*
 * dlclose(), so that rules of code that has gone are forgotten before other
 * code comes to its place, and that the names of modules are kept. It depends
 * on nothing of its caller, as dlopen() does.
 */
#include <dlfcn.h>
#include <link.h>

#include "lib/malloc_debug/gone_modules.h"
#include "lib/malloc_debug/recorder.h"
#include "lib/malloc_debug/stack_capture.h"

static unsigned long long unloaded; /* modules, as far as is known */

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
	/* In a static program: POSIX lets it stay. */
	if (next == NULL)
		return 0;
	if (memunreachable_recorded.directory != 0)
		gone_modules_note();
	result = next(handle);
	/* Most calls give back one reference of several. */
	dl_iterate_phdr(count_unloaded, &now);
	if (__atomic_exchange_n(&unloaded, now, __ATOMIC_RELAXED) != now) {
		gone_modules_update();
		stack_capture_forget();
	}
	return result;
}
