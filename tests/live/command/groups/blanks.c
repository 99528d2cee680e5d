/*
 * blanks N: lose 40 equal structures, of which the N-th has no number and
 * no head: its words alone do not tell what it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
	int id;
	char *line;
	char head[200];
};

static void
lose(int id)
{
	struct request *request = calloc(1, sizeof(*request));

	request->id = id;
	request->line = strdup("GET /item HTTP/1.1");
	if (id != 0)
		strcpy(request->head, "Host: example.org");
}

int
main(int argc, char **argv)
{
	int i, blank = argc > 1 ? atoi(argv[1]) : 0;

	for (i = 0; i < 40; i++)
		lose(i == blank ? 0 : 1000 + i);
	lose(0); /* what is left in registers */
	free(malloc(sizeof(struct request)));
	puts("ready");
	fflush(stdout);
	getchar();
	return 0;
}
