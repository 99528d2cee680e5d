/*
 * For tests of memory: mappings and files to put a pointer into.
 */
#ifndef TESTS_SUPPORT_LIVE_MAPPINGS_H
#define TESTS_SUPPORT_LIVE_MAPPINGS_H

#include <sys/mman.h>

#include "tests/support/live.h"

#define MAPPED ((size_t)65536)

/* Somewhere inside, not where a page or the mapping begins. */
LIVE void *
inside(void *mapping)
{
	return (char *)mapping + 4096 + 136;
}

LIVE void *
map(int protection, int flags, int fd)
{
	void *mapping = mmap(NULL, MAPPED, protection, flags, fd, 0);

	ck_assert_ptr_ne(mapping, MAP_FAILED);
	return mapping;
}

/* A file of MAPPED zeros in DIRECTORY, without a name. */
LIVE int
unnamed_file(const char *directory)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/mu-roots-XXXXXX", directory);
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(ftruncate(fd, MAPPED), 0);
	return fd;
}

#endif
