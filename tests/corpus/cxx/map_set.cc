// std::map, set and multimap: trees with the header inside the container.
#include <map>
#include <set>
#include <string>

#include "tests/corpus/support/corpus.h"

struct index {
	std::map<int, std::string> names;
	std::multimap<long, int *> numbers;
	std::set<std::string> words;
};

static NOINLINE struct index *
make_index(int n)
{
	auto *all = new struct index;

	for (int i = 0; i < n; i++) {
		all->names[i * 7 % n] = std::string(10 + i * 2 % 20, 'x');
		all->numbers.emplace(i / 2, new int(i));
		all->words.insert(std::string(5 + i, 'y'));
	}
	corpus_use(all);
	return all;
}

static NOINLINE void
erase_pointers(struct index *all)
{
	lose_scope scope("value");
	for (int i = 100; i < 105; i++)
		all->numbers.emplace(i, new int(i));
	for (int i = 100; i < 105; i++)
		all->numbers.erase(i);
}

void
corpus_scenario()
{
	auto *kept = make_index(25);

	corpus_keep(kept);
	erase_pointers(kept);
	corpus_lose("index");
	make_index(25);
}
