/*
 * Programs of which some memory is not used any more: the argument says which.
 * It prints the usable bytes of what is idle, and of what is in use, by type;
 * each line of its input is a step, in which it uses all that it still uses.
 *
 * cache     is filled and never read again
 * sessions  half of them have ended, but nothing removes them from the table
 * ring      a log that each step writes again, and an old one
 * table     one that each step reads and none writes, and one that none reads
 * pages     each page has objects that are idle and others that are in use
 * warm      a cache, of which each step uses a third: that moves to the front
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 3000
#define BUCKETS 512
#define RING ((size_t)1 << 20)

struct use {
	const char *name;
	size_t idle, used; /* bytes */
};

static struct use uses[16];
static volatile unsigned long sum;
static unsigned long steps;

/* A block that NAME's type has; it is idle or not. */
static void *
made(const char *name, int idle, size_t size)
{
	struct use *use = uses;
	char *block = malloc(size);

	memset(block, 0, size);
	while (use->name != NULL && strcmp(use->name, name) != 0)
		use++;
	use->name = name;
	*(idle ? &use->idle : &use->used) += malloc_usable_size(block);
	return block;
}

#define MADE(type, idle) ((struct type *)made(#type, idle, sizeof(struct type)))

static char *
text(int idle, size_t size, unsigned long number)
{
	char *block = made("char[]", idle, size);

	memset(block, 'a' + (int)(number % 26), size - 1);
	snprintf(block, size, "%lu", number);
	block[strlen(block)] = '-';
	return block;
}

/* Beside it, in each of them: requests come and go. */

struct request {
	struct request *next;
	unsigned long id;
	char body[200];
};

static struct request *requests;

static void
serve(void)
{
	struct request *request;
	int i;

	while ((request = requests) != NULL) {
		requests = request->next;
		free(request);
	}
	for (i = 0; i < 100; i++) {
		request = calloc(1, sizeof(*request));
		request->next = requests;
		request->id = steps * 100 + (unsigned long)i;
		snprintf(request->body, sizeof(request->body), "request %lu",
		    request->id);
		requests = request;
	}
}

/* cache */

struct entry {
	struct entry *next;
	char *key, *value;
};

static struct entry *cache[BUCKETS];

static void
make_cache(void)
{
	struct entry *entry;
	unsigned long i;

	for (i = 0; i < COUNT; i++) {
		entry = MADE(entry, 1);
		entry->key = text(1, 24, i);
		entry->value = text(1, 900, i);
		entry->next = cache[i % BUCKETS];
		cache[i % BUCKETS] = entry;
	}
}

static void
use_nothing(void)
{
}

/* sessions */

struct session {
	struct session *next;
	char *name, *agent, *buffer;
	unsigned long id, uses;
};

struct server {
	struct session **table;
	unsigned long uses;
};

static struct server *server;

static int
has_ended(unsigned long id)
{
	return id * 2654435761u >> 7 & 1;
}

static void
make_sessions(void)
{
	struct session *session;
	unsigned long i;

	server = MADE(server, 0);
	server->table = made("session*[]", 0, BUCKETS * sizeof(*server->table));
	for (i = 0; i < COUNT; i++) {
		session = MADE(session, has_ended(i));
		session->name = text(has_ended(i), 24, i);
		session->agent = text(has_ended(i), 120, i);
		session->buffer = text(has_ended(i), 500, i);
		session->id = i;
		session->next = server->table[i % BUCKETS];
		server->table[i % BUCKETS] = session;
	}
}

static void
use_sessions(void)
{
	struct session *session;
	unsigned long i;

	for (i = 0; i < BUCKETS; i++)
		for (session = server->table[i]; session != NULL;
		     session = session->next) {
			if (has_ended(session->id))
				continue;
			session->uses++;
			sum += (unsigned char)session->agent[0];
			sum += (unsigned char)session->buffer[9];
		}
	server->uses++;
}

/* ring */

struct line {
	unsigned long number;
	char text[120];
};

struct old {
	struct old *next;
	char text[200];
};

static struct line *lines[COUNT];
static char *ring;
static struct old *log_before;

