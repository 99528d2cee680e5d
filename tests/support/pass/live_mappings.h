/*
 * For tests of memory: mappings and files to put a pointer into.
 */
#ifndef TESTS_SUPPORT_PASS_LIVE_MAPPINGS_H
#define TESTS_SUPPORT_PASS_LIVE_MAPPINGS_H

#include <sys/mman.h>

#include "tests/support/live.h"

#define MAPPED ((size_t)65536)

/* Somewhere inside, not where a page or the mapping begins. */
void *inside_mapping(void *mapping);

void *map(int protection, int flags, int fd);

/* A file of MAPPED zeros in DIRECTORY, without a name. */
int unnamed_file(const char *directory);

#endif
