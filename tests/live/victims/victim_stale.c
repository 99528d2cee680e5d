/*
 * Objects of which some never change: half of the sessions, all texts and one
 * large table that is hardly written. Each line of its input is a step, which
 * changes the others: counters, a ring, and who points to the shared ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 2000
#define STALE (COUNT / 2)
#define TABLE ((size_t)4 << 20)

struct session {
	struct session *next;
	char *text;
	unsigned long id, uses;
	char agent[64];
};

struct counter {
	struct counter *next;
	unsigned long value;
	char name[40];
};

struct shared {
	unsigned long id;
	char name[112];
};

struct holder {
	struct holder *next;
	struct shared *shared;
	char name[80];
};

static struct session *sessions;
static struct counter *counters;
static struct shared *shared[COUNT];
static struct holder *holders;
static char *volatile table;

static void
make(unsigned long i)
{
	struct session *session = calloc(1, sizeof(*session));
	struct counter *counter = calloc(1, sizeof(*counter));

	session->next = sessions;
	session->id = i;
	session->text = malloc(200);
	memset(session->text, 'a' + (int)(i % 26), 199);
	session->text[199] = '\0';
	sessions = session;
	counter->next = counters;
	counters = counter;
	shared[i] = calloc(1, sizeof(*shared[i]));
	shared[i]->id = i;
}

/* One pointer more to each of the shared. */
static void
hold(void)
{
	struct holder *holder;
	size_t i;

	for (i = 0; i < COUNT; i++) {
		holder = calloc(1, sizeof(*holder));
		holder->next = holders;
		holder->shared = shared[i];
		holders = holder;
	}
}

static void
step(void)
{
	struct session *session;
	struct counter *counter;

	for (session = sessions; session != NULL; session = session->next)
		if (session->id >= STALE)
			session->uses++;
	for (counter = counters; counter != NULL; counter = counter->next)
		counter->value++;
	hold();
}

int
main(void)
{
	char line[32];
	unsigned long i;

	for (i = 0; i < COUNT; i++)
		make(i);
	table = malloc(TABLE);
	memset(table, 1, TABLE / 4);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		step();
		puts("done");
		fflush(stdout);
	}
	return 0;
}
