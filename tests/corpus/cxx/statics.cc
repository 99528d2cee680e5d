// Static objects, of the file and of a function, hold blocks; then other ones.
#include <map>
#include <memory>
#include <string>

#include "tests/corpus/support/corpus.h"

struct registry {
	std::map<std::string, int *> entries;
	registry()
	{
		for (int i = 0; i < 10; i++)
			entries[std::string(20 + i, 'r')] = new int(i);
	}
};

static registry of_file;
static std::string *pointer = new std::string(100, 'p');
static registry *singleton; // never deleted, as many are

static NOINLINE registry &
of_function()
{
	static registry instance;
	static auto *leaked = new registry;

	corpus_use(leaked);
	return instance;
}

static NOINLINE void
replace()
{
	corpus_lose("replaced");
	pointer = new std::string(100, 'q');
	singleton = new registry;
	corpus_lose_end();
	corpus_use(&pointer);
	pointer = new std::string(100, 'r');
	singleton = new registry;
	corpus_use(&pointer);
	corpus_use(&singleton);
}

void
corpus_scenario()
{
	delete pointer;
	of_function();
	replace();
	corpus_use(&of_file);
}
