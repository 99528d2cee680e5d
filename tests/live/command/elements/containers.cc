/*
 * Containers of all kinds that hold sessions. Each line of the output is the
 * address of the buffer of one session, and how the path to it begins.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tests/support/hide.h"

#define NOINLINE __attribute__((noinline))

struct Session {
	long id;
	char *buffer;
	explicit Session(long number)
	    : id(number)
	    , buffer(static_cast<char *>(malloc(4096)))
	{
		memset(buffer, 'a', 4095);
		buffer[4095] = '\0';
	}
};

struct Cache {
	int count;
	std::map<std::string, Session *> sessions;
};

enum class Color { red = -1, blue = 7 };

struct Base {
	virtual ~Base() = default;
	short kind = 4;
};

struct Route : Base {
	unsigned prefix;
	struct {
		char name[8];
		double weight;
	} hop;
	std::string via;
	unsigned up : 1;
	static int count;
	bool operator<(const Route &other) const
	{
		return prefix < other.prefix;
	}
};

int Route::count;

struct Point {
	int x, y;
	bool operator==(const Point &other) const
	{
		return x == other.x && y == other.y;
	}
};

struct PointHash {
	size_t operator()(const Point &point) const
	{
		return static_cast<size_t>(point.x + point.y);
	}
};

/* More parts than are shown. */
struct Many {
	int parts[3];
	int a, b, c, d, e, f, g, h;
	bool operator<(const Many &other) const { return a < other.a; }
};

static const char *long_name = "a name of more characters than fit into a path "
			       "of one line";

static Cache cache;
static std::vector<Cache> caches;
static std::unordered_map<int, std::unique_ptr<Session>> by_id;
static std::unordered_map<std::string, Session> by_name;
static std::map<long long, Session> by_number;
static std::map<unsigned char, Session *> by_byte;
static std::map<Color, Session *> by_color;
static std::map<const char *, Session *> by_text;
static std::map<std::pair<int, int>, Session *> by_pair;
static std::map<Route, Session *> by_route;
static std::unordered_map<Point, Session, PointHash> by_point;
static std::map<std::tuple<char, std::string, long>, Session *> by_tuple;
static std::map<std::string_view, Session *> by_view;
static std::map<float, Session *> by_float;
static std::map<Many, Session *> by_many;
static std::set<std::pair<int, Session *>> pairs;
static std::map<std::string, std::map<int, Session *>> nested;
static std::vector<Session *> list;
static std::vector<Session> values;
static std::deque<Session *> queue;
static std::deque<Session> queued;
static std::deque<Session *> shifted;

static void
tell(const Session *session, const char *path)
{
	printf("%p %s\n", static_cast<void *>(session->buffer), path);
}

static NOINLINE void
fill_route()
{
	Route route;

	route.prefix = 10;
	memset(route.hop.name, 0, sizeof(route.hop.name));
	strcpy(route.hop.name, "eth0");
	route.hop.weight = 2.5;
	route.via = "a gateway that is far away from here";
	route.up = 1;
	by_route[route] = new Session(80);
}

static NOINLINE void
fill_maps()
{
	const char *names[] = { "alice", "bob", "carol", "dave", "erin" };

	for (const char *name : names)
		cache.sessions[name] = new Session(1);
	cache.sessions[long_name] = new Session(2);
	caches.resize(2);
	caches[1].sessions["frank"] = new Session(2);
	for (int i = 0; i < 50; i++)
		by_id[i * 100 - 50] = std::make_unique<Session>(10 + i);
	by_name.emplace("grace", 20);
	for (int i = -3; i < 3; i++)
		by_number.emplace(i * 10000000000ll, 25);
	by_byte[200] = new Session(30);
	by_color[Color::red] = new Session(31);
	by_text["heidi"] = new Session(71);
	by_pair[{ 1, 2 }] = new Session(72);
	nested["outer"][7] = new Session(73);
	by_point.emplace(Point { 5, -6 }, 74);
	by_tuple[{ 'a', "ivan", 9 }] = new Session(75);
	by_view["judy"] = new Session(76);
	by_float[0.1f] = new Session(77);
	by_many[Many {}] = new Session(78);
	pairs.insert({ 3, new Session(79) });
	fill_route();
}

static NOINLINE void
fill_rows()
{
	for (int i = 0; i < 5; i++)
		list.push_back(new Session(30 + i));
	values.reserve(4);
	for (int i = 0; i < 4; i++)
		values.emplace_back(40 + i);
	for (int i = 0; i < 200; i++)
		queue.push_back(nullptr);
	for (int i = 0; i < 100; i++)
		queue.pop_front();
	for (int i = 0; i < 300; i++)
		queue.push_back(new Session(50));
	for (int i = 0; i < 60; i++)
		queued.emplace_back(60 + i);
	for (int i = 0; i < 3000; i++)
		shifted.push_back(new Session(51));
	for (int i = 0; i < 2100; i++) {
		free(shifted.front()->buffer);
		delete shifted.front();
		shifted.pop_front();
	}
}

static NOINLINE void
tell_maps()
{
	tell(cache.sessions["alice"], "cache .sessions[\"alice\"] ");
	tell(cache.sessions["erin"], "cache .sessions[\"erin\"] ");
	tell(cache.sessions[long_name],
	    "cache .sessions[\"a name of more characters than fit into a path o..."
	    "] ");
	tell(caches[1].sessions["frank"], "caches [1].sessions[\"frank\"] ");
	tell(by_id[250].get(), "by_id [250] ");
	tell(by_id[-50].get(), "by_id [-50] ");
	tell(&by_name.at("grace"), "by_name [\"grace\"].buffer ");
	tell(&by_number.at(-20000000000), "by_number [-20000000000].buffer ");
	tell(&by_number.at(20000000000), "by_number [20000000000].buffer ");
	tell(by_byte[200], "by_byte [200] ");
	tell(by_color[Color::red], "by_color [-1] ");
	tell(by_text.begin()->second, "by_text [\"heidi\"] ");
	tell(by_pair[{ 1, 2 }], "by_pair [{1, 2}] ");
	tell(by_route.begin()->second,
	    "by_route [{kind = 4, prefix = 10, hop.name = \"eth0\","
	    " hop.weight = 2.5, via = \"a gateway that is far away from"
	    " here\", up = ?}] ");
	tell(&by_point.begin()->second, "by_point [{x = 5, y = -6}].buffer ");
	tell(by_tuple.begin()->second, "by_tuple [{97, \"ivan\", 9}] ");
	tell(by_view.begin()->second, "by_view [\"judy\"] ");
	tell(by_float.begin()->second, "by_float [0.1] ");
	tell(by_many.begin()->second, "by_many "); /* no key is shown */
	tell(pairs.begin()->second, "pairs [{3, ?}] ");
	tell(nested["outer"][7], "nested [\"outer\"][7] ");
}

static NOINLINE void
tell_rows()
{
	tell(list[3], "list [3] ");
	tell(&values[2], "values [2].buffer ");
	tell(queue[100], "queue [100] ");
	tell(queue[370], "queue [370] ");
	tell(&queued[42], "queued [42].buffer ");
	tell(shifted[0], "shifted [0] ");
	tell(shifted[899], "shifted [899] ");
}

/* No old pointer is left in a register or on the stack. */
int
main()
{
	fill_maps();
	fill_rows();
	tell_maps();
	tell_rows();
	puts("ready");
	fflush(stdout);
	scrub_stack();
	return getchar() == EOF ? 0 : 1;
}
