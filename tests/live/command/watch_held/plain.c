/*
 * Each line of input is a step: a list grows that a local variable of main()
 * leads to; with -DSTATIC, one outside of it. "done" answers each step.
 */
#include <stdio.h>
#include <stdlib.h>

#define STEP 50

struct session {
	struct session *next;
	double weight[10];
};

#ifdef STATIC
static struct session *head;
#endif

static __attribute__((noinline)) void
grow(struct session **list)
{
	struct session *session = calloc(1, sizeof(*session));

	session->next = *list;
	*list = session;
}

int
main(void)
{
#ifndef STATIC
	struct session *head = NULL;
#endif
	char line[16];
	int i;

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		for (i = 0; i < STEP; i++)
			grow(&head);
		puts("done");
		fflush(stdout);
	}
	return head == NULL;
}
