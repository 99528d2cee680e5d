/*
 * The leak finder, libmemunreachable, for who wants a pass.
 *
 * Runs in: the original, any thread that is not inside malloc.
 */
#ifndef LEAK_FINDER_H
#define LEAK_FINDER_H

#define LEAK_FINDER "libmemunreachable.so.0"

/*
 * Loads the one that lies beside the recorder, or else that of the search
 * path. NULL: dlerror() says why.
 */
void *leak_finder_load(void);

#endif
