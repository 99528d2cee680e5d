#include "tests/support/recorder/recorded_threads.h"

static size_t
random_size(unsigned *seed)
{
	int kind = rand_r(seed) % 100;

	if (kind < 70)
		return (size_t)rand_r(seed) % 300;
	if (kind < 92)
		return (size_t)rand_r(seed) % 5000;
	if (kind < 98)
		return (size_t)rand_r(seed) % 100000;
	if (kind < 99)
		return (size_t)rand_r(seed) % 1000000;
	return (size_t)rand_r(seed) % (LARGE + 1);
}

static void *
random_block(unsigned *seed)
{
	size_t size = random_size(seed), alignment;
	void *block = NULL;

	alignment = (size_t)16 << rand_r(seed) % (rand_r(seed) % 4 ? 8 : 17);
	switch (rand_r(seed) % 16) {
	case 0:
	case 1:
		return calloc(1, size);
	case 2:
		return calloc(size / 16, 16);
	case 3:
		return memalign(alignment, size);
	case 4:
		return aligned_alloc(alignment, size);
	case 5:
		if (posix_memalign(&block, alignment, size) != 0)
			return NULL;
		return block;
	case 6:
		return rand_r(seed) % 4 ? malloc(size) : valloc(size);
	case 7:
		return rand_r(seed) % 4 ? malloc(size) : pvalloc(size);
	case 8:
		return realloc(NULL, size);
	default:
		return malloc(size);
	}
}

/* Blocks full of what looks like chunks, links and flags. */
static void
scribble(void *block, unsigned *seed)
{
	size_t words = block == NULL ? 0 : malloc_usable_size(block) / 8, i;
	size_t *word = block;

	if (words > 4096 && rand_r(seed) % 8 != 0)
		words = 64;
	for (i = 0; i < words; i++)
		word[i] = rand_r(seed) % 2 ? 0x21 : (size_t)rand_r(seed) % 4096;
}

static void
resize_block(struct churn *churn, void **block)
{
	size_t size = random_size(&churn->seed);
	void *grown;

	if (rand_r(&churn->seed) % 32 == 0) {
		/* No block, and no failure either. */
		*block = realloc(*block, 0);
		return;
	}
	if (rand_r(&churn->seed) % 2)
		grown = realloc(*block, size + 1);
	else
		grown = reallocarray(*block, size / 8 + 1, 8);
	if (grown != NULL)
		*block = grown;
	else
		churn->refused++;
}

void
churn(struct churn *churn)
{
	unsigned *seed = &churn->seed;
	size_t i, slot;

	for (i = 0; i < churn->operations; i++) {
		slot = (size_t)rand_r(seed) % KEPT;
		if (churn->kept[slot] == NULL) {
			churn->kept[slot] = random_block(seed);
			churn->refused += churn->kept[slot] == NULL;
			if (rand_r(seed) % 4 == 0)
				scribble(churn->kept[slot], seed);
		} else if (rand_r(seed) % 4 == 0) {
			resize_block(churn, &churn->kept[slot]);
		} else {
			free(churn->kept[slot]);
			churn->kept[slot] = NULL;
		}
		if (rand_r(seed) % 5000 == 0 && !churn->untrimmed)
			malloc_trim((size_t)rand_r(seed) % 65536);
	}
}

void
release(struct churn *churn)
{
	size_t i;

	for (i = 0; i < KEPT; i++) {
		free(churn->kept[i]);
		churn->kept[i] = NULL;
	}
}

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
