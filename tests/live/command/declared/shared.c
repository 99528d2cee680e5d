/*
 * Arrays of pointers before other pointers, which are allocated and named on
 * standard output: "FIELD ADDRESS".
 */
#include <stdio.h>
#include <stdlib.h>

struct order {
	int number;
	struct order *next;
};

struct server {
	int port;
	char *addresses[5];
	struct order *grid[2][3];
	struct order *first;
	char *log;
} server;

int
main(void)
{
	server.port = 80;
	server.addresses[4] = malloc(100);
	server.grid[1][2] = calloc(1, sizeof(struct order));
	server.first = calloc(1, sizeof(struct order));
	server.first->next = calloc(1, sizeof(struct order));
	server.log = malloc(200);
	printf("addresses[] %p\ngrid[] %p\nfirst %p\nlog %p\nready\n",
	    (void *)server.addresses[4], (void *)server.grid[1][2],
	    (void *)server.first, (void *)server.log);
	fflush(stdout);
	getchar();
	return 0;
}
