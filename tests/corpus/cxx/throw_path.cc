// The way out by an exception goes past the delete.
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/corpus/support/corpus.h"

struct buffer {
	std::string name = std::string(50, 'n');
	char *data = new char[100];
	explicit buffer(int n)
	{
		// Its members are destroyed; what a plain pointer holds is not.
		if (n < 0)
			throw std::invalid_argument("a negative size, as "
						    "was to be expected");
	}
	~buffer()
	{
		delete[] data;
	}
	buffer(const buffer &) = delete;
	buffer &operator=(const buffer &) = delete;
};

static NOINLINE void
fail(int depth)
{
	if (depth == 0)
		throw std::runtime_error(std::string(100, 'e'));
	std::vector<int> freed(100);
	corpus_use(freed.data());
	fail(depth - 1);
}

static NOINLINE void
lose_by_throwing(int n)
{
	try {
		corpus_lose("buffer");
		auto *lost = new buffer(n);
		corpus_use(lost);
		corpus_lose_end();
		fail(5);
		delete lost;
	} catch (const std::exception &e) {
		corpus_lose_end();
		corpus_use(e.what());
	}
}

void
corpus_scenario()
{
	lose_by_throwing(1);
	lose_by_throwing(-1);
}
