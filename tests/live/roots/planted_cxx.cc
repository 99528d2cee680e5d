/*
 * Loses 1,000 blocks amid the work of containers and strings of C++, and says
 * how many of them are found: see victim_planted.c. Built by planted.sh.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <malloc.h>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/support/pass/planted_ask.h"

namespace
{

/* An object with two vtables: pointers to the second are interior ones. */
struct Named {
	virtual ~Named() = default;
	std::string name;
};
struct Counted {
	virtual ~Counted() = default;
	virtual size_t count() const = 0;
};
struct Table : Named, Counted {
	std::unordered_map<std::string, std::vector<int>> rows;
	size_t count() const override
	{
		return rows.size();
	}
};

struct Work {
	uint64_t state;
	std::map<unsigned, std::string> texts;
	std::vector<std::shared_ptr<Counted>> tables;
	std::list<std::string> lines;
	std::deque<std::unique_ptr<std::string>> queue;

	size_t below(size_t limit)
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return static_cast<size_t>(state >> 16) % limit;
	}
	void round();
};

__attribute__((noinline)) void
Work::round()
{
	size_t kind = below(8);

	texts[static_cast<unsigned>(below(2000))] +=
	    std::string(below(40), 'a');
	if (kind == 0)
		texts.erase(static_cast<unsigned>(below(2000)));
	if (kind == 1) {
		auto table = std::make_shared<Table>();
		table->name = std::string(below(60), 'b');
		for (size_t i = below(20); i > 0; i--)
			table->rows[std::to_string(below(1000))].push_back(1);
		tables.push_back(table);
	}
	if (kind == 2 && tables.size() > 100)
		tables.erase(
		    tables.begin() + static_cast<long>(below(tables.size())));
	if (kind == 3)
		lines.emplace_back(below(300), 'c');
	if (kind == 4 && lines.size() > 200)
		lines.pop_front();
	if (kind == 5)
		queue.emplace_back(new std::string(below(100), 'd'));
	if (kind == 6 && queue.size() > 300)
		queue.pop_front();
	if (kind == 7 && below(100) == 0)
		texts.clear();
}

__attribute__((noinline)) void
lose(Work &work, size_t index)
{
	size_t size = 1 + work.below(work.below(2) == 0 ? 64 : 1000);
	char *block = new char[size];

	memset(block, PLANTED_BYTE, malloc_usable_size(block));
	planted[index] = mu_hide(block);
}

} // namespace

int
main(int argc, char **argv)
{
	size_t lost = 0, rounds = 60000, i;
	static std::unique_ptr<Work> work(new Work());

	work->state = 0x9e3779b97f4a7c15u +
	    static_cast<uint64_t>(argc > 1 ? atoi(argv[1]) : 1);
	for (i = 0; i < rounds; i++) {
		work->round();
		if (i > rounds / 4 && lost < PLANTED &&
		    (i - rounds / 4) * 2 * PLANTED / rounds > lost)
			lose(*work, lost++);
	}
	scrub_stack();
	return planted_ask();
}
