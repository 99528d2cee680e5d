// std::regex: an automaton that shared_ptr holds, matches that point into it.
#include <regex>
#include <string>

#include "tests/corpus/support/corpus.h"

struct matcher {
	std::regex re { "(\\w+)@(\\w+\\.)+(com|org)", std::regex::icase };
	std::string text = "someone@somewhere.example.org and others";
	std::smatch match;
};

static NOINLINE matcher *
make_matcher()
{
	auto *m = new matcher;

	if (!std::regex_search(m->text, m->match, m->re))
		corpus_use(m);
	return m;
}

void
corpus_scenario()
{
	corpus_keep(make_matcher());
	corpus_lose("matcher");
	make_matcher();
}
