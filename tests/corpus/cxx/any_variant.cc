// std::any, variant, optional, tuple: pointers at odd places in an object.
#include <any>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "tests/corpus/support/corpus.h"

struct value;
using object = std::map<std::string, value>;

struct value {
	std::variant<int, std::string, std::vector<value>, object> v;
	std::any extra;
	std::optional<std::tuple<char, int *>> note;
};

static NOINLINE value *
make_value(int depth)
{
	auto *all = new value;

	if (depth == 0) {
		all->v = std::string(40, 'v');
		all->extra = std::vector<int>(12);
	} else {
		object members;
		members["a member of that object"].v = depth;
		value *inner = make_value(depth - 1);
		members["b"] = std::move(*inner);
		delete inner;
		all->v = std::move(members);
		all->extra = make_value(0);
	}
	all->note = std::make_tuple('n', new int(depth));
	corpus_use(all);
	return all;
}

void
corpus_scenario()
{
	corpus_keep(make_value(3));
	corpus_lose("value");
	make_value(3);
}
