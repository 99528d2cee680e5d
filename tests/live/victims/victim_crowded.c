/*
 * A program with a large heap that a thread writes to all the time, for cgroups
 * that are nearly full. It has lost five blocks.
 *
 * Usage: victim_crowded MIB WRITERS
 *
 * Says "ready" once the heap is there. Each line on its input is answered by a
 * check of this process by itself: one line, "STATUS LEAKS REASON". At the end
 * of its input it compares what it holds and says "unharmed".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"

#define BLOCK_SIZE ((size_t)64 << 10)
#define PAGE_SIZE 4096
#define LOST 5
#define WRITERS_MAX 8

static unsigned char **blocks;
static size_t num_blocks;
static uintptr_t lost[LOST];
static volatile int stopping;

static __attribute__((noinline)) void
lose(void)
{
	size_t i;

	for (i = 0; i < LOST; i++) {
		void *block = malloc(1000 + 500 * i);

		memset(block, 1, 1000);
		lost[i] = mu_hide(block);
	}
}

/* The first word of a page is its own; the writer has the rest. */
static void *
write_all_over(void *arg)
{
	size_t i, page, round;

	(void)arg;
	for (round = 1; !stopping; round++)
		for (i = 0; i < num_blocks && !stopping; i++)
			for (page = 0; page < BLOCK_SIZE; page += PAGE_SIZE)
				blocks[i][page + 64] = (unsigned char)round;
	return NULL;
}

static void
fill(size_t mib)
{
	size_t i, page;

	num_blocks = (mib << 20) / BLOCK_SIZE;
	blocks = calloc(num_blocks, sizeof(*blocks));
	for (i = 0; blocks != NULL && i < num_blocks; i++) {
		blocks[i] = malloc(BLOCK_SIZE);
		if (blocks[i] == NULL)
			exit(1);
		memset(blocks[i], 0, BLOCK_SIZE);
		for (page = 0; page < BLOCK_SIZE; page += PAGE_SIZE)
			blocks[i][page] = (unsigned char)(i + page / PAGE_SIZE);
	}
}

static __attribute__((noinline)) void
look(void)
{
	struct UnreachableMemoryInfo info = { .version = 0 };

	GetUnreachableMemory(&info, 100);
	printf("%d %zu %s\n", info.status, info.num_leaks, info.reason);
	FreeUnreachableMemoryInfo(&info);
}

static bool
is_unharmed(void)
{
	size_t i, page;

	for (i = 0; i < num_blocks; i++)
		for (page = 0; page < BLOCK_SIZE; page += PAGE_SIZE)
			if (blocks[i][page] !=
			    (unsigned char)(i + page / PAGE_SIZE))
				return false;
	return true;
}

int
main(int argc, char **argv)
{
	size_t i, writers = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	pthread_t threads[WRITERS_MAX];
	char line[64];

	if (argc < 2 || writers > WRITERS_MAX)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	fill(strtoul(argv[1], NULL, 10));
	lose();
	scrub_stack();
	for (i = 0; i < writers; i++)
		if (pthread_create(&threads[i], NULL, write_all_over, NULL))
			return 1;
	puts("ready");
	while (fgets(line, sizeof(line), stdin) != NULL) {
		look();
		scrub_stack();
	}
	stopping = 1;
	for (i = 0; i < writers; i++)
		pthread_join(threads[i], NULL);
	puts(is_unharmed() ? "unharmed" : "harmed");
	return 0;
}
