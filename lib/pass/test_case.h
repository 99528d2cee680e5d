/*
 * The test that runs now (include/memunreachable/test.h).
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_TEST_CASE_H
#define LIB_PASS_TEST_CASE_H

#include <stdbool.h>

#include "lib/state/lock.h"

struct mu_checkpoint;

struct mu_test_case {
	struct mu_lock lock;
	struct mu_checkpoint *known; /* unreachable before; NULL: nothing */
	bool begun;  /* KNOWN is complete, as of the last begin or end */
	size_t lost; /* bytes, of the last end */
	char *text;  /* of the last end; malloc */
	char name[256];
	char reason[256]; /* why it could not begin; "": it could */
};

#endif
