/*
 * Debug information from a debuginfod server.
 */
#ifndef SYMBOLIZE_DEBUGINFOD_H
#define SYMBOLIZE_DEBUGINFOD_H

#include <stdbool.h>

/* True if DEBUGINFOD_URLS names a server. */
bool mu_debuginfod_named(void);

/*
 * Request the debug file for the build-id ID (in hex) from the servers in
 * DEBUGINFOD_URLS. Free *PATH. Returns a descriptor; -1 if it is not found or
 * libdebuginfod is not installed. Takes 20 seconds at most, or what
 * DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME say.
 */
int mu_debuginfod_find(const char *id, char **path);

#endif
