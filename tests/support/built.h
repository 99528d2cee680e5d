/* Files of the build folder that the running test is in. */
#ifndef TESTS_SUPPORT_BUILT_H
#define TESTS_SUPPORT_BUILT_H

#include <limits.h>

/*
 * The path of file NAME below the build folder, by the program's own path,
 * which has "/tests/" behind that folder. Without either the program aborts.
 */
void built_path(const char *name, char path[PATH_MAX]);

#endif
