/*
 * The leak finder, libmemunreachable, for a pass.
 *
 * Runs in: the original, any thread that is not inside malloc.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_LEAK_FINDER_H
#define LIB_MALLOC_DEBUG_CHECKS_LEAK_FINDER_H

#define LEAK_FINDER "libmemunreachable.so.0"

/*
 * Load the library beside the recorder, or else the one in the search path.
 * NULL: dlerror() says why.
 */
void *leak_finder_load(void);

#endif
