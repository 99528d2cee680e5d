/*
 * Two threads that are inside malloc nearly all of the time: they allocate,
 * resize and free blocks that are large enough for the arenas to grow and
 * shrink each time. One block of 104 bytes is lost.
 *
 * It prints "ready" and works until it is killed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/hide.h"

#define BLOCKS 8
#define LEAST 200000
#define RANGE 3800000

static volatile uintptr_t lost;

static void *
churn(void *arg)
{
	unsigned seed = *(const unsigned *)arg;
	char *blocks[BLOCKS] = { NULL };
	size_t size;
	int i;

	for (;;) {
		i = rand_r(&seed) % BLOCKS;
		size = LEAST + (size_t)rand_r(&seed) % RANGE;
		if (rand_r(&seed) % 3 > 0) {
			free(blocks[i]);
			blocks[i] = NULL;
		}
		if (rand_r(&seed) % 3 == 0)
			continue;
		blocks[i] = realloc(blocks[i], size);
		if (blocks[i] == NULL)
			abort();
		blocks[i][size / 2] = 1;
	}
	return NULL;
}

static __attribute__((noinline)) void
lose(void)
{
	lost = mu_hide(memset(malloc(100), 'x', 100));
}

int
main(void)
{
	static unsigned seeds[2] = { 1, 2 };
	pthread_t threads[2];
	size_t i;

	lose();
	scrub_stack();
	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, churn, &seeds[i]) != 0)
			abort();
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
