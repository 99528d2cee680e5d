/*
 * Holds so many blocks, "map": a list, and a map that leads to each of its
 * items; or has lost them, "lost": chains of four, hardly two of them alike.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>

struct Item {
	Item *next;
	long id;
	char *text;
	double weight[3];
};

static Item *list;
static std::map<long, Item *> index_of;

static __attribute__((noinline)) void
hold(long count)
{
	long i;

	for (i = 0; i < count; i++) {
		auto item = new Item();
		item->next = list;
		list = index_of[i] = item;
	}
}

/* A size of 32 for each block. */
static __attribute__((noinline)) void
lose(long count)
{
	void *next, *block;
	long i, level;
	size_t size;

	for (i = 0; i < count; i++) {
		next = nullptr;
		for (level = 0; level < 20; level += 5) {
			size = 24 + 16 * static_cast<size_t>(i >> level & 31);
			block = std::calloc(1, size);
			*static_cast<void *volatile *>(block) = next;
			next = block;
		}
	}
}

int
main(int argc, char **argv)
{
	long count = argc > 1 ? std::atol(argv[1]) : 0;
	char byte;

	if (argc > 2 && std::strcmp(argv[2], "lost") == 0)
		lose(count / 4);
	else
		hold(count / 2);
	std::puts("ready");
	std::fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
}
