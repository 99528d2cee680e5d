// Memory resources of <memory_resource>: lists of chunks behind one object.
#include <memory_resource>
#include <string>
#include <vector>

#include "tests/corpus/support/corpus.h"

struct arena {
	std::pmr::monotonic_buffer_resource chunks { 100 };
	std::pmr::unsynchronized_pool_resource pools { &chunks };
	std::pmr::vector<std::pmr::string> *texts = nullptr;
};

static NOINLINE arena *
make_arena()
{
	auto *a = new arena;

	a->texts = new std::pmr::vector<std::pmr::string>(&a->pools);
	for (size_t i = 0; i < 60; i++)
		a->texts->emplace_back(i * 3, 'a');
	corpus_use(a);
	return a;
}

void
corpus_scenario()
{
	corpus_keep(make_arena());
	corpus_lose("arena");
	make_arena();
}
