/*
 * malloc and free in a loop: prints nanoseconds of CPU time a pair, which other
 * processes disturb less than wall-clock time. Usage: malloc_loop [MILLIONS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIVE 1024

static double
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int
main(int argc, char **argv)
{
	unsigned long pairs =
	    1000000ul * (argc > 1 ? strtoul(argv[1], NULL, 10) : 10);
	static void *live[LIVE];
	unsigned long i;
	unsigned state = 1;
	double begin = now_ns();

	for (i = 0; i < pairs; i++) {
		void **slot;

		state = state * 1664525u + 1013904223u;
		slot = &live[(state >> 20) % LIVE];
		free(*slot);
		*slot = malloc(16 + (state >> 8) % 2048);
	}
	printf("%.3f\n", (now_ns() - begin) / (double)pairs);
	return 0;
}
