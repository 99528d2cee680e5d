/*
 * A hook is called if it is neither NULL nor the default. The first
 * registration returns the default, as hooks finish by calling the previous
 * hook.
 */
#include "lib/malloc_debug/entry/hooks.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "lib/malloc_debug/shadow/recording.h"
#include "memunreachable/malloc_debug.h"

/* As in Android; glibc removed its variables of these names in 2.34. */
static void *default_malloc(size_t size, const void *caller);
static void *default_realloc(void *pointer, size_t size, const void *caller);
static void default_free(void *pointer, const void *caller);
static void *default_memalign(
    size_t alignment, size_t size, const void *caller);

static struct {
	memunreachable_malloc_hook malloc;
	memunreachable_realloc_hook realloc;
	memunreachable_free_hook free;
	memunreachable_memalign_hook memalign;
	bool enabled;
} hooks = {
	.malloc = default_malloc,
	.realloc = default_realloc,
	.free = default_free,
	.memalign = default_memalign,
};

/* True while this thread is in a hook: its calls bypass the hooks. */
static __thread unsigned inside;

static void *
default_malloc(size_t size, const void *caller)
{
	void *result;

	(void)caller;
	inside++;
	result = malloc(size);
	inside--;
	return result;
}

static void *
default_realloc(void *pointer, size_t size, const void *caller)
{
	void *result;

	(void)caller;
	inside++;
	result = realloc(pointer, size);
	inside--;
	return result;
}

static void
default_free(void *pointer, const void *caller)
{
	(void)caller;
	inside++;
	free(pointer);
	inside--;
}

static void *
default_memalign(size_t alignment, size_t size, const void *caller)
{
	void *result;

	(void)caller;
	inside++;
	result = memalign(alignment, size);
	inside--;
	return result;
}

static void
update_active(void)
{
	bool any = hooks.malloc != default_malloc ||
	    hooks.realloc != default_realloc || hooks.free != default_free ||
	    hooks.memalign != default_memalign;

	__atomic_store_n(&hooks_active, any && hooks.enabled, __ATOMIC_RELEASE);
	recorder_refresh();
}

void
hooks_enable(void)
{
	hooks.enabled = true;
	update_active();
}

/* Register a hook of each kind; NULL for none. */
#define REGISTER(kind)                                                      \
	memunreachable_##kind##_hook memunreachable_set_##kind##_hook(      \
	    memunreachable_##kind##_hook hook)                              \
	{                                                                   \
		memunreachable_##kind##_hook earlier = __atomic_exchange_n( \
		    &hooks.kind, hook != NULL ? hook : default_##kind,      \
		    __ATOMIC_ACQ_REL);                                      \
                                                                            \
		update_active();                                            \
		return earlier;                                             \
	}

REGISTER(malloc)
REGISTER(realloc)
REGISTER(free)
REGISTER(memalign)

#define HOOK(kind) __atomic_load_n(&hooks.kind, __ATOMIC_ACQUIRE)

bool
hooks_malloc(size_t size, const void *caller, void **result)
{
	memunreachable_malloc_hook hook = HOOK(malloc);

	if (inside != 0 || hook == default_malloc)
		return false;
	inside++;
	*result = hook(size, caller);
	inside--;
	return true;
}

bool
hooks_calloc(size_t members, size_t size, const void *caller, void **result)
{
	size_t bytes;

	if (inside != 0 || HOOK(malloc) == default_malloc)
		return false;
	*result = NULL;
	if (__builtin_mul_overflow(members, size, &bytes)) {
		errno = ENOMEM;
		return true;
	}
	if (!hooks_malloc(bytes, caller, result))
		return false;
	if (*result != NULL)
		memset(*result, 0, bytes);
	return true;
}

bool
hooks_realloc(void *pointer, size_t size, const void *caller, void **result)
{
	memunreachable_realloc_hook hook = HOOK(realloc);

	if (inside != 0 || hook == default_realloc)
		return false;
	inside++;
	*result = hook(pointer, size, caller);
	inside--;
	return true;
}

bool
hooks_memalign(size_t alignment, size_t size, const void *caller, void **result)
{
	memunreachable_memalign_hook hook = HOOK(memalign);

	if (inside != 0 || hook == default_memalign)
		return false;
	inside++;
	*result = hook(alignment, size, caller);
	inside--;
	return true;
}

bool
hooks_free(void *pointer, const void *caller)
{
	memunreachable_free_hook hook = HOOK(free);

	if (inside != 0 || hook == default_free)
		return false;
	inside++;
	hook(pointer, caller);
	inside--;
	return true;
}
