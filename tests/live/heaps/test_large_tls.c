/*
 * A program with more than 64 KiB of thread-local variables: libc's come after
 * them, and its tcache is found nevertheless.
 */
#include "memunreachable/memunreachable.h"
#include "tests/support/suite.h"

static __thread volatile char large[100000];

TEST(tcache_behind_large_variables)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t size;

	large[1] = 1;
	for (size = 1; size < 1000; size += 40)
		free(malloc(size));
	ck_assert_msg(GetUnreachableMemory(&info, 10), "%s", info.reason);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	FreeUnreachableMemoryInfo(&info);
}
