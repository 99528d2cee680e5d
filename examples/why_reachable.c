/*
 * Why is this block still reachable? Follows a block back to a root by the
 * shortest path: here a session that is no longer used, but still in the table
 * of a cache.
 *
 *	cc why_reachable.c $(pkg-config --cflags --libs memunreachable)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memunreachable/memunreachable.h>

#define MAX_STEPS 256
#define LINE 256

struct session {
	char user[40];
};

struct entry {
	struct entry *next;
	struct session *session;
};

static struct entry **cache;

/*
 * One block on the path. Its address is stored as a complement, since a plain
 * copy would be one more reference to the block.
 */
struct step {
	uintptr_t hidden;
	size_t from; /* index of the step that led to it */
	char line[LINE];
};

struct search {
	struct step steps[MAX_STEPS];
	size_t count, current;
	char root[LINE]; /* the root at which the search ends; "" = not found
			    yet */
};

static bool
is_known(const struct search *search, uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < search->count; i++)
		if (search->steps[i].hidden == hidden)
			return true;
	return false;
}

static bool
look(void *ctx, const struct MemunreachableReference *reference)
{
	struct search *search = ctx;
	struct step *step;

	switch (reference->kind) {
	case MEMUNREACHABLE_REFERENCE_CALLER:
	case MEMUNREACHABLE_REFERENCE_REGISTER:
		return true; /* variables of main(); there is only one thread */
	case MEMUNREACHABLE_REFERENCE_BLOCK:
		break;
	default:
		memunreachable_format_reference(
		    reference, search->root, sizeof(search->root));
		return false;
	}
	if (!reference->reachable || search->count == MAX_STEPS ||
	    is_known(search, ~reference->begin))
		return true;
	step = &search->steps[search->count++];
	step->hidden = ~reference->begin;
	step->from = search->current;
	memunreachable_format_reference(
	    reference, step->line, sizeof(step->line));
	return true;
}

static void
print_way(const struct search *search)
{
	size_t i;

	printf("  %s\n", search->root);
	for (i = search->current; i != 0; i = search->steps[i].from)
		printf("  -> %s\n", search->steps[i].line);
}

static void
explain(const char *what, const void *p)
{
	static struct search search;
	ptrdiff_t count;

	memset(&search, 0, sizeof(search));
	search.steps[search.count++].hidden = ~(uintptr_t)p;
	for (; search.current < search.count; search.current++) {
		count = memunreachable_why_reachable(
		    (void *)~search.steps[search.current].hidden, look,
		    &search);
		if (count < 0) {
			printf("not checked: %s\n",
			    memunreachable_status_name((int)-count));
			return;
		}
		if (search.root[0] != '\0') {
			printf("%s is kept by\n", what);
			print_way(&search);
			return;
		}
	}
	printf("%s is kept by nothing\n", what);
}

static struct session *
open_session(const char *user)
{
	struct session *session = calloc(1, sizeof(*session));
	struct entry *entry = calloc(1, sizeof(*entry));

	if (session == NULL || entry == NULL)
		abort();
	snprintf(session->user, sizeof(session->user), "%s", user);
	entry->session = session;
	entry->next = cache[7];
	cache[7] = entry;
	return session;
}

int
main(void)
{
	struct session *session;

	cache = calloc(64, sizeof(*cache));
	if (cache == NULL)
		abort();
	session = open_session("first");
	open_session("second");
	explain("the first session", session);
	cache[7]->next = NULL;
	explain("the first session, taken from the cache,", session);
	return 0;
}
