/*
 * main() returns 42 while threads allocate and free, and others end.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *
ends(void *unused)
{
	(void)unused;
	return strdup("a thread that has ended");
}

static void *
goes_on(void *unused)
{
	void *volatile blocks[64] = { NULL };
	pthread_t thread;
	size_t i;

	(void)unused;
	for (i = 0;; i++) {
		free(blocks[i % 64]);
		blocks[i % 64] =
		    i % 3 == 0 ? calloc(1, i % 999) : malloc(i % 777);
		blocks[i % 64] = realloc(blocks[i % 64], 1 + i % 2000);
		if (i % 1000 == 0 &&
		    pthread_create(&thread, NULL, ends, NULL) == 0)
			pthread_detach(thread);
	}
	return NULL;
}

int
main(void)
{
	struct timespec nap = { 0, 10000000 };
	pthread_t thread;
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&thread, NULL, goes_on, NULL);
	nanosleep(&nap, NULL);
	return 42;
}
