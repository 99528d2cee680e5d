/*
 * Four ways to lose memory, and the report that finds each (make demo):
 * a chain, a cycle, a single block, and a big block in a second thread.
 *
 *	cc find_leaks.c $(pkg-config --cflags --libs memunreachable) -pthread
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memunreachable/memunreachable.h>

#define CHAIN_LENGTH 5
#define CYCLE_LENGTH 3
#define BIG_SIZE (1024 * 1024) /* malloc maps such a block on its own */

struct node {
	struct node *next;
	char name[40];
};

static pthread_barrier_t lost, reported;

/* Makes the compiler assume that P is used, so that it keeps the allocation. */
static void
use(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

/*
 * Any word that looks like an address counts as a reference. The last pointers
 * to the lost blocks are still in stack that returned functions used. A larger
 * program soon overwrites such words; this one does so on purpose.
 */
static __attribute__((noinline)) void
overwrite_old_stack(void)
{
	char old[16384];

	memset(old, 0, sizeof(old));
	use(old);
}

static __attribute__((noinline)) struct node *
make_chain(const char *kind, int length, struct node **last)
{
	struct node *first = NULL, *node;
	int i;

	for (i = length; i > 0; i--) {
		node = calloc(1, sizeof(*node));
		if (node == NULL)
			abort();
		snprintf(
		    node->name, sizeof(node->name), "%s, node %d", kind, i);
		node->next = first;
		if (first == NULL)
			*last = node;
		first = node;
	}
	return first;
}

static __attribute__((noinline)) void
lose_chain(void)
{
	struct node *last;

	use(make_chain("chain", CHAIN_LENGTH, &last));
}

static __attribute__((noinline)) void
lose_cycle(void)
{
	struct node *last, *first = make_chain("cycle", CYCLE_LENGTH, &last);

	last->next = first;
	use(first);
}

static __attribute__((noinline)) void
lose_single(void)
{
	use(strdup("a single block that nothing points to"));
}

static __attribute__((noinline)) void
lose_big(void)
{
	char *big = malloc(BIG_SIZE);

	if (big == NULL)
		abort();
	snprintf(big, BIG_SIZE, "a big block, lost by the second thread");
	use(big);
}

static void *
second_thread(void *unused)
{
	lose_big();
	overwrite_old_stack();
	puts("4. The second thread lost a block of 1 MiB, and lives on.");
	pthread_barrier_wait(&lost);
	pthread_barrier_wait(&reported);
	return unused;
}

int
main(void)
{
	pthread_t thread;
	bool checked;

	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&lost, NULL, 2);
	pthread_barrier_init(&reported, NULL, 2);

	lose_chain();
	puts("1. Lost a chain of 5 nodes of 48 bytes.");
	lose_cycle();
	puts("2. Lost a cycle of 3 nodes of 48 bytes.");
	lose_single();
	puts("3. Lost a single string.");
	if (pthread_create(&thread, NULL, second_thread, NULL) != 0)
		abort();
	pthread_barrier_wait(&lost);
	overwrite_old_stack();

	puts("Now the report:");
	checked = LogUnreachableMemory(true, 100);

	pthread_barrier_wait(&reported);
	pthread_join(thread, NULL);
	puts("The program continues: the second thread was joined.");
	return checked ? EXIT_SUCCESS : EXIT_FAILURE;
}
