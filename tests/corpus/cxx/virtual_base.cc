// Virtual bases lie behind the object; only they are pointed to.
#include <string>

#include "tests/corpus/support/corpus.h"

struct base {
	virtual ~base() = default;
	base *next = nullptr;
	std::string name = std::string(20, 'v');
};

struct left : virtual base {
	long l[4] = {};
};

struct right : virtual base {
	long r[5] = {};
};

struct diamond : left, right {
	int *extra = new int(3);
};

static NOINLINE base *
make_chain(int n)
{
	base *chain = nullptr;

	while (n-- > 0) {
		base *link = n % 2 != 0 ? static_cast<base *>(new diamond)
					: static_cast<base *>(new left);
		link->next = chain;
		chain = link;
		corpus_use(chain);
	}
	return chain;
}

void
corpus_scenario()
{
	corpus_keep(make_chain(6));
	corpus_lose("chain");
	make_chain(6);
}
