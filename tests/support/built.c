#include "tests/support/built.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) void
built_path(const char *name, char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX / 2);
	char *tests;

	path[length > 0 ? length : 0] = '\0';
	tests = strstr(path, "/tests/");
	if (tests == NULL || strlen(name) >= PATH_MAX / 2)
		abort();
	strcpy(tests + 1, name);
}
