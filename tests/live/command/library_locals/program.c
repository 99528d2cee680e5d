/*
 * Fills the thread-local variables of a library that it is linked with, and of
 * one that it loads, in two threads.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/support/hide.h"

typedef void fill(const char *library, int thread);

fill linked_fill;
static fill *loaded_fill;
static pthread_barrier_t filled;

static void
fill_all(int thread)
{
	linked_fill("linked", thread);
	loaded_fill("loaded", thread);
	scrub_stack();
}

static void *
run(void *unused)
{
	fill_all(2);
	pthread_barrier_wait(&filled);
	pause();
	return unused;
}

int
main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_t thread;

	if (library == NULL)
		return 1;
	loaded_fill = (fill *)dlsym(library, "loaded_fill");
	pthread_barrier_init(&filled, NULL, 2);
	fill_all(1);
	pthread_create(&thread, NULL, run, NULL);
	pthread_barrier_wait(&filled);
	puts("ready");
	fflush(stdout);
	scrub_stack();
	return getchar() == EOF ? 0 : 1;
}
