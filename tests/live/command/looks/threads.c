/*
 * Three threads wait in one function; blocks are held by variables, by the
 * threads' stacks and by thread-local variables, and some are lost.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/hide.h"

static pthread_barrier_t barrier;
static char *texts[100];
static __thread char *mine;
static volatile uintptr_t hidden;

static __attribute__((noinline)) int
wait_for_end(void)
{
	return getchar();
}

static void *
body(void *unused)
{
	char *volatile held = malloc(77);

	mine = strdup("held by a thread-local variable");
	pthread_barrier_wait(&barrier);
	(void)unused;
	wait_for_end();
	return held;
}

int
main(void)
{
	pthread_t threads[2];
	size_t i;

	for (i = 0; i < 100; i++)
		texts[i] = strdup("a text that is held");
	for (i = 0; i < 10; i++)
		hidden = mu_hide(malloc(1000));
	pthread_barrier_init(&barrier, NULL, 3);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, body, NULL);
	pthread_barrier_wait(&barrier);
	scrub_stack();
	puts("ready");
	fflush(stdout);
	wait_for_end();
	return 0;
}
