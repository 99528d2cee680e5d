/*
 * A program whose heap is held in each way that --retained names: by variables,
 * thread-local variables, stacks, and by a block that several of them lead to.
 * It ends with its input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/support/hide.h"

#define SESSIONS 2000
#define NAMES 50

struct session {
	struct session *next;
	char *name;
	char buffer[200];
};

struct cache {
	long count;
	struct session **table;
};

struct cache cache;      /* most of the heap */
void *pointers[64];      /* one variable with many blocks */
__thread char *own;      /* of each thread */
static char *shared_one; /* of two variables */
void *other_one;
static pthread_barrier_t ready;

static struct session *
new_session(int i)
{
	struct session *session = calloc(1, sizeof(*session));
	char name[64];

	snprintf(name, sizeof(name), "customer number %d", i % NAMES);
	session->name = strdup(name);
	return session;
}

static void
fill_cache(void)
{
	int i;

	cache.table = calloc(SESSIONS, sizeof(*cache.table));
	for (i = 0; i < SESSIONS; i++)
		cache.table[i] = new_session(i);
	cache.count = SESSIONS;
}

static __attribute__((noinline)) void
remember(void)
{
	static char *kept_inside;

	kept_inside = malloc(30000);
	memset(kept_inside, 1, 30000);
	__asm__ volatile("" : : "r"(&kept_inside) : "memory");
}

static __attribute__((noinline)) void
handle(void)
{
	char *volatile local = malloc(40000);

	memset(local, 1, 40000);
	scrub_stack(); /* malloc's copies lie in the red zone of pause() */
	pthread_barrier_wait(&ready);
	pause();
	free(local);
}

static void *
work(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "worker");
	own = malloc(20000);
	memset(own, 1, 20000);
	handle();
	return NULL;
}

int
main(void)
{
	pthread_t thread;
	char byte;
	int i;

	pthread_barrier_init(&ready, NULL, 2);
	fill_cache();
	for (i = 0; i < 64; i++)
		pointers[i] = calloc(1, 500);
	shared_one = calloc(1, 10000);
	other_one = shared_one;
	remember();
	pthread_create(&thread, NULL, work, NULL);
	pthread_barrier_wait(&ready);
	printf("ready %d cache %p table %p session %p name %p shared %p\n",
	    getpid(), (void *)&cache, (void *)cache.table,
	    (void *)cache.table[SESSIONS - 1],
	    (void *)cache.table[SESSIONS - 1]->name, (void *)shared_one);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}
