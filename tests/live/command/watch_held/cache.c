/*
 * Each line of input is a step: sessions are added to a list of a structure
 * that a variable leads to, and to a table of lists. Old pointers lead into the
 * middle of the list. "done" answers each step.
 */
#include <stdio.h>
#include <stdlib.h>

#define STEP 50
#define SLOTS 64

struct session {
	struct session *next;
	char *name;
	double weight[10];
};

struct entry {
	struct entry *next;
	long key;
};

struct cache {
	long hits;
	struct session *sessions;
	struct entry *slots[SLOTS];
};

static struct cache *g_cache;
static struct session *g_seen;

static void
grow(long count)
{
	struct session *session = calloc(1, sizeof(*session));
	struct entry *entry = calloc(1, sizeof(*entry));

	session->name = malloc(48);
	snprintf(session->name, 48, "session number %ld", count);
	session->next = g_cache->sessions;
	g_cache->sessions = session;
	entry->key = count;
	entry->next = g_cache->slots[count % SLOTS];
	g_cache->slots[count % SLOTS] = entry;
	if (count == 2 * STEP + 7)
		g_seen = session;
}

int
main(void)
{
	char line[16];
	long i, count = 0;

	g_cache = calloc(1, sizeof(*g_cache));
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		for (i = 0; i < STEP; i++)
			grow(count++);
		puts("done");
		fflush(stdout);
	}
	return g_seen == NULL;
}
