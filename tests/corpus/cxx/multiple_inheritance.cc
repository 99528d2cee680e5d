// Only a pointer to the second base is kept: it points into the object.
#include <memory>
#include <vector>

#include "tests/corpus/support/corpus.h"

struct first {
	virtual ~first() = default;
	long a[3] = {};
};

struct second {
	virtual ~second() = default;
	int *b = new int(2);
};

struct both : first, second {
	std::vector<second *> others;
};

static NOINLINE second *
make(int n)
{
	auto *object = new both;

	for (int i = 0; i < n; i++)
		object->others.push_back(make(0));
	corpus_use(object);
	return object;
}

void
corpus_scenario()
{
	corpus_keep(make(4));
	corpus_lose("object");
	make(4);
}
