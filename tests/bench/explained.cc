/* Holds so many blocks: a list, and a map that leads to each of its items. */
#include <cstdio>
#include <cstdlib>
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

int
main(int argc, char **argv)
{
	long i, count = argc > 1 ? std::atol(argv[1]) / 2 : 0;
	char byte;

	for (i = 0; i < count; i++) {
		auto item = new Item();
		item->next = list;
		list = index_of[i] = item;
	}
	std::puts("ready");
	std::fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
}
