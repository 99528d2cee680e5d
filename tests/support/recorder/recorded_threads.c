#include "tests/support/recorder/recorded_threads.h"
#define STACK_LARGE ((size_t)256 << 10)
#define STACK_SMALL ((size_t)40 << 10) /* less than could all be static TLS */

static pthread_barrier_t all_made, pause_begin, pause_end;
struct churn churns[THREADS_MAX];

static void *
worker(void *arg)
{
	struct churn *mine = arg;

	/* Or else, under RLIMIT_AS, there may be no room for the last stacks.
	 */
	pthread_barrier_wait(&all_made);
	churn(mine);
	pthread_barrier_wait(&pause_begin);
	pthread_barrier_wait(&pause_end);
	/* Some threads leave with their blocks, some clean up first. */
	if (mine->seed % 2 == 0)
		release(mine);
	return NULL;
}

/* A child has the heap of all threads, and one of them. */
static int
check_child(unsigned seed)
{
	static struct churn mine;
	int status, bad;
	pid_t pid = fork();

	if (pid < 0)
		return 1;
	if (pid == 0) {
		bad = check_now("child");
		mine.seed = seed;
		mine.operations = 500;
		churn(&mine);
		bad |= check_now("child that churned");
		release(&mine);
		_exit(bad | check_now("child that cleaned up"));
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static int
run_round(unsigned seed, unsigned count, size_t operations)
{
	pthread_t ids[THREADS_MAX];
	pthread_attr_t attributes;
	int bad = 0;
	unsigned i;

	pthread_attr_init(&attributes);
	for (i = 0; i < count; i++) {
		pthread_attr_setstacksize(
		    &attributes, i % 2 ? STACK_SMALL : STACK_LARGE);
		churns[i].seed = seed + i;
		churns[i].operations = operations;
		if (pthread_create(&ids[i], &attributes, worker, &churns[i]))
			abort();
	}
	pthread_barrier_wait(&all_made);
	bad |= check_now("threads at work");
	bad |= check_child(seed);
	bad |= check_now("threads at work");
	pthread_barrier_wait(&pause_begin);
	bad |= check_now("threads paused");
	bad |= check_child(seed + 1);
	pthread_barrier_wait(&pause_end);
	bad |= check_now("threads leaving");
	for (i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	pthread_attr_destroy(&attributes);
	return bad | check_now("threads gone");
}

int
run_threads(unsigned seed, unsigned count, size_t operations, unsigned rounds)
{
	unsigned round, i;
	int bad = 0;

	pthread_barrier_init(&all_made, NULL, count + 1);
	pthread_barrier_init(&pause_begin, NULL, count + 1);
	pthread_barrier_init(&pause_end, NULL, count + 1);
	for (round = 0; round < rounds && bad == 0; round++)
		bad |= run_round(seed * 1000 + round * 100, count, operations);
	for (i = 0; i < count; i++)
		release(&churns[i]);
	bad |= check_now("arenas emptied");
	malloc_trim(0);
	return bad | check_now("trimmed");
}
