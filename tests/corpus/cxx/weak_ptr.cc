// A weak_ptr keeps what counts, which make_shared() puts into the object's
// own block. Lost: a weak_ptr to itself, with what it keeps.
#include <memory>

#include "tests/corpus/support/corpus.h"

struct object {
	long values[20] = {};
	std::weak_ptr<object> self;
};

static std::weak_ptr<object> separate, together;

static NOINLINE void
make_weak()
{
	std::shared_ptr<object> a(new object);
	auto b = std::make_shared<object>();

	separate = a;
	together = b;
}

static NOINLINE void
lose_weak()
{
	auto *a = new std::shared_ptr<object>(new object);
	(*a)->self = *a;
	corpus_use(a);

	auto *weak = new std::weak_ptr<object>;
	*weak = std::make_shared<object>();
	corpus_use(weak);
}

void
corpus_scenario()
{
	make_weak();
	corpus_lose("object");
	lose_weak();
}
