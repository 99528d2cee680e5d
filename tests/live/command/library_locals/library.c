/* A library with thread-local variables; NAME is compiled in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)

struct slot {
	long id;
	char *text;
	struct slot *next;
};

__thread struct slot *JOIN(NAME, _slots);
__thread long JOIN(NAME, _count) = 7;
__thread struct slot JOIN(NAME, _own);

static char *
text(void)
{
	char *block = malloc(200);

	memset(block, 'a', 199);
	block[199] = '\0';
	return block;
}

void
JOIN(NAME, _fill)(const char *library, int thread)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	slot->text = text();
	JOIN(NAME, _slots) = slot;
	JOIN(NAME, _own).text = text();
	JOIN(NAME, _count)++;
	printf("%p %d %s_slots (%s) slot.text\n", (void *)slot->text, thread,
	    library, library);
	printf("%p %d %s_own (%s) .text\n", (void *)JOIN(NAME, _own).text,
	    thread, library, library);
}
