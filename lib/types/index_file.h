/*
 * An index of debug information as a file of the user's cache
 * (lib/symbolize/cache.h).
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_INDEX_FILE_H
#define LIB_TYPES_INDEX_FILE_H

#include "lib/symbolize/cache.h"
#include "lib/types/debug_index.h"

/*
 * Read the index of the file of debug information ID into INDEX, which is zero.
 * Returns false, with INDEX unchanged, if CACHE has none, or a damaged one.
 */
bool mu_index_file_read(struct mu_debug_index *index,
    const struct mu_cache *cache, const struct mu_debug_id *id);

/* Write INDEX, which is complete, if it took a while to make. */
void mu_index_file_write(const struct mu_debug_index *index,
    struct mu_cache *cache, const struct mu_debug_id *id);

#endif
