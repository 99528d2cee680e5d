// std::shared_ptr in a cycle, as the owners of each other; a kept one, too.
#include <memory>
#include <string>
#include <vector>

#include "tests/corpus/support/corpus.h"

struct person : std::enable_shared_from_this<person> {
	std::string name = "a name that is longer than fifteen";
	std::vector<std::shared_ptr<person>> friends;
	std::shared_ptr<person> partner;
};

static std::shared_ptr<person> kept;

static NOINLINE std::shared_ptr<person>
make_couple()
{
	auto a = std::make_shared<person>();
	std::shared_ptr<person> b(new person);

	a->partner = b;
	b->partner = a;
	for (int i = 0; i < 3; i++) {
		a->friends.push_back(std::make_shared<person>());
		a->friends.back()->friends.push_back(b->shared_from_this());
	}
	return a;
}

static NOINLINE void
lose_couple()
{
	make_couple();
}

void
corpus_scenario()
{
	kept = make_couple();
	corpus_lose("person");
	lose_couple();
}
