// std::string: short ones point into themselves, long ones to a block.
#include <string>
#include <vector>

#include "tests/corpus/support/corpus.h"

struct texts {
	std::string one_long = std::string(200, 'a');
	std::string one_short = "short";
	std::vector<std::string> many;
	std::u16string wide = std::u16string(50, u'w');
};

static NOINLINE texts *
make_texts()
{
	auto *all = new texts;

	for (size_t i = 0; i < 40; i++)
		all->many.push_back(std::string(i, 'm'));
	all->one_long += all->one_long;
	all->one_short.swap(all->many[30]);
	corpus_use(all);
	return all;
}

void
corpus_scenario()
{
	corpus_keep(make_texts());
	corpus_lose("text");
	make_texts();
	corpus_lose("short");
	corpus_use(new std::string("sso"));
}
