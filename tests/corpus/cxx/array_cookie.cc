// new[] of what has a destructor: the program's pointer is 8 bytes behind the
// block's begin, where the count is. Of none elements: at the block's end.
#include <string>

#include "tests/corpus/support/corpus.h"

struct item {
	int *value = new int(5);
	item *next = nullptr;
	~item()
	{
		delete value;
	}
};

struct alignas(64) wide_item {
	std::string name = std::string(33, 'i');
};

static NOINLINE item *
make_items(size_t n)
{
	auto *items = new item[n];

	items[0].next = new item[2];
	corpus_use(items);
	return items;
}

static NOINLINE wide_item *
make_wide(size_t n)
{
	auto *items = new wide_item[n];

	corpus_use(items);
	return items;
}

static NOINLINE void
make_empty(size_t n)
{
	corpus_keep(new item[n]);
}

void
corpus_scenario()
{
	corpus_keep(make_items(7));
	corpus_keep(make_wide(3));
	corpus_lose("items");
	make_items(7);
	corpus_lose("wide");
	make_wide(3);
	corpus_lose_end();
	make_empty(0);
}
