/*
 * Files of debug information whose compressed sections are inflated, in the
 * user's cache (lib/symbolize/cache.h).
 *
 * libdw inflates all sections of a file whatever it is asked for: of Debian's
 * for libc in 0.1 s, as much as a look at a small program takes.
 *
 * Runs in: the helper that finds names.
 */
#ifndef SYMBOLIZE_INFLATED_H
#define SYMBOLIZE_INFLATED_H

#include "lib/symbolize/cache.h"

/*
 * The inflated form of FD, the file with BUILD_ID that ABOUT describes: from
 * CACHE, or put there. FD is closed then. FD itself if it has little that is
 * compressed, or CACHE, which may be NULL, cannot have it.
 */
int mu_inflated_file(struct mu_cache *cache, const char *build_id,
    const struct stat *about, int fd);

#endif
