/*
 * Loses blocks inside and outside of scopes, and prints what of them is found:
 * "blocks bytes". All bytes of the blocks that count are usable.
 */
#include <memunreachable/memunreachable.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <unistd.h>

static void *volatile kept[64];
static size_t num_kept;

/* Between blocks that stay, so that no free chunk refers to it. */
static __attribute__((noinline)) void
lose(void *block)
{
	kept[num_kept++] = malloc(24);
	memset(block, 'l', 24);
}

static __attribute__((noinline)) void
lose_pair(void *inner)
{
	void **outer = (void **)malloc(1000);

	*outer = inner;
	__asm__ volatile("" : : "r"(outer) : "memory");
	kept[num_kept++] = malloc(24);
}

static void *
lose_in_thread(void *)
{
	lose(malloc(2008)); /* counts */
	return nullptr;
}

static __attribute__((noinline)) void
scopes()
{
	void *inner = malloc(3000), *grown = malloc(10), *again;
	pthread_t thread;

	memset(inner, 0, 3000);
	lose(malloc(1000)); /* counts */
	{
		memunreachable::ScopedDisabler disabler;
		memunreachable::ScopedDisabler nested;

		lose_pair(inner);
		lose(calloc(1, 5000));
		lose(aligned_alloc(64, 6016));
		lose(new char[7000]);
		lose(realloc(grown, 8000));
		pthread_create(&thread, nullptr, lose_in_thread, nullptr);
		pthread_join(thread, nullptr);
	}
	lose(malloc(4008)); /* counts */
	memunreachable_disable();
	again = malloc(616);
	memunreachable_enable();
	free(again);
	lose(malloc(616)); /* counts, although at the same address */
	memunreachable_disable();
	kept[num_kept++] = operator new(40);
	kept[num_kept++] = operator new(40);
	memunreachable_enable();
	operator delete(kept[--num_kept]);
	kept[num_kept] = nullptr;
}

static __attribute__((noinline)) void
scrub()
{
	volatile char dead[16384];

	memset((char *)dead, 0, sizeof(dead));
}

int
main(int argc, char **argv)
{
	android::UnreachableMemoryInfo info;

	if (memunreachable_enable())
		return 1;
	scopes();
	scrub();
	(void)argv;
	if (argc > 1) { /* a report would hide the blocks in it */
		puts("ready");
		fflush(stdout);
		pause();
	}
	android::GetUnreachableMemory(info, 100);
	printf("%zu %zu\n", info.num_leaks, info.leak_bytes);
	return 0;
}
