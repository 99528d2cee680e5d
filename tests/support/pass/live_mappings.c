#include "tests/support/pass/live_mappings.h"

__attribute__((noinline)) void *
inside_mapping(void *mapping)
{
	return (char *)mapping + 4096 + 136;
}

__attribute__((noinline)) void *
map(int protection, int flags, int fd)
{
	void *mapping = mmap(NULL, MAPPED, protection, flags, fd, 0);

	ck_assert_ptr_ne(mapping, MAP_FAILED);
	return mapping;
}

__attribute__((noinline)) int
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
