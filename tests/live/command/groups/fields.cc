/*
 * Loses ten sessions with what hangs on each, and a list in the manner of C:
 * the fields have names.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#include "tests/support/hide.h"

struct Plain {
	double weight[7];
	Plain *next;
};

struct Session {
	virtual ~Session()
	{
	}
	char *buffer;
	Plain *plain;
	std::string user;
	std::vector<Plain *> orders;
	long id[3];
};

struct node {
	struct node *next;
	char *name;
	double weight;
	int kind;
};

static __attribute__((noinline)) void
lose()
{
	struct node *first = nullptr, *node;

	for (int i = 0; i < 10; i++) {
		auto session = new Session;
		session->buffer = strdup("SHELL=/bin/bash");
		session->plain = new Plain();
		session->user = "a user whose name is longer than fifteen";
		for (int j = 0; j < 4 + i % 3; j++)
			session->orders.push_back(new Plain());
		mu_hide(session);
	}
	for (int i = 0; i < 5; i++) {
		node = static_cast<struct node *>(calloc(1, sizeof(*node)));
		node->next = first;
		node->name = strdup("a name of a node");
		node->weight = 1.5 + i;
		node->kind = 3;
		first = node;
	}
	mu_hide(first);
}

int
main()
{
	char byte;

	lose();
	scrub_stack();
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
}
