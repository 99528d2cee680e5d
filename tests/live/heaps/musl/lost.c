/*
 * Compiled by musl-gcc. Eleven blocks are lost; others are referred to by
 * variables, thread-local variables, stacks and other blocks. With a word, what
 * mallocng has written about a group is overwritten: "meta", "slots", "area".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
	struct node *next;
	int value;
};

static struct node *volatile list;
static __thread void *volatile own;
static volatile int started;

static __attribute__((noinline)) void
lose(void)
{
	volatile char *large;
	int i;

	for (i = 0; i < 10; i++)
		*(volatile int *)malloc(48) = i;
	large = malloc(1 << 20);
	large[0] = 1;
}

/* Small groups lie in slots of larger ones, whose sizes these are. */
static __attribute__((noinline)) void
keep(void)
{
	struct node *node;
	int i;

	for (i = 0; i < 2000; i++) {
		node = malloc(sizeof(*node) + (size_t)i % 2500);
		node->next = list;
		list = node;
	}
	own = malloc(555);
}

static void *
run(void *arg)
{
	void *volatile held = malloc(333);
	void **volatile aligned = aligned_alloc(4096, 777);

	own = malloc(444);
	*aligned = held;
	held = NULL;
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	pause();
	return aligned + (arg != NULL);
}

static __attribute__((noinline)) void
scrub(void)
{
	char bytes[32768];

	memset(bytes, 0, sizeof(bytes));
	__asm__ volatile("" ::"r"(bytes) : "memory");
}

/* A block's group begins with the address of its meta. */
static void
damage(const char *kind)
{
	char *block = malloc(5000), *group;
	uintptr_t meta;

	group = block - 16 * *(uint16_t *)(block - 2) - 16;
	meta = *(uintptr_t *)group;
	if (strcmp(kind, "meta") == 0)
		*(uintptr_t *)(meta + 16) += 16;
	else if (strcmp(kind, "slots") == 0)
		*(uint64_t *)(meta + 24) = UINT64_MAX;
	else
		*(uintptr_t *)((meta & -4096ul) + 8) = meta & -4096ul;
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	int i;

	lose();
	keep();
	free(malloc(100));
	for (i = 0; i < 3; i++)
		pthread_create(&thread, NULL, run, NULL);
	while (started < 3)
		usleep(1000);
	if (argc > 1)
		damage(argv[1]);
	scrub();
	write(1, "ready\n", 6);
	pause();
	return 0;
}
