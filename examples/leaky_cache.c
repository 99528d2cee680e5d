/*
 * A server that loses one block a second amid a cache that evicts, which hides
 * that from anyone who looks at its memory. Found in five commands:
 *
 *	cc -g -o leaky_cache leaky_cache.c
 *	./leaky_cache &
 *	memunreachable watch -p leaky_cache --every=5s --duration=1m
 *	memunreachable -p $!
 *	kill $!
 *
 * The third one says "leak: ... blocks of 56 bytes (probably at
 * leaky_cache.c:56)", the fourth shows the lost blocks.
 *
 * Its argument is the microseconds from request to request, 10000 without one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE 512

struct entry {
	unsigned long key;
	char *value;
};

struct session {
	unsigned long id;
	char client[48];
};

static struct entry *cache[CACHE];
static struct session *volatile current;

static void
remember(unsigned long key)
{
	struct entry **place = &cache[key % CACHE];
	size_t size = 16 + key % 400;

	if (*place != NULL) {
		free((*place)->value);
		free(*place);
	}
	*place = malloc(sizeof(**place));
	(*place)->key = key;
	(*place)->value = malloc(size);
	memset((*place)->value, 'v', size);
}

/* The session before this one is lost. */
static void
handle(unsigned long id)
{
	current = malloc(sizeof(*current));
	current->id = id;
	snprintf(
	    current->client, sizeof(current->client), "client %lu", id % 1000);
}

int
main(int argc, char **argv)
{
	useconds_t pause = argc > 1 ? (useconds_t)atoi(argv[1]) : 10000;
	unsigned long i;

	for (i = 0;; i++) {
		remember((unsigned long)rand());
		if (i % 100 == 0)
			handle(i);
		usleep(pause);
	}
}
