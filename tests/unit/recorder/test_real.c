/* The allocator underneath and the arena before it. */
#include <dlfcn.h>
#include <malloc.h>

#include "lib/malloc_debug/state/bootstrap.h"
#include "lib/malloc_debug/state/real.h"
#include "tests/support/suite.h"

static const void *
object_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) == 0 ? NULL : info.dli_fbase;
}

/* Every link of the chain leads to a family that works. */
TEST_LOOP(test_lt15_each_place, 0, REAL_PLACES)
{
	struct real_functions found;
	char *block;

	ck_assert(real_find_at(&found, (enum real_place)_i));
	block = found.malloc(100);
	ck_assert_ptr_nonnull(block);
	block = found.realloc(block, 1000);
	ck_assert_ptr_nonnull(block);
	found.free(block);
	block = found.calloc(10, 10);
	ck_assert_int_eq(block[99], 0);
	found.free(block);
	block = found.memalign(256, 10);
	ck_assert_uint_eq((uintptr_t)block % 256, 0);
	ck_assert(_i == REAL_PRIVATE || found.malloc_usable_size(block) >= 10);
	found.free(block);
	ck_assert_uint_ge(found.least, 1);
}

TEST(test_lt15_nothing_left)
{
	struct real_functions found;

	ck_assert(!real_find_at(&found, REAL_PLACES));
}

TEST(test_lt17_one_object)
{
	struct real_functions found;
	const void *base;

	ck_assert(real_find_at(&found, REAL_NEXT));
	base = object_of((const void *)(uintptr_t)found.malloc);
	ck_assert_ptr_nonnull(base);
	ck_assert_ptr_ne(base, object_of(&real)); /* never ourselves */
	ck_assert_ptr_eq(base, object_of((const void *)(uintptr_t)found.free));
	ck_assert_ptr_eq(
	    base, object_of((const void *)(uintptr_t)found.calloc));
	ck_assert_ptr_eq(
	    base, object_of((const void *)(uintptr_t)found.realloc));
	ck_assert_ptr_eq(
	    base, object_of((const void *)(uintptr_t)found.memalign));
	ck_assert_ptr_eq(
	    base, object_of((const void *)(uintptr_t)found.malloc_usable_size));
}

TEST(test_lt16_bootstrap)
{
	unsigned char *first = bootstrap_alloc(0, 10), *second, *wide;
	size_t i;

	ck_assert_ptr_nonnull(first);
	for (i = 0; i < 10; i++)
		ck_assert_uint_eq(first[i], 0);
	memset(first, 7, 10);
	second = bootstrap_alloc(0, 0);
	wide = bootstrap_alloc(1024, 100);
	ck_assert_ptr_ne(first, second);
	ck_assert_uint_eq((uintptr_t)wide % 1024, 0);
	ck_assert_uint_eq((uintptr_t)first % 16, 0);
	ck_assert_uint_eq(bootstrap_size(first), 10);
	ck_assert_uint_eq(bootstrap_size(second), 0);
	ck_assert_uint_eq(bootstrap_size(wide), 100);
	ck_assert(bootstrap_owns(first) && bootstrap_owns(wide + 99));
	ck_assert(!bootstrap_owns(NULL) && !bootstrap_owns(&first));
	ck_assert(!bootstrap_owns(bootstrap_memory + BOOTSTRAP_BYTES));
}

TEST(test_lt16_bootstrap_is_full)
{
	unsigned char *block, *last = NULL;
	size_t count = 0;

	errno = 0;
	ck_assert_ptr_null(bootstrap_alloc(0, BOOTSTRAP_BYTES));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(bootstrap_alloc(0, SIZE_MAX));
	ck_assert_ptr_null(bootstrap_alloc((size_t)1 << 62, 1));
	while ((block = bootstrap_alloc(0, 100)) != NULL) {
		ck_assert(last == NULL || block >= last + 100 + 12);
		ck_assert(block + 100 <= bootstrap_memory + BOOTSTRAP_BYTES);
		memset(block, 0xff, 100);
		last = block;
		count++;
	}
	ck_assert_uint_ge(count, 300);
}
