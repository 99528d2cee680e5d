/*
 * How many bytes a program may have asked for that has a block of so many
 * usable ones. Pure.
 */
#ifndef LIB_TYPES_BLOCK_SIZE_H
#define LIB_TYPES_BLOCK_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#define MU_BLOCK_PAGE 4096 /* the smallest there is */
#define MU_BLOCK_TAIL 16

/*
 * Blocks of glibc have 24, 40, 56 ... bytes, unless they have a mapping. Others
 * are too far apart for their sizes to prove a type.
 */
static inline bool
mu_block_of_chunk(uint64_t block)
{
	return block % 16 == 8 && block >= 24;
}

/*
 * The least size for which malloc() gives BLOCK usable bytes. Blocks of
 * musl are told with 12, 28, 44 ... bytes. Others are of jemalloc, mimalloc or
 * tcmalloc, whose sizes are at most as far apart as those of jemalloc: four
 * between a power of 2 and the next, or 16 bytes.
 */
static inline uint64_t
mu_block_least(uint64_t block)
{
	uint64_t step = 16;

	if (block <= 24)
		return 0;
	/* A mapping of glibc begins with a header of 16 bytes. */
	if ((block + 16) % MU_BLOCK_PAGE == 0)
		return block - MU_BLOCK_PAGE + 1;
	while (block % 16 != 8 && block % 16 != 12 && step <= (block - 1) / 8)
		step *= 2;
	return block - step + 1;
}

/*
 * True if malloc(SIZE) may give BLOCK usable bytes. In glibc these may be
 * MU_BLOCK_TAIL more, if the rest of a chunk is too small for another one.
 */
static inline bool
mu_block_fits(uint64_t size, uint64_t block)
{
	uint64_t least = mu_block_least(block);

	if (mu_block_of_chunk(block) && block > 24)
		least = mu_block_least(block - MU_BLOCK_TAIL);
	return size <= block && size >= least;
}

#endif
