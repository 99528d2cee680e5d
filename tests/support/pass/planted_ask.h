/*
 * Count how many of the planted blocks are found: by this library; under
 * Valgrind, by Valgrind; built with -DPLANTED_LSAN -fsanitize=leak, by
 * LeakSanitizer, which prints its answer itself.
 */
#ifndef TESTS_SUPPORT_PASS_PLANTED_ASK_H
#define TESTS_SUPPORT_PASS_PLANTED_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"

#ifdef __has_include
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

#define PLANTED 1000
#define PLANTED_BYTE 0x5a

#define PLANTING static __attribute__((noinline, unused))

static uintptr_t planted[PLANTED]; /* hidden */

#ifdef PLANTED_LSAN
#ifdef __cplusplus
extern "C"
#endif
    int
    __lsan_do_recoverable_leak_check(void);

PLANTING int
planted_ask(void)
{
	__lsan_do_recoverable_leak_check();
	return 0;
}
#else
PLANTING bool
is_planted(uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < PLANTED; i++) {
		if (planted[i] == hidden)
			return true;
	}
	return false;
}

/* The planted ones refer to nothing: each is an entry. False: no answer. */
#ifdef __cplusplus
PLANTING bool
planted_count(size_t *found, size_t *others)
{
	android::UnreachableMemoryInfo info;

	*found = *others = 0;
	if (!android::GetUnreachableMemory(info, PLANTED * 2))
		return false;
	for (const android::Leak &leak : info.leaks)
		*found += is_planted(~leak.begin);
	*others = info.num_leaks - *found;
	return true;
}
#else
PLANTING bool
planted_count(size_t *found, size_t *others)
{
	struct UnreachableMemoryInfo info = { .leaks = NULL };
	size_t i;

	*found = *others = 0;
	if (!GetUnreachableMemory(&info, PLANTED * 2) ||
	    info.status != MEMUNREACHABLE_COMPLETE) {
		printf("not checked: %s\n", info.reason);
		return false;
	}
	for (i = 0; i < info.num_reported; i++)
		*found += is_planted(~info.leaks[i].begin);
	*others = info.num_leaks - *found;
	FreeUnreachableMemoryInfo(&info);
	return true;
}
#endif

PLANTING int
planted_ask(void)
{
	size_t found, others;
#ifdef VALGRIND_DO_LEAK_CHECK
	unsigned long leaked = 0, dubious = 0, reachable = 0, suppressed = 0;

	if (RUNNING_ON_VALGRIND) {
		VALGRIND_DO_LEAK_CHECK;
		VALGRIND_COUNT_LEAK_BLOCKS(
		    leaked, dubious, reachable, suppressed);
		printf("found %lu others 0, possibly %lu more\n", leaked,
		    dubious + 0 * (reachable + suppressed));
		return 0;
	}
#endif
	if (!planted_count(&found, &others))
		return 1;
	printf("found %zu others %zu\n", found, others);
	return 0;
}
#endif

#endif
