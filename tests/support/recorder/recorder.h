/* What recorder_shim.c offers to the program it is preloaded into. */
#ifndef TESTS_SUPPORT_RECORDER_RECORDER_H
#define TESTS_SUPPORT_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

/* What a look at the heap, as it is now, came to. */
struct recorder_row {
	size_t threads;
	size_t walked, recorded; /* blocks */
	size_t missing;          /* recorded and not walked */
	size_t extra;            /* walked and not recorded */
	size_t resized;          /* in both, and of another size */
	size_t own;              /* walked, and proven to be glibc's own */
	size_t unproven;         /* bytes behind a foreign sbrk() */
	int status;              /* of the walk: enum mu_status */
};

/*
 * All threads stand still while this walks the heap, in a copy of the process,
 * and compares. UNPROVEN: some of the heap may lie behind a foreign sbrk(), and
 * is asked for only where the walk claims it. True: the two agree, block by
 * block and size by size. Differences are reported on stderr, or in the file
 * that RECORDER_LOG names, with WHEN in front.
 *
 * Weak: NULL where the shim was not preloaded.
 */
bool recorder_check(const char *when, bool unproven, struct recorder_row *row)
    __attribute__((weak, visibility("default")));

#endif
