/*
 * Memory that malloc gives to a test holds no old addresses, which would seem
 * to hold what the test loses.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_FILL_MEMORY_H
#define LIB_PASS_FILL_MEMORY_H

/*
 * From the first call on malloc's blocks are zeroed and those that are freed
 * are overwritten (M_PERTURB), unless the environment has a byte for that. As
 * that leaves out the blocks in the calling thread's cache, each call zeroes
 * these.
 */
void mu_fill_memory(void);

#endif
