// std::unordered_map and _set: buckets point at the node before their first.
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tests/corpus/support/corpus.h"

struct cache {
	std::unordered_map<std::string, std::unordered_set<int> *> sets;
	std::unordered_multimap<int, std::string> texts;
};

static NOINLINE cache *
make_cache(int n)
{
	auto *all = new cache;

	for (int i = 0; i < n; i++) {
		auto *set = new std::unordered_set<int>;
		for (int j = 0; j < i; j++)
			set->insert(j * 1001);
		all->sets.emplace("key " + std::string(i, 'k'), set);
		all->texts.emplace(i % 3, std::string(30, 't'));
	}
	corpus_use(all);
	return all;
}

static NOINLINE void
forget_value(cache *all)
{
	lose_scope scope("value");
	auto *set = new std::unordered_set<int>;
	for (int j = 0; j < 30; j++)
		set->insert(j);
	all->sets["replaced"] = set;
	all->sets.erase("replaced");
}

void
corpus_scenario()
{
	cache *kept = make_cache(12);

	corpus_keep(kept);
	forget_value(kept);
	corpus_lose("cache");
	make_cache(12);
}
