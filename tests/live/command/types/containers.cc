// What containers of the C++ library lose when they are forgotten.
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lost.h"

namespace shop
{

struct Plain {
	int x = 1;
	long y = 2;
	Plain *next = nullptr;
	std::string name = "a name that is in a block";
};

struct Pair {
	Plain *first = nullptr;
	const char *label = "a label";
	unsigned count = 3;
};

} // namespace shop

// What the word at byte AT of CONTAINER points to.
template <class Container>
static void *
pointed(Container *container, size_t at)
{
	void *block;

	memcpy(&block, reinterpret_cast<char *>(container) + at, sizeof(block));
	return block;
}

// The places are those of libstdc++, and of libc++ where they differ.
#ifdef _LIBCPP_VERSION
enum { TREE = 8, LIST = 8, HASH = 16, VECTOR = 0 };
#else
enum { TREE = 16, LIST = 0, HASH = 16, VECTOR = 0 };
#endif

static __attribute__((noinline)) void
lose_nodes()
{
	static char room[8][64];
	auto *map = new (room[0]) std::map<int, shop::Plain>;
	auto *list = new (room[1]) std::list<shop::Plain>(3);
	auto *hash = new (room[2]) std::unordered_map<int, std::string>;
	auto *vector = new (room[3]) std::vector<shop::Plain>(5);
	auto *forward = new (room[4]) std::forward_list<int>(5, 3);
	auto *set = new (room[5]) std::set<std::string>;

	(*map)[7];
	(*hash)[8] = "a longer text in a hash table";
	set->insert("a longer text in a set");
	lose(pointed(map, TREE),
	    "std::map or std::set node of pair<int const, shop::Plain>");
	lose(pointed(list, LIST), "std::list node of shop::Plain");
	lose(pointed(hash, HASH),
	    "std::unordered_map or std::unordered_set node of "
	    "pair<int const, std::string>");
	lose(pointed(vector, VECTOR), "shop::Plain[5]");
	lose(pointed(forward, 0), "std::forward_list node of int");
	lose(pointed(set, TREE), "std::map or std::set node of std::string");
	memset(room, 0, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
}

static __attribute__((noinline)) void
lose_objects()
{
	auto *pair = new shop::Pair;

	pair->first = new shop::Plain;
	lose(pair, "shop::Pair");
	lose(new shop::Plain, "shop::Plain");
	lose(new std::string("a longer text of a string"), "std::string");
	lose(new std::vector<int>(20), "std::vector<int>");
	lose(new std::map<int, int>{ { 1, 2 } }, "std::map<int, int>");
}

int
main(int argc, char **)
{
	lose_nodes();
	lose_objects();
	return tell_lost(argc);
}
