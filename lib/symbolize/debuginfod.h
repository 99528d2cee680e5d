/*
 * Debug information from a debuginfod server.
 */
#ifndef SYMBOLIZE_DEBUGINFOD_H
#define SYMBOLIZE_DEBUGINFOD_H

#include <stdbool.h>

/* Does DEBUGINFOD_URLS name a server? */
bool mu_debuginfod_named(void);

/*
 * Ask the servers of DEBUGINFOD_URLS for the debug file of the build ID, in
 * hex. *PATH is to be freed. The result is a descriptor; -1: they have none, or
 * libdebuginfod is not installed. Takes 20 seconds at most, or as long as the
 * variables DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME say.
 */
int mu_debuginfod_find(const char *id, char **path);

#endif
