/*
 * LeakTracer's calls from several threads. Every allocation that is looked for
 * has a different size.
 */
#include <memunreachable/leaktracer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static char lines[1 << 20];
static size_t used;
static void *volatile sink;
static volatile size_t huge = (size_t)-1 / 2;

static void
take(void *ctx, const char *text, size_t length)
{
	(void)ctx;
	if (strncmp(text, "leak, ", 6) != 0 || used + length >= sizeof(lines))
		return;
	memcpy(lines + used, text, length);
	used += length;
	lines[used] = '\0';
}

/* How many records of SIZE bytes are there? */
static int
records(size_t size)
{
	char pattern[64];
	const char *at = lines;
	int count = 0;

	used = 0;
	lines[0] = '\0';
	leaktracer_writeLeaks(take, NULL);
	snprintf(pattern, sizeof(pattern), ", size=%zu, data=", size);
	while ((at = strstr(at, pattern)) != NULL) {
		at++;
		count++;
	}
	return count;
}

static void
expect(const char *what, int got, int wanted)
{
	if (got == wanted)
		return;
	fprintf(stderr, "FAILED: %s: %d, not %d\n", what, got, wanted);
	failures++;
}

static void *
lose(size_t size)
{
	sink = malloc(size);
	return sink;
}

static void *
in_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, body, arg) != 0)
		exit(2);
	pthread_join(thread, &result);
	return result;
}

static void *
lose_there(void *size)
{
	return lose((size_t)size);
}

static void *
free_there(void *block)
{
	free(block);
	return NULL;
}

static void *
marked_loses(void *size)
{
	leaktracer_startMonitoringThisThread();
	return lose((size_t)size);
}

static void
one_thread(void)
{
	void *block;

	leaktracer_startMonitoringThisThread();
	block = lose(1001);
	in_thread(lose_there, (void *)1002);
	in_thread(marked_loses, (void *)1003);
	expect("own", records(1001), 1);
	expect("of a thread without mark", records(1002), 0);
	expect("of a thread with a mark", records(1003), 1);
	in_thread(free_there, block);
	expect("freed elsewhere", records(1001), 0);
	leaktracer_stopMonitoringAllocations();
	lose(1004);
	expect("after the stop", records(1004), 0);
	leaktracer_stopAllMonitoring();
}

struct turn {
	pthread_barrier_t barrier;
};

static void *
marked_and_stopped_elsewhere(void *arg)
{
	struct turn *turn = arg;

	leaktracer_startMonitoringThisThread();
	lose(2001);
	pthread_barrier_wait(&turn->barrier);
	pthread_barrier_wait(&turn->barrier);
	lose(2002);
	return NULL;
}

static void
stop_from_another_thread(void)
{
	struct turn turn;
	pthread_t thread;

	pthread_barrier_init(&turn.barrier, NULL, 2);
	pthread_create(&thread, NULL, marked_and_stopped_elsewhere, &turn);
	pthread_barrier_wait(&turn.barrier);
	leaktracer_stopAllMonitoring();
	pthread_barrier_wait(&turn.barrier);
	pthread_join(thread, NULL);
	expect("before the stop", records(2001), 1);
	expect("a mark is undone by stopAll", records(2002), 0);
}

/* Older records are dropped, since their releases were not monitored. */
static void
all_threads(void)
{
	void *block = lose(3000);

	leaktracer_startMonitoringAllThreads();
	expect("older", records(2001), 0);
	lose(3001);
	in_thread(lose_there, (void *)3002);
	free(block);
	block = lose(3003);
	block = realloc(block, 3004);
	sink = reallocarray(NULL, 55, 7);
	sink = aligned_alloc(64, 6400);
	leaktracer_stopMonitoringAllocations();
	expect("own", records(3001), 1);
	expect("of a thread", records(3002), 1);
	expect("resized", records(3003), 0);
	expect("and now", records(3004), 1);
	expect("of an array", records(385), 1);
	expect("aligned", records(6400), 1);
	block = realloc(block, 300400);
	expect("grown after the stop", records(300400), 1);
	leaktracer_stopAllMonitoring();
	free(block);
	expect("freed when not monitored", records(300400), 1);
}

/* A realloc that fails leaves the record. */
static void
failing_realloc(void)
{
	void *block;

	leaktracer_startMonitoringAllThreads();
	block = lose(4001);
	sink = realloc(block, huge);
	expect("failed", sink == NULL, 1);
	expect("realloc that failed", records(4001), 1);
	sink = calloc(huge, 3);
	expect("calloc that overflows", sink == NULL, 1);
	free(block);
	expect("freed after that", records(4001), 0);
	leaktracer_stopAllMonitoring();
}

static void
in_a_child(void)
{
	int status = 0;
	pid_t child;

	leaktracer_startMonitoringAllThreads();
	lose(5001);
	child = fork();
	if (child == 0) {
		failures = 0;
		lose(5002);
		expect("of the parent", records(5001), 1);
		expect("of the child", records(5002), 1);
		_exit(failures);
	}
	waitpid(child, &status, 0);
	expect("child", status, 0);
	expect("not in the parent", records(5002), 0);
	leaktracer_stopAllMonitoring();
}

int
main(void)
{
	/* Before anything is started. */
	leaktracer_stopMonitoringAllocations();
	leaktracer_stopAllMonitoring();
	expect("nothing", records(1), 0);
	one_thread();
	stop_from_another_thread();
	all_threads();
	failing_realloc();
	in_a_child();
	leaktracer_writeLeaksToFile("/nonexistent/leaks.out");
	leaktracer_writeLeaksToFile(NULL);
	return failures == 0 ? 0 : 1;
}
