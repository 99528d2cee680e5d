// Objects in malloc's memory, destroyed or not, freed or not.
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "tests/corpus/support/corpus.h"

struct thing {
	std::string name = std::string(60, 't');
	std::vector<int> values = std::vector<int>(10);
};

static NOINLINE thing *
build(void *place)
{
	auto *t = new (place) thing;

	corpus_use(t);
	return t;
}

static NOINLINE void
lose_things()
{
	// Freed without being destroyed.
	void *place = std::malloc(sizeof(thing));
	corpus_lose("members");
	build(place);
	corpus_lose_end();
	std::free(place);

	// Destroyed without being freed, and neither.
	corpus_lose("place");
	build(std::malloc(sizeof(thing)))->~thing();
	corpus_lose("both");
	auto *pool = static_cast<char *>(std::malloc(4 * sizeof(thing)));
	for (int i = 0; i < 4; i++)
		build(pool + i * sizeof(thing));
	corpus_lose_end();
}

void
corpus_scenario()
{
	corpus_keep(build(std::malloc(sizeof(thing) + 100)));
	lose_things();
}
