/*
 * What a program in C++ holds: objects with and without virtual functions, and
 * the nodes and buffers of all kinds of containers.
 */
#include <cstdlib>
#include <cstring>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "tests/live/command/declared/told.h"

namespace shop
{

struct Plain {
	double weight[7];
	Plain *next = nullptr;
};

struct Session {
	char *buffer = nullptr;
	std::string user;
	int id[10] = {};
	Plain *plain = nullptr;
	std::vector<int> numbers;
};

struct Shape {
	virtual ~Shape()
	{
	}
	Plain *owned = nullptr;
	char more[100] = {};
};

struct Circle : Shape {
	std::string title;
	long radius[4] = {};
};

struct Second {
	virtual void act()
	{
	}
	virtual ~Second()
	{
	}
	long pad[30] = {};
};

struct Both : Shape, Second {
	Plain *extra = nullptr;
};

struct Cache {
	int hits = 0;
	std::map<std::string, Session *> sessions;
};

struct Node {
	std::unique_ptr<Node> left, right;
	std::shared_ptr<Plain> shared;
	long key[9] = {};
};

} // namespace shop

using namespace shop;

Cache cache;
static std::vector<Session> sessions;
static std::list<Plain> list;
static std::forward_list<Plain> forward;
static std::unordered_map<int, Session> hash;
static std::unordered_set<std::string> words;
static std::set<long> numbers;
static std::deque<Plain> queue;
static std::vector<std::unique_ptr<Shape>> shapes;
static Second *second;
static std::shared_ptr<Plain> made, given;
static std::optional<std::vector<long>> maybe;
static std::optional<std::vector<double>> past; /* was reset */
static void *later;
static std::variant<int, std::vector<Plain>> either;
static std::unique_ptr<Node> tree;
static Plain *table[32];
static std::vector<std::vector<Plain *>> rows;
static thread_local Plain *of_thread;
static std::function<long()> function;
static struct {
	std::map<int, Plain> inner;
} outer[3];

static Plain *
make(int count)
{
	Plain *first = nullptr, *plain;

	for (; count > 0; count--) {
		plain = static_cast<Plain *>(told(new Plain, "shop::Plain"));
		plain->next = first;
		first = plain;
	}
	return first;
}

static void
fill_session(Session *session)
{
	session->buffer = static_cast<char *>(calloc(1, 4096));
	told(session->buffer, "char[*]");
	session->user = "a name that has more than fifteen letters";
	told(&session->user[0], "char[*]");
	session->plain = make(2);
	session->numbers.resize(100);
	told(session->numbers.data(), "int[100]");
}

static std::unique_ptr<Node>
grow(int depth)
{
	auto node = std::make_unique<Node>();

	told(node.get(), "shop::Node");
	if (depth > 0) {
		node->left = grow(depth - 1);
		node->right = grow(depth - 1);
		node->shared = std::make_shared<Plain>();
	}
	return node;
}

static void
fill_containers()
{
	for (int i = 0; i < 20; i++) {
		auto session = new Session;
		told(session, "shop::Session");
		fill_session(session);
		cache.sessions["a key with more than fifteen letters " +
		    std::to_string(i)] = session;
	}
	sessions.resize(7);
	for (auto &session : sessions)
		fill_session(&session);
	told(sessions.data(), "shop::Session[7]");
	for (int i = 0; i < 11; i++) {
		list.emplace_back();
		list.back().next = make(1);
		forward.emplace_front();
		forward.front().next = make(1);
		queue.emplace_back();
		queue.back().next = make(1);
		words.insert("a word with more than fifteen letters " +
		    std::to_string(i));
	}
	for (int i = 0; i < 50; i++)
		fill_session(&hash[i]);
	for (int i = 0; i < 30; i++)
		numbers.insert(i);
}

static void
fill_objects()
{
	for (int i = 0; i < 10; i++) {
		auto circle = new Circle;
		told(circle, "shop::Circle");
		circle->owned = make(1);
		circle->title = "a title of more than fifteen letters";
		shapes.emplace_back(circle);
	}
	auto both = new Both;
	told(both, "shop::Both");
	both->extra = make(1);
	second = both;
	made = std::make_shared<Plain>();
	made->next = make(2);
	given = std::shared_ptr<Plain>(make(1));
	maybe.emplace();
	maybe->resize(40);
	told(maybe->data(), "long[40]");
	past.emplace(50);
	past.reset();
	later = memset(told(malloc(400), "char[*]"), 'x', 399);
	either = std::vector<Plain>(5);
	told(std::get<1>(either).data(), "shop::Plain[5]");
	tree = grow(4);
	for (auto &plain : table)
		plain = make(1);
	rows.resize(3);
	for (auto &row : rows)
		for (int i = 0; i < 8; i++)
			row.push_back(make(1));
	of_thread = make(3);
	for (int i = 0; i < 3; i++)
		outer[i].inner[i].next = make(1);
	long big[20] = {};
	function = [big] { return big[3]; };
}

static __attribute__((noinline)) void
serve()
{
	static Plain *inside;
	std::vector<Plain *> local;

	inside = make(2);
	for (int i = 0; i < 9; i++)
		local.push_back(make(1));
	stay();
	if (local.size() == 7)
		abort();
}

int
main()
{
	fill_containers();
	fill_objects();
	serve();
}
