/*
 * Debug information from a debuginfod server.
 */
#ifndef SYMBOLIZE_DEBUGINFOD_H
#define SYMBOLIZE_DEBUGINFOD_H

#include <stdbool.h>

/* True if DEBUGINFOD_URLS names a server. */
bool mu_debuginfod_named(void);

/*
 * Request the debug file of the build ID (in hex) from the servers of
 * DEBUGINFOD_URLS. Free *PATH. Returns a descriptor; -1: they do not have it,
 * or libdebuginfod is not installed. Takes 20 seconds at most, or as long as
 * the variables DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME say.
 */
int mu_debuginfod_find(const char *id, char **path);

#endif
