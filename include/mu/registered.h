/*
 * The number of heaps that a program has registered, for tools that look at it
 * from outside. It lies among the library's variables once a heap is
 * registered.
 *
 * Runs in: any.
 */
#ifndef MU_REGISTERED_H
#define MU_REGISTERED_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MU_REGISTERED_MAGIC "mu-heaps" /* its first 8 bytes */
#define MU_REGISTERED_MAX 4096         /* highest number accepted */

struct mu_registered {
	char magic[8];
	uint64_t num_heaps; /* heaps whose functions are the program's */
	uint64_t check;     /* complement of num_heaps */
};

/* Write all of REGISTERED for so many heaps. */
static inline void
mu_registered_set(struct mu_registered *registered, uint64_t num_heaps)
{
	memcpy(
	    registered->magic, MU_REGISTERED_MAGIC, sizeof(registered->magic));
	registered->num_heaps = num_heaps;
	registered->check = ~num_heaps;
}

/*
 * True if REGISTERED, read from the subject, was written by
 * mu_registered_set().
 */
static inline bool
mu_registered_is(const struct mu_registered *registered)
{
	return memcmp(registered->magic, MU_REGISTERED_MAGIC,
		   sizeof(registered->magic)) == 0 &&
	    registered->num_heaps <= MU_REGISTERED_MAX &&
	    registered->check == ~registered->num_heaps;
}

#endif
