/*
 * Calls the next operator new of the same name. It calls malloc(), which is the
 * recorder's: the block is recorded as one of malloc, and then changed to one
 * of new.
 */
#include "lib/malloc_debug/entry/new_failed.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/state.h"

union new_function {
	void *symbol;
	void *(*plain)(size_t);
	void *(*nothrow)(size_t, const void *);
	void *(*aligned)(size_t, size_t);
	void *(*aligned_nothrow)(size_t, size_t, const void *);
};

/* Indexed by enum new_form; size_t is mangled `m` on 64 bits. */
static const char *const names[NEW_FORMS] = {
	"_Znwm",
	"_Znam",
	"_ZnwmRKSt9nothrow_t",
	"_ZnamRKSt9nothrow_t",
	"_ZnwmSt11align_val_t",
	"_ZnamSt11align_val_t",
	"_ZnwmSt11align_val_tRKSt9nothrow_t",
	"_ZnamSt11align_val_tRKSt9nothrow_t",
};

/*
 * RTLD_NEXT does not see the library of modules that were loaded locally; and
 * an allocator that comes next has forms that call no others.
 */
static void *
find(const char *name)
{
	static const char *const libraries[] = { "libstdc++.so.6",
		"libc++abi.so.1", "libc++.so.1" };
	void *symbol = NULL, *handle;
	size_t i;

	for (i = 0; symbol == NULL && i < 3; i++) {
		handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (handle == NULL)
			continue;
		symbol = dlsym(handle, name);
		dlclose(handle);
	}
	return symbol != NULL ? symbol : dlsym(RTLD_NEXT, name);
}

static union new_function
function_of(unsigned form)
{
	static void *found[NEW_FORMS];
	union new_function function;

	function.symbol = __atomic_load_n(&found[form], __ATOMIC_ACQUIRE);
	if (function.symbol == NULL) {
		recorder_enter();
		function.symbol = find(names[form]);
		recorder_leave();
		__atomic_store_n(
		    &found[form], function.symbol, __ATOMIC_RELEASE);
	}
	return function;
}

static void *
call_next(unsigned form, size_t size, size_t alignment, const void *nothrow)
{
	union new_function function = function_of(form);

	if (function.symbol == NULL) {
		if ((form & NEW_NOTHROW) != 0)
			return NULL;
		recorder_say("operator new: out of memory, and there is no "
			     "C++ library to say so");
		abort();
	}
	switch (form & (NEW_NOTHROW | NEW_ALIGNED)) {
	case NEW_NOTHROW:
		return function.nothrow(size, nothrow);
	case NEW_ALIGNED:
		return function.aligned(size, alignment);
	case NEW_NOTHROW | NEW_ALIGNED:
		return function.aligned_nothrow(size, alignment, nothrow);
	default:
		return function.plain(size);
	}
}

bool new_replaced;

void
new_replaced_find(void)
{
	static const char *const basic[] = { "_Znwm", "_ZdlPv", "_Znam",
		"_ZdaPv", "_ZnwmSt11align_val_t", "_ZdlPvSt11align_val_t" };
	Dl_info own, info;
	size_t i;

	if (dladdr(&new_replaced, &own) == 0)
		return;
	for (i = 0; i < sizeof(basic) / sizeof(basic[0]); i++) {
		if (dladdr(dlsym(RTLD_DEFAULT, basic[i]), &info) != 0 &&
		    info.dli_fbase != own.dli_fbase)
			new_replaced = true;
	}
}

void *
new_by_library(
    unsigned form, size_t size, size_t alignment, const void *nothrow)
{
	if (function_of(form).symbol == NULL)
		return NULL;
	return call_next(form, size, alignment, nothrow);
}

void *
new_failed(const struct call *call, unsigned form, size_t size,
    size_t alignment, const void *nothrow)
{
	void *block = call_next(form, size, alignment, nothrow);
	uint32_t word;

	if (block == NULL || live_directory == NULL)
		return block;
	word = live_word(block);
	if (word == 0 || mu_shadow_stack(word) == RECORDER_BARE)
		return block;
	word = mu_shadow_word(mu_shadow_stack(word), call->kind);
	live_change(block, live_word(block), word);
	return block;
}
