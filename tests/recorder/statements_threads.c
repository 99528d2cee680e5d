/*
 * Operations that must end correctly while threads allocate: the first argument
 * chooses. Exit status 0, or the line of the failed check.
 */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memunreachable/malloc_debug.h"
#include "tests/recorder/statements_own.h"

#pragma weak malloc_iterate
#pragma weak malloc_disable
#pragma weak malloc_enable

#define IS(condition)                                                       \
	do {                                                                \
		if (!(condition)) {                                         \
			fprintf(                                            \
			    stderr, "line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                           \
		}                                                           \
	} while (0)

#define CHURNING 3

static pthread_t threads[CHURNING];
static int stop;

static void *
churn(void *arg)
{
	void *volatile blocks[32] = { NULL };
	size_t i = 0, size = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		size = 1 + (i * 37 & 1023);
		free(blocks[i & 31]);
		blocks[i & 31] = i % 3 == 0 ? calloc(1, size) : malloc(size);
		blocks[i & 31] = realloc(blocks[i & 31], size * 2);
		IS(blocks[i & 31] != NULL);
		memset(blocks[i & 31], 1, size * 2);
		i++;
	}
	for (i = 0; i < 32; i++)
		free(blocks[i]);
	return arg;
}

static void
churn_begin(void)
{
	size_t i;

	for (i = 0; i < CHURNING; i++)
		IS(pthread_create(&threads[i], NULL, churn, NULL) == 0);
}

static void
churn_end(void)
{
	size_t i;

	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < CHURNING; i++)
		IS(pthread_join(threads[i], NULL) == 0);
}

/* A child may use and free what its parent had, and allocate. */
static void
child(char *inherited)
{
	int i;

	IS(strcmp(inherited, "inherited") == 0);
	inherited = realloc(inherited, 4000);
	IS(strcmp(inherited, "inherited") == 0);
	for (i = 0; i < 50; i++)
		free(malloc((size_t)(i + 1) * 99));
	free(inherited);
	_exit(0);
}

static void
forks(int count)
{
	char *inherited = strdup("inherited");
	int i, status;

	for (i = 0; i < count; i++) {
		if (fork() == 0)
			child(inherited);
		IS(wait(&status) > 0 && status == 0);
	}
	free(inherited);
}

static struct own_code own;
static volatile int interrupted, interrupted_inside;

/* As a profiler does. */
static void
on_signal(int signal)
{
	void *pcs[64];
	int i, count = backtrace(pcs, 64);

	(void)signal;
	interrupted++;
	for (i = 0; i < count; i++) {
		if (own_code_has(&own, (uintptr_t)pcs[i])) {
			interrupted_inside++;
			break;
		}
	}
}

static void
unwound(int rounds)
{
	struct sigaction action = { .sa_handler = on_signal,
		.sa_flags = SA_RESTART };
	sigset_t before, after;
	void *pcs[4];
	int i;

	own = own_code_find();
	IS(backtrace(pcs, 4) > 0); /* loads the unwinder */
	sigemptyset(&action.sa_mask);
	IS(sigaction(SIGPROF, &action, NULL) == 0);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	churn_begin();
	for (i = 0; i < rounds; i++) {
		pthread_kill(threads[i % CHURNING], SIGPROF);
		raise(SIGPROF);
		free(malloc(100));
		usleep(50);
	}
	churn_end();
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	IS(memcmp(&before, &after, sizeof(unsigned long)) == 0);
	IS(interrupted > rounds);
	printf("inside %d\n", interrupted_inside);
}

static void
see(uintptr_t base, size_t size, void *arg)
{
	size_t *sum = arg;

	*sum += base != 0 && size != 0;
}

static void *
disable_and_enable(void *arg)
{
	int i;

	for (i = 0; i < 200; i++) {
		malloc_disable();
		free(malloc(10));
		malloc_enable();
	}
	return arg;
}

static void
disabled(void)
{
	pthread_t closing[2];
	size_t seen = 0;
	int i;

	churn_begin();
	for (i = 0; i < 2; i++)
		IS(pthread_create(
		       &closing[i], NULL, disable_and_enable, NULL) == 0);
	for (i = 0; i < 10; i++) {
		IS(malloc_iterate(0, SIZE_MAX, see, &seen) == 0);
		forks(1);
	}
	for (i = 0; i < 2; i++)
		IS(pthread_join(closing[i], NULL) == 0);
	churn_end();
	IS(seen > 0);
}

#define TWICE 100

static pthread_barrier_t barrier;
static void *volatile blocks[TWICE];

static void *
release_all(void *arg)
{
	void (*volatile release)(void *) = free;
	size_t i;

	for (i = 0; i < TWICE; i++) {
		pthread_barrier_wait(&barrier);
		release(blocks[i]);
	}
	return arg;
}

/* Two threads free the same blocks at the same time. */
static void
twice(void)
{
	pthread_t other;
	size_t i;

	for (i = 0; i < TWICE; i++)
		blocks[i] = malloc(64);
	IS(pthread_barrier_init(&barrier, NULL, 2) == 0);
	IS(pthread_create(&other, NULL, release_all, NULL) == 0);
	release_all(NULL);
	IS(pthread_join(other, NULL) == 0);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "churn") == 0) {
		churn_begin();
		usleep(200000);
		churn_end();
	} else if (strcmp(what, "fork") == 0) {
		churn_begin();
		forks(60);
		churn_end();
	} else if (strcmp(what, "unwound") == 0)
		unwound(1500);
	else if (strcmp(what, "disabled") == 0)
		disabled();
	else if (strcmp(what, "twice") == 0)
		twice();
	else
		return 2;
	return 0;
}
