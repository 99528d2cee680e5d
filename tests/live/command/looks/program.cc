/*
 * Holds sessions by name in a map, and a table of texts; has lost 20 sessions,
 * and loses as many more as each line of its input says.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

#include "tests/support/hide.h"

struct Session {
	virtual ~Session()
	{
	}
	std::string name;
	int id = 0;
	std::vector<int> data;
};

struct Cache {
	std::map<std::string, Session *> sessions;
};

static Cache cache;
static char **table;
static volatile uintptr_t hidden;

static Session *
make(int id)
{
	Session *session = new Session;

	session->name = "secret of session " + std::to_string(id);
	session->id = id;
	session->data.resize(10);
	return session;
}

__attribute__((noinline)) static void
lose(int count)
{
	for (int i = 0; i < count; i++)
		hidden = mu_hide(make(i));
}

int
main()
{
	char line[16];

	for (int i = 0; i < 300; i++)
		cache.sessions["key " + std::to_string(i)] = make(i);
	table = (char **)calloc(500, sizeof(*table));
	for (int i = 0; i < 500; i++)
		table[i] = strdup("the same text in each of them");
	lose(20);
	scrub_stack();
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		lose(atoi(line));
		scrub_stack();
		puts("lost");
		fflush(stdout);
	}
	return 0;
}
