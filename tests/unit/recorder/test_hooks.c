/*
 * Malloc hooks. The test takes the place of the entry points: it calls the hook
 * or, without one, libc's malloc.
 */
#include <malloc.h>

#include "lib/malloc_debug/entry/hooks.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "memunreachable/malloc_debug.h"
#include "tests/support/suite.h"

#define CALLER ((const void *)0x1234)

static size_t calls, last_size, last_alignment;
static const void *last_caller;
static void *last_pointer;
static memunreachable_malloc_hook next_malloc;
static memunreachable_realloc_hook next_realloc;
static memunreachable_free_hook next_free;
static memunreachable_memalign_hook next_memalign;

static void *
count_malloc(size_t size, const void *caller)
{
	void *again;

	calls++;
	last_size = size;
	last_caller = caller;
	/* What a hook calls passes by all hooks. */
	ck_assert(!hooks_malloc(10, CALLER, &again));
	ck_assert(!hooks_calloc(1, 10, CALLER, &again));
	ck_assert(!hooks_realloc(NULL, 10, CALLER, &again));
	ck_assert(!hooks_memalign(16, 10, CALLER, &again));
	ck_assert(!hooks_free(NULL, CALLER));
	return next_malloc(size, caller);
}

static void *
count_realloc(void *pointer, size_t size, const void *caller)
{
	calls++;
	last_size = size;
	last_pointer = pointer;
	last_caller = caller;
	return next_realloc(pointer, size, caller);
}

static void
count_free(void *pointer, const void *caller)
{
	calls++;
	last_pointer = pointer;
	last_caller = caller;
	next_free(pointer, caller);
}

static void *
count_memalign(size_t alignment, size_t size, const void *caller)
{
	calls++;
	last_size = size;
	last_alignment = alignment;
	last_caller = caller;
	return next_memalign(alignment, size, caller);
}

static void
begin(void)
{
	hooks_enable();
	calls = last_size = last_alignment = 0;
	last_caller = last_pointer = NULL;
}

static void
end(void)
{
	memunreachable_set_malloc_hook(NULL);
	memunreachable_set_realloc_hook(NULL);
	memunreachable_set_free_hook(NULL);
	memunreachable_set_memalign_hook(NULL);
}

TEST(only_where_enabled)
{
	/* Not enabled yet: this process has called nothing before. */
	next_malloc = memunreachable_set_malloc_hook(count_malloc);
	ck_assert_ptr_nonnull(next_malloc);
	ck_assert(!hooks_active);
	hooks_enable();
	ck_assert(hooks_active);
	memunreachable_set_malloc_hook(NULL);
	ck_assert(!hooks_active);
}

CASE(hooks, begin, end);

TEST(case_malloc)
{
	void *result = NULL;

	next_malloc = memunreachable_set_malloc_hook(count_malloc);
	ck_assert(hooks_active);
	ck_assert(hooks_malloc(100, CALLER, &result));
	ck_assert_ptr_nonnull(result);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(last_size, 100);
	ck_assert_ptr_eq(last_caller, CALLER);
	ck_assert_uint_ge(malloc_usable_size(result), 100);
	free(result);
	ck_assert(!hooks_free(NULL, CALLER));
	ck_assert(!hooks_realloc(NULL, 1, CALLER, &result));
	ck_assert(!hooks_memalign(16, 1, CALLER, &result));
}

TEST(realloc_hook)
{
	void *block = malloc(4), *result = NULL;

	memcpy(block, "abc", 4);
	next_realloc = memunreachable_set_realloc_hook(count_realloc);
	ck_assert(hooks_realloc(block, 5000, CALLER, &result));
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(last_size, 5000);
	ck_assert_ptr_eq(last_pointer, block);
	ck_assert_ptr_eq(last_caller, CALLER);
	ck_assert_str_eq(result, "abc");
	free(result);
}

