/*
 * Programs for the corpus of memunreachable watch: the argument is a name of
 * the table at the end. Each line of input is one step; "done" answers it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/support/hide.h"

#define SLOTS 4096

struct session {
	struct session *next;
	char *user;
	long visits[6];
};

struct order {
	struct order *next;
	long items[12];
};

/* Each is a chain or a table that a variable holds. */
static struct session *sessions;
static struct order *orders;
static void *slots[SLOTS];
static char *table;
static size_t table_size;
static unsigned seed = 4711;

/* A figure below MOST, the same in each run. */
static unsigned
chance(unsigned most)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % most;
}

static __attribute__((noinline)) void
lose(size_t count, size_t size)
{
	uintptr_t hidden = 0;

	while (count-- > 0)
		hidden ^= mu_hide(memset(malloc(size), 1, size));
	__asm__ volatile("" : : "r"(hidden));
}

static __attribute__((noinline)) void
lose_session(size_t count)
{
	struct session *session;

	while (count-- > 0) {
		session = calloc(1, sizeof(*session));
		session->user = strdup("a user with a name");
		__asm__ volatile("" : : "r"(mu_hide(session)));
	}
}

static void
keep_sessions(size_t count)
{
	struct session *session;

	while (count-- > 0) {
		session = calloc(1, sizeof(*session));
		session->next = sessions;
		session->visits[0] = (long)count;
		sessions = session;
	}
}

static void
drop_sessions(void)
{
	struct session *session;

	while ((session = sessions) != NULL) {
		sessions = session->next;
		free(session->user);
		free(session);
	}
}

static void
keep_orders(size_t count)
{
	struct order *order;

	while (count-- > 0) {
		order = calloc(1, sizeof(*order));
		order->next = orders;
		orders = order;
	}
}

static void
drop_orders(size_t count)
{
	struct order *order;

	while (count-- > 0 && (order = orders) != NULL) {
		orders = order->next;
		free(order);
	}
}

/* Replace what is in COUNT slots below SPAN by blocks of up to SIZE bytes. */
static void
churn(size_t count, unsigned span, unsigned size)
{
	unsigned at;

	while (count-- > 0) {
		at = chance(span);
		free(slots[at]);
		slots[at] = calloc(1, 16 + chance(size));
	}
}

static void
grow_table(size_t size)
{
	table = realloc(table, size);
	memset(table + table_size, 1, size - table_size);
	table_size = size;
}

/* LEAK */

static void
leak_one(int step)
{
	(void)step;
	lose(1, 40);
}

static void
leak_amid_caching(int step)
{
	(void)step;
	churn(500, 1000, 900);
	lose(1, 72);
}

static void
leak_typed(int step)
{
	(void)step;
	lose_session(20);
}

static void
leak_and_warm_up(int step)
{
	if (step < 5)
		keep_orders(400);
	lose(3, 200);
}

static void
leak_every_third(int step)
{
	if (step % 3 == 0)
		lose(4, 104);
}

static void
leak_large(int step)
{
	(void)step;
	lose(1, 300 << 10); /* has a mapping */
}

static void
leak_beside_sawtooth(int step)
{
	if (step % 4 == 3)
		drop_sessions();
	keep_sessions(500);
	lose(2, 56);
}

static void
leak_of_many_sizes(int step)
{
	(void)step;
	lose(1, 24 + chance(4000));
	lose(1, 24 + chance(400));
}

/* GROWTH */

static void
grow_list(int step)
{
	(void)step;
	keep_sessions(200);
}

static void
grow_table_of_bytes(int step)
{
	(void)step;
	grow_table(table_size + (64 << 10));
}

static void
grow_amid_noise(int step)
{
	(void)step;
	churn(300, 600, 400);
	keep_orders(300);
}

static void
grow_beside_sawtooth(int step)
{
	if (step % 3 == 2)
		drop_sessions();
	keep_sessions(100);
	keep_orders(600);
}

