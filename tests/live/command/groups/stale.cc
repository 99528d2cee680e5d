/*
 * Loses sessions whose constructor leaves pointers as they are: these lead to
 * other things than they are declared to.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <unistd.h>

#include "tests/support/hide.h"

struct Plain {
	long number;
	double weight;
	char *name;
	long more[20];
};

struct Other {
	char *name;
	long numbers[22];
};

struct Weights {
	double all[23];
};

struct Large {
	virtual ~Large()
	{
	}
	std::string *texts[25];
};

struct Session {
	virtual ~Session()
	{
	}
	Plain *plain;
	Weights *weights;
	long id[10];
};

static __attribute__((noinline)) void
lose()
{
	auto other = static_cast<Other *>(calloc(1, sizeof(Other)));
	auto text = static_cast<char *>(malloc(sizeof(Weights)));
	auto memory = static_cast<void **>(malloc(sizeof(Session)));

	other->numbers[0] = 77;
	other->name = strdup("a name of something else");
	memset(text, 'x', sizeof(Weights) - 1);
	text[sizeof(Weights) - 1] = '\0';
	memory[1] = other;
	memory[2] = text;
	mu_hide(new (memory) Session);
	mu_hide(new Large);
	/* What is left of another one has its vptr. */
	mu_hide(realloc(static_cast<void *>(new Large), 60));
}

int
main()
{
	char byte;

	for (int i = 0; i < 10; i++)
		lose();
	scrub_stack();
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
}