TEST(case_free)
{
	void *block = malloc(4);

	next_free = memunreachable_set_free_hook(count_free);
	ck_assert(hooks_free(block, CALLER));
	ck_assert_uint_eq(calls, 1);
	ck_assert_ptr_eq(last_pointer, block);
	ck_assert_ptr_eq(last_caller, CALLER);
}

TEST(memalign_hook)
{
	void *result = NULL;

	next_memalign = memunreachable_set_memalign_hook(count_memalign);
	ck_assert(hooks_memalign(4096, 100, CALLER, &result));
	ck_assert_uint_eq((uintptr_t)result % 4096, 0);
	ck_assert_uint_eq(last_alignment, 4096);
	ck_assert_uint_eq(last_size, 100);
	ck_assert_ptr_eq(last_caller, CALLER);
	free(result);
}

TEST(default_forwards)
{
	memunreachable_malloc_hook first = memunreachable_set_malloc_hook(NULL);
	void *block, *moved;

	/* A hook is called if it is neither NULL nor the default. */
	ck_assert_ptr_nonnull(first);
	ck_assert(!hooks_active);
	ck_assert_ptr_eq(memunreachable_set_malloc_hook(first), first);
	ck_assert(!hooks_active);
	ck_assert_ptr_eq(memunreachable_set_malloc_hook(count_malloc), first);
	ck_assert(hooks_active);
	ck_assert_ptr_eq(memunreachable_set_malloc_hook(NULL), count_malloc);
	ck_assert(!hooks_active);
	/* The default hooks can be called from anywhere. */
	block = first(10, CALLER);
	moved = memunreachable_set_realloc_hook(NULL)(block, 9999, CALLER);
	memunreachable_set_free_hook(NULL)(moved, CALLER);
	block = memunreachable_set_memalign_hook(NULL)(64, 1, CALLER);
	ck_assert_uint_eq((uintptr_t)block % 64, 0);
	free(block);
}

static void *
dirty_malloc(size_t size, const void *caller)
{
	void *block = next_malloc(size, caller);

	calls++;
	last_size = size;
	if (block != NULL)
		memset(block, 0xff, size);
	return block;
}

TEST(calloc_hook)
{
	static const char zeros[600];
	void *result = NULL;

	next_malloc = memunreachable_set_malloc_hook(dirty_malloc);
	ck_assert(hooks_calloc(20, 30, CALLER, &result));
	ck_assert_uint_eq(last_size, 600);
	ck_assert_int_eq(memcmp(result, zeros, 600), 0);
	free(result);
	/* DEF of the original: errno was left alone. */
	errno = 0;
	result = &calls;
	ck_assert(hooks_calloc(SIZE_MAX / 2, 3, CALLER, &result));
	ck_assert_ptr_null(result);
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_uint_eq(calls, 1);
}

static void *
failing_malloc(size_t size, const void *caller)
{
	(void)size;
	(void)caller;
	errno = ENOMEM;
	return NULL;
}

TEST(failure)
{
	void *result = &calls;

	memunreachable_set_malloc_hook(failing_malloc);
	ck_assert(hooks_malloc(1, CALLER, &result));
	ck_assert_ptr_null(result);
	result = &calls;
	ck_assert(hooks_calloc(1, 1, CALLER, &result));
	ck_assert_ptr_null(result);
}

static void *
in_another_thread(void *arg)
{
	void *result;

	(void)arg;
	return hooks_malloc(1, CALLER, &result) ? result : NULL;
}

/* One thread in a hook keeps no other from its own. */
static void *
waiting_malloc(size_t size, const void *caller)
{
	pthread_t thread;
	void *result;

	if (calls++ > 0)
		return next_malloc(size, caller);
	pthread_create(&thread, NULL, in_another_thread, NULL);
	pthread_join(thread, &result);
	return result;
}

TEST(per_thread)
{
	void *result = NULL;

	next_malloc = memunreachable_set_malloc_hook(waiting_malloc);
	ck_assert(hooks_malloc(1, CALLER, &result));
	ck_assert_uint_eq(calls, 2);
	ck_assert_ptr_nonnull(result);
	free(result);
}
