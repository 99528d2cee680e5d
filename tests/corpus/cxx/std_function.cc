// std::function: large closures lie in a block, small ones in the function.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/corpus/support/corpus.h"

using callback = std::function<int()>;

static NOINLINE std::vector<callback> *
make_callbacks()
{
	auto *all = new std::vector<callback>;
	auto shared = std::make_shared<std::array<int, 50>>();

	all->emplace_back([] { return 1; });
	all->emplace_back([p = new int(2)] { return *p; });
	all->emplace_back([s = std::string(90, 's'), shared] {
		return static_cast<int>(s.size()) + (*shared)[0];
	});
	all->emplace_back(
	    std::bind([](const callback &f) { return f(); }, (*all)[2]));
	for (const callback &f : *all)
		f();
	return all;
}

// A callback that owns itself.
static NOINLINE void
make_self_owner()
{
	auto owner = std::make_shared<callback>();

	*owner = [owner] { return owner ? 1 : 0; };
	(*owner)();
}

void
corpus_scenario()
{
	corpus_keep(make_callbacks());
	corpus_lose("callback");
	make_callbacks();
	corpus_lose("self");
	make_self_owner();
}
