/*
 * A pass in the child of fork(): of a thread of a multi-threaded parent, which
 * leaves the tcaches of all others behind. They are nobody's now, and what
 * is in them is free.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/suite.h"

#define OTHERS 3
#define LOST 5
#define LOST_SIZE 777

static pthread_barrier_t barrier;

/* A tcache with something in it, as long as the thread lives. */
static void *
fill_tcache(void *arg)
{
	void *blocks[7];
	size_t i;

	(void)arg;
	for (i = 0; i < 7; i++)
		blocks[i] = malloc(200);
	for (i = 0; i < 7; i++)
		free(blocks[i]);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* The exit status says what the child saw. */
static int
child(void)
{
	struct UnreachableMemoryInfo info;

	memset(&info, 0, sizeof(info));
	if (!GetUnreachableMemory(&info, 10)) {
		(void)!write(2, info.reason, strlen(info.reason));
		return 1;
	}
	if (info.status != MEMUNREACHABLE_COMPLETE)
		return 2;
	return info.num_leaks == LOST ? 0 : 3;
}

static void *
fork_one(void *allocates)
{
	void *volatile block;
	pid_t pid;
	int status;

	if (allocates != NULL) {
		block = malloc(300); /* not to be optimized away */
		free(block);
	}
	pid = fork();
	if (pid == 0)
		_exit(child());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return (void *)-1;
	return (void *)(intptr_t)status;
}

static __attribute__((noinline)) void
lose(void)
{
	size_t i;

	for (i = 0; i < LOST; i++)
		mu_hide(memset(malloc(LOST_SIZE), 'x', LOST_SIZE));
}

/* _i: has the forking thread a tcache of its own? */
START_TEST(forked_by_a_thread)
{
	pthread_t others[OTHERS], forker;
	void *status;
	size_t i;

	lose();
	scrub_stack();
	pthread_barrier_init(&barrier, NULL, OTHERS + 1);
	for (i = 0; i < OTHERS; i++)
		ck_assert_int_eq(
		    pthread_create(&others[i], NULL, fill_tcache, NULL), 0);
	pthread_barrier_wait(&barrier);
	ck_assert_int_eq(
	    pthread_create(&forker, NULL, fork_one, _i == 0 ? NULL : &barrier),
	    0);
	pthread_join(forker, &status);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < OTHERS; i++)
		pthread_join(others[i], NULL);
	ck_assert_msg(status == NULL, "status 0x%lx", (unsigned long)status);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("fork child");
	TCase *tcase = tcase_create("fork");

	tcase_add_loop_test(tcase, forked_by_a_thread, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