static void
make_ring(void)
{
	struct old *old;
	unsigned long i;

	for (i = 0; i < COUNT; i++) {
		lines[i] = MADE(line, 0);
		old = MADE(old, 1);
		snprintf(old->text, sizeof(old->text), "it was %lu", i);
		old->next = log_before;
		log_before = old;
	}
	ring = made("char[]", 0, RING);
}

static void
use_ring(void)
{
	unsigned long i;

	for (i = 0; i < COUNT; i++) {
		lines[i]->number = steps;
		snprintf(lines[i]->text, sizeof(lines[i]->text),
		    "step %lu, line %lu", steps, i);
	}
	memset(ring, (int)steps, RING);
}

/* table */

struct route {
	struct route *next;
	unsigned long port;
	char host[80];
};

struct unread {
	struct unread *next;
	char host[80];
};

static struct route *routes;
static struct unread *unread;

static void
make_table(void)
{
	struct route *route;
	struct unread *other;
	unsigned long i;

	for (i = 0; i < COUNT; i++) {
		route = MADE(route, 0);
		route->port = i;
		route->next = routes;
		routes = route;
		other = MADE(unread, 1);
		other->next = unread;
		unread = other;
	}
}

static void
use_table(void)
{
	struct route *route;

	for (route = routes; route != NULL; route = route->next)
		sum += route->port;
}

/* pages */

struct idle {
	struct idle *next;
	char text[40];
};

struct busy {
	struct busy *next;
	unsigned long uses;
	char text[32];
};

static struct idle *idle_ones;
static struct busy *busy_ones;

static void
make_pages(void)
{
	struct idle *idle;
	struct busy *busy;
	unsigned long i;

	for (i = 0; i < COUNT; i++) {
		idle = MADE(idle, 1);
		idle->next = idle_ones;
		idle_ones = idle;
		busy = MADE(busy, 0);
		busy->next = busy_ones;
		busy_ones = busy;
	}
}

static void
use_pages(void)
{
	struct busy *busy;

	for (busy = busy_ones; busy != NULL; busy = busy->next)
		busy->uses++;
}

/* warm */

struct item {
	struct item *next, *previous;
	char *key, *value;
	unsigned long id, hits;
};

static struct item newest; /* the ring of all of them begins here */

static void
put_first(struct item *item)
{
	item->next = newest.next;
	item->previous = &newest;
	newest.next->previous = item;
	newest.next = item;
}

static void
make_warm(void)
{
	struct item *item;
	unsigned long i;

	newest.next = newest.previous = &newest;
	for (i = 0; i < COUNT; i++) {
		item = MADE(item, i % 3 != 0);
		item->key = text(i % 3 != 0, 24, i);
		item->value = text(i % 3 != 0, 800, i);
		item->id = i;
		put_first(item);
	}
}

static void
use_warm(void)
{
	struct item *item, *before;

	for (item = newest.previous; item != &newest; item = before) {
		before = item->previous;
		if (item->id % 3 != 0 || item->hits > steps)
			continue;
		item->hits = steps + 1;
		sum += (unsigned char)item->value[9];
		item->next->previous = item->previous;
		item->previous->next = item->next;
		put_first(item);
	}
}

static const struct kind {
	const char *name;
	void (*make)(void), (*use)(void);
} kinds[] = {
	{ "cache", make_cache, use_nothing },
	{ "sessions", make_sessions, use_sessions },
	{ "ring", make_ring, use_ring },
	{ "table", make_table, use_table },
	{ "pages", make_pages, use_pages },
	{ "warm", make_warm, use_warm },
};

int
main(int argc, char **argv)
{
	const struct kind *kind = kinds;
	const struct use *use;
	char line[32];
	static char in[64], out[1024]; /* no blocks */

	setvbuf(stdin, in, _IOFBF, sizeof(in));
	setvbuf(stdout, out, _IOFBF, sizeof(out));
	while (strcmp(kind->name, argc > 1 ? argv[1] : "cache") != 0)
		kind++;
	kind->make();
	serve();
	for (use = uses; use->name != NULL; use++)
		printf("%s %zu %zu\n", use->name, use->idle, use->used);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		kind->use();
		serve();
		steps++;
		puts("done");
		fflush(stdout);
	}
	return 0;
}
