/*
 * Code written for Android's libmemunreachable compiles unchanged: two
 * allocations in a function, one of them freed, and a call that logs the
 * other.
 *
 *	c++ seed_article.cpp $(pkg-config --cflags --libs memunreachable)
 */
#include <cstdlib>

#include <memunreachable/memunreachable.h>

using namespace android;

static void __attribute__((noinline)) leak_some()
{
	int *freed = static_cast<int *>(malloc(sizeof(int) * 10));
	int *lost = static_cast<int *>(malloc(sizeof(int) * 5));

	// Otherwise the compiler may remove the allocations.
	__asm__ __volatile__("" : "+r"(freed), "+r"(lost));
	free(freed);
}

int
main()
{
	leak_some();
	return LogUnreachableMemory(true, 100) ? 0 : 1;
}
