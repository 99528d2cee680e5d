/*
 * Every call of malloc's family, as the C library describes them. With the
 * argument "recorded" the recorder is asked for each block, too; with another
 * one blocks are small, where each would be filled.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/recorder/recorded_read.h"

static int failures;
static int ask, small;

/* Volatile: the compiler warns about constant sizes. */
static volatile size_t most = (size_t)-1;

#define EXPECT(condition)                                                   \
	do {                                                                \
		if (!(condition)) {                                         \
			fprintf(                                            \
			    stderr, "line %d: %s\n", __LINE__, #condition); \
			failures++;                                         \
		}                                                           \
	} while (0)

/* A block of SIZE bytes is known by that size, and may be written to. */
static void
expect_block(int line, void *block, size_t size, size_t alignment)
{
	if (block == NULL || (uintptr_t)block % alignment != 0 ||
	    malloc_usable_size(block) < size ||
	    (ask &&
		(recorded_first(block) == 0 ||
		    recorded_size(block) != (size == 0 ? 1 : size)))) {
		fprintf(stderr, "line %d: %p usable %zu recorded %x %zu\n",
		    line, block, malloc_usable_size(block),
		    recorded_first(block), recorded_size(block));
		failures++;
	}
	if (block != NULL && size < 1 << 20)
		memset(block, 0x5a, size);
}
#define BLOCK(block, size, alignment) \
	expect_block(__LINE__, block, size, alignment)

/* A freed block, or one in quarantine. */
static int
is_gone(uintptr_t address)
{
	uint32_t word = recorded_first((void *)address);

	return !ask || word == 0 || (word & MU_SHADOW_FREED) != 0;
}

static void
gone(void *block)
{
	uintptr_t address = (uintptr_t)block;

	free(block);
	EXPECT(is_gone(address));
}

static void
test_sizes(void)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, 24, 25, 100, 4096,
		131072, 1 << 20, 33 << 20, (size_t)1 << 30,
		((size_t)3 << 30) + 7 };
	unsigned char *block;
	size_t count = sizeof(sizes) / sizeof(sizes[0]) - (small ? 3 : 0);
	size_t i, j;

	for (i = 0; i < count; i++) {
		errno = 77;
		block = malloc(sizes[i]);
		EXPECT(errno == 77);
		BLOCK(block, sizes[i], 16);
		gone(block);
		block = calloc(sizes[i], 1);
		for (j = 0; j < sizes[i] && j < 5000; j++)
			EXPECT(block[j] == 0);
		BLOCK(block, sizes[i], 16);
		errno = 78;
		gone(block);
		EXPECT(errno == 78);
	}
}

static void
test_realloc(void)
{
	unsigned char *block = realloc(NULL, 10), *moved;
	unsigned char *volatile same;
	size_t size, i;

	BLOCK(block, 10, 16);
	for (size = 10; size < 3 << 20; size = size * 3 / 2 + 1) {
		for (i = 0; i < size; i++)
			block[i] = (unsigned char)(i * 7);
		moved = realloc(block, size * 3 / 2 + 1);
		for (i = 0; i < size; i++)
			EXPECT(moved[i] == (unsigned char)(i * 7));
		block = moved;
		BLOCK(block, size * 3 / 2 + 1, 16);
	}
	block = realloc(block, 5);
	BLOCK(block, 5, 16);
	errno = 0;
	EXPECT(realloc(block, most - 4096) == NULL && errno == ENOMEM);
	BLOCK(block, 5, 16); /* A failure leaves the entry */
	same = block;
	EXPECT(reallocarray(same, most / 3, 4) == NULL && errno == ENOMEM);
	BLOCK(same, 5, 16);
	moved = reallocarray(same, 10, 20);
	BLOCK(moved, 200, 16);
	size = (size_t)moved;
	errno = 79;
	EXPECT(realloc(moved, 0) == NULL && errno == 79);
	EXPECT(is_gone(size));
}

static void
test_aligned(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), alignment;
	void *block = NULL;

	for (alignment = 8; alignment <= 1 << 20; alignment *= 2) {
		block = memalign(alignment, 100);
		BLOCK(block, 100, alignment < 16 ? 16 : alignment);
		block = realloc(block, 300);
		BLOCK(block, 300, 16);
		gone(block);
		errno = 80;
		EXPECT(posix_memalign(&block, alignment, alignment + 1) == 0);
		EXPECT(errno == 80);
		BLOCK(block, alignment + 1, alignment);
		gone(block);
		block = aligned_alloc(alignment, alignment * 2);
		BLOCK(block, alignment * 2, alignment);
		gone(block);
	}
	block = memalign(48, 10); /* rounded up */
	BLOCK(block, 10, 64);
	gone(block);
	block = valloc(10);
	BLOCK(block, 10, page);
	gone(block);
	block = pvalloc(page + 1);
	BLOCK(block, 2 * page, page);
	gone(block);
}

static void
test_wrong(void)
{
	void *block = &failures;

	EXPECT(posix_memalign(&block, 3, 10) == EINVAL);
	EXPECT(posix_memalign(&block, 4, 10) == EINVAL);
	EXPECT(posix_memalign(&block, 0, 10) == EINVAL);
	EXPECT(posix_memalign(&block, 24, 10) == EINVAL);
	EXPECT(block == &failures);
	errno = 0;
	/* glibc before 2.38 rounds 3 up. */
	EXPECT(!ask || (aligned_alloc(3, 9) == NULL && errno == EINVAL));
	errno = 81;
	EXPECT(posix_memalign(&block, 64, most - 200) == ENOMEM);
	EXPECT(!ask || errno == 81);
	errno = 0;
	EXPECT(malloc(most) == NULL && errno == ENOMEM);
	errno = 0;
	EXPECT(malloc(most / 2) == NULL && errno == ENOMEM);
	errno = 0;
	EXPECT(calloc(most / 5, 6) == NULL);
	EXPECT(errno == ENOMEM);
	errno = 0;
	EXPECT(pvalloc(most) == NULL && errno == ENOMEM);
	free(NULL);
	EXPECT(malloc_usable_size(NULL) == 0);
}

int
main(int argc, char **argv)
{
	ask = argc > 1 && strcmp(argv[1], "recorded") == 0;
	small = argc > 2;
	if (ask && recorded() == NULL) {
		fprintf(stderr, "no recorder\n");
		return 1;
	}
	test_sizes();
	test_realloc();
	test_aligned();
	test_wrong();
	return failures == 0 ? 0 : 1;
}
