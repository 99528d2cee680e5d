// std::vector of values, of pointers, of vectors; and a kept one that forgets.
#include <vector>

#include "tests/corpus/support/corpus.h"

using table = std::vector<std::vector<long *>>;

static NOINLINE table *
make_table(size_t n)
{
	auto *rows = new table;

	for (size_t i = 0; i < n; i++) {
		rows->emplace_back(i);
		for (long *&item : rows->back())
			item = new long(static_cast<long>(i));
	}
	corpus_use(rows);
	return rows;
}

static NOINLINE void
clear_elements(std::vector<long *> *items)
{
	lose_scope scope("element");
	items->reserve(100);
	corpus_kept(items->data());
	for (int i = 0; i < 20; i++)
		items->push_back(new long(i));
	items->assign(100, nullptr);
	corpus_use(items);
}

void
corpus_scenario()
{
	corpus_keep(make_table(10));
	auto *items = new std::vector<long *>;
	corpus_keep(items);
	clear_elements(items);
	corpus_lose("table");
	make_table(10);
}