static void
grow_mappings(int step)
{
	char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, step, 1 << 20);
}

/*
 * FRAGMENTATION: of ever larger blocks a little stays, and the free rest
 * between is too small for what comes next. What stays is little beside the
 * table.
 */
static void
fragment(int step)
{
	size_t i, count = 20, size = 2000 + 600 * (size_t)step;
	void **kept = slots + (size_t)step * count;

	if (step == 0)
		grow_table(2 << 20);
	for (i = 0; i < count; i++)
		kept[i] = memset(malloc(size), 1, size);
	for (i = 0; i < count; i++)
		kept[i] = realloc(kept[i], 24);
}

/* STEADY */

static void
idle(int step)
{
	(void)step;
}

static void
lost_at_the_beginning(int step)
{
	if (step == 0)
		lose(500, 64);
	churn(50, 100, 100);
}

static void
lost_once(int step)
{
	if (step == 6)
		lose(50, 64);
}

static void
cache_with_eviction(int step)
{
	(void)step;
	churn(2000, 800, 1000);
}

static void
cache_that_fills(int step)
{
	size_t count = (size_t)2000 >> (step < 10 ? step : 10);

	keep_sessions(count);
}

static void
warm_up(int step)
{
	if (step < 4)
		keep_sessions(2000);
}

static void
sawtooth(int step)
{
	if (step % 3 == 0)
		drop_sessions();
	keep_sessions(700);
}

static void
slow_sawtooth(int step)
{
	if (step % 5 == 2)
		drop_orders(SIZE_MAX);
	keep_orders(500);
}

static void
noise(int step)
{
	(void)step;
	drop_orders(SIZE_MAX);
	keep_orders(400 + chance(400));
}

static void
shrink(int step)
{
	if (step == 0)
		keep_orders(5000);
	drop_orders(300);
}

static void
one_for_another(int step)
{
	drop_orders(100);
	if (step == 0)
		keep_orders(1500);
	free(slots[0]);
	slots[0] = calloc(1, 3000);
}

static void
peak(int step)
{
	if (step == 3)
		keep_sessions(20000);
	if (step == 4)
		drop_sessions();
}

static const struct program {
	const char *name;
	void (*step)(int step);
} programs[] = {
#define PROGRAM(name)       \
	{                   \
#name, name \
	}
	PROGRAM(leak_one),
	PROGRAM(leak_amid_caching),
	PROGRAM(leak_typed),
	PROGRAM(leak_and_warm_up),
	PROGRAM(leak_every_third),
	PROGRAM(leak_large),
	PROGRAM(leak_beside_sawtooth),
	PROGRAM(leak_of_many_sizes),
	PROGRAM(grow_list),
	PROGRAM(grow_table_of_bytes),
	PROGRAM(grow_amid_noise),
	PROGRAM(grow_beside_sawtooth),
	PROGRAM(grow_mappings),
	PROGRAM(fragment),
	PROGRAM(idle),
	PROGRAM(lost_at_the_beginning),
	PROGRAM(lost_once),
	PROGRAM(cache_with_eviction),
	PROGRAM(cache_that_fills),
	PROGRAM(warm_up),
	PROGRAM(sawtooth),
	PROGRAM(slow_sawtooth),
	PROGRAM(noise),
	PROGRAM(shrink),
	PROGRAM(one_for_another),
	PROGRAM(peak),
};

static const struct program *
find_program(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (strcmp(programs[i].name, name) == 0)
			return &programs[i];
	return NULL;
}

int
main(int argc, char **argv)
{
	const struct program *program = argc > 1 ? find_program(argv[1]) : NULL;
	char line[32];
	int step;

	if (program == NULL)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("ready\n");
	for (step = 0; fgets(line, sizeof(line), stdin) != NULL; step++) {
		program->step(step);
		scrub_stack();
		printf("done\n");
	}
	return 0;
}
