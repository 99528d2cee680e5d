/*
 * What libc would show: errno of every thread, also of the one that asks and
 * of those that are in a call; handlers of fork() and of exit(), which must
 * not run in the helper processes; stdio's buffers, written once.
 */
#include <sys/mman.h>

#include "tests/support/suite.h"
#include "tests/support/transparency.h"

#define PASSES 20
#define MAGIC 4242

static int *counts; /* shared with every process that ever comes of this */
enum { PREPARED, IN_PARENT, IN_CHILD, EXITED, DESTROYED, COUNTS };

struct watcher {
	pthread_t thread;
	int end, stop, wrong, ready;
	long rounds;
};

static void *
spin(void *arg)
{
	struct watcher *watcher = arg;

	errno = MAGIC;
	transparency_set(&watcher->ready, 1);
	while (!transparency_get(&watcher->stop)) {
		watcher->wrong += *(volatile int *)&errno != MAGIC;
		watcher->rounds++;
	}
	return NULL;
}

/* A call that succeeds leaves errno alone. */
static void *
sit_in_read(void *arg)
{
	struct watcher *watcher = arg;
	char byte;

	errno = MAGIC + 1;
	transparency_set(&watcher->ready, 1);
	watcher->wrong += read(watcher->end, &byte, 1) != 1;
	watcher->wrong += errno != MAGIC + 1;
	return NULL;
}

TEST_LOOP(error_numbers, 0, TRANSPARENCY_METHODS)
{
	struct watcher spinner = { .stop = 0 }, sitter = { .stop = 0 };
	int ends[2], error, k;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	sitter.end = ends[0];
	transparency_spawn(&spinner.thread, spin, &spinner);
	transparency_spawn(&sitter.thread, sit_in_read, &sitter);
	transparency_await(&spinner.ready, 1);
	transparency_await(&sitter.ready, 1);
	for (k = 0; k < PASSES; k++) {
		errno = MAGIC + 2;
		transparency_pass(_i);
		error = errno;
		ck_assert_int_eq(error, MAGIC + 2);
	}
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	transparency_set(&spinner.stop, 1);
	pthread_join(spinner.thread, NULL);
	pthread_join(sitter.thread, NULL);
	ck_assert_int_eq(spinner.wrong, 0);
	ck_assert_int_eq(sitter.wrong, 0);
	ck_assert_int_gt(spinner.rounds, 0);
}

static void
count(int which)
{
	__atomic_add_fetch(&counts[which], 1, __ATOMIC_SEQ_CST);
}

static void
prepare(void)
{
	count(PREPARED);
}

static void
in_parent(void)
{
	count(IN_PARENT);
}

static void
in_child(void)
{
	count(IN_CHILD);
}

static void
at_end(void)
{
	count(EXITED);
}

static void
destroyed(void *value)
{
	(void)value;
	count(DESTROYED);
}

static void *
own_a_value(void *arg)
{
	static pthread_key_t key;

	ck_assert_int_eq(pthread_key_create(&key, destroyed), 0);
	pthread_setspecific(key, arg);
	return spin(arg);
}

TEST_LOOP(no_handler_runs, 0, TRANSPARENCY_METHODS)
{
	struct watcher other = { .stop = 0 };
	int ends[2], i;
	char text[64];
	FILE *file;

	counts = mmap(NULL, COUNTS * sizeof(*counts), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(counts, MAP_FAILED);
	ck_assert_int_eq(pthread_atfork(prepare, in_parent, in_child), 0);
	ck_assert_int_eq(atexit(at_end), 0);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	file = fdopen(ends[1], "w");
	fputs("not yet", file);
	transparency_spawn(&other.thread, own_a_value, &other);
	transparency_await(&other.ready, 1);
	transparency_passes(_i, PASSES);
	for (i = 0; i < COUNTS; i++)
		ck_assert_msg(counts[i] == 0, "count %d", i);
	ck_assert_int_eq(read(ends[0], text, sizeof(text)), -1);
	fclose(file);
	ck_assert_int_eq(read(ends[0], text, sizeof(text)), 7);
	transparency_set(&other.stop, 1);
	pthread_join(other.thread, NULL);
	ck_assert_int_eq(counts[DESTROYED], 1);
}
