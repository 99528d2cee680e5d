// Containers of every kind, in objects that are lost and that are held.
#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "told.hh"

namespace store
{

struct Point {
	double x = 1.5, y = 2.5, z = 3.5;
};

struct Shelf {
	std::string name = "a shelf with a long name, and more";
	std::vector<Point> points;
	std::vector<std::string> labels;
	std::vector<std::vector<int>> rows;
	std::deque<Point> queue;
};

struct Index {
	std::map<std::string, Point> by_name;
	std::set<long> numbers;
	std::multimap<int, std::string> many;
	std::unordered_map<int, Shelf *> shelves;
	std::unordered_set<std::string> words;
};

struct Lists {
	std::list<Point> points;
	std::forward_list<Point> forward;
	std::stack<Point> stack;
	std::priority_queue<long> first;
	std::array<std::string, 3> names;
};

} // namespace store

using namespace store;

static Index held_index;
static Lists held_lists;
static std::vector<Shelf *> held_shelves;

static Shelf *
make_shelf(const char *what)
{
	auto shelf = tell_new(what, "store::Shelf", new Shelf);

	tell(what, shelf->name.data(), "char[*]");
	shelf->points.resize(10);
	tell(what, shelf->points.data(), "store::Point[10]|elements of a std::vector");
	for (int i = 0; i < 5; i++) {
		shelf->labels.push_back("a label that needs a block, number " +
		    std::to_string(i));
		shelf->rows.emplace_back(20 + i, i);
		shelf->queue.emplace_back();
	}
	return shelf;
}

static void
fill_index(Index &index, const char *what)
{
	for (int i = 0; i < 12; i++) {
		index.by_name["a name that is longer than fifteen " +
		    std::to_string(i)];
		index.numbers.insert(i * 7);
		index.many.emplace(i, "a value longer than fifteen letters");
		index.shelves[i] = make_shelf(what);
		index.words.insert("a word that is longer than fifteen " +
		    std::to_string(i));
	}
}

static void
fill_lists(Lists &lists)
{
	for (int i = 0; i < 12; i++) {
		lists.points.emplace_back();
		lists.forward.emplace_front();
		lists.stack.emplace();
		lists.first.push(i);
	}
	for (auto &name : lists.names)
		name = "a name in an array, longer than fifteen";
}

static __attribute__((noinline)) void
fill()
{
	fill_index(held_index, "held");
	fill_lists(held_lists);
	for (int i = 0; i < 4; i++)
		held_shelves.push_back(make_shelf("held"));
	for (int i = 0; i < 3; i++) {
		auto index = tell_new("lost", "store::Index", new Index);
		fill_index(*index, "lost");
		mu_hide(index);
		auto lists = tell_new("lost", "store::Lists", new Lists);
		fill_lists(*lists);
		mu_hide(lists);
		mu_hide(make_shelf("lost"));
	}
}

int
main()
{
	also("std::string[*]");
	also("std::vector<int>[*]");
	also("int[*]");
	also("long[*]");
	also("store::Point[*]");
	also("store::Point*[*]");
	also("store::Shelf*[*]");
	also("std::*node of *");
	also("std::* buckets*");
	also("std::_*node*");
	also("std::__*node*");
	also("*deque*");
	also("std::map*");
	also("std::unordered_*");
	also("elements of a std::*");
	also("std::list node");
	fill();
	keep(held_index);
	keep(held_lists);
	keep(held_shelves);
	return stay();
}
