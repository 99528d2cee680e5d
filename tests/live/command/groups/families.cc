/*
 * A program that loses families of blocks, each of which is one group: each
 * line of its output is an address, and the name of its family. It ends with
 * "ready", and waits for the end of its input.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "tests/support/hide.h"

#define MOST 4096

static struct {
	uintptr_t hidden;
	const char *family;
} lost[MOST];
static size_t num_lost;

static void
lose(const void *block, const char *family)
{
	lost[num_lost].hidden = mu_hide(block);
	lost[num_lost++].family = family;
}

struct session {
	virtual ~session()
	{
	}
	char pad[40];
	char *name;
	void *buffers[3];
};

struct node {
	struct node *next, *before;
	long value;
};

struct head {
	struct node *first, *last;
	long words[6];
};

struct pair {
	long words[9];
	void *common;
};

/* Of two sizes. */
__attribute__((noinline)) static void
lose_plain()
{
	for (int i = 0; i < 300; i++)
		lose(calloc(1, 56), "plain 56");
	for (int i = 0; i < 200; i++)
		lose(calloc(1, 104), "plain 104");
}

__attribute__((noinline)) static void
lose_sessions()
{
	for (int i = 0; i < 10; i++) {
		auto *one = new session;

		one->name = (char *)calloc(1, 8 + 7 * i);
		memcpy(one->name, "SHELL=/", 7);
		memset(one->name + 7, 'x', 7 * i);
		for (auto &buffer : one->buffers)
			buffer = calloc(1, 500);
		lose(one, "session");
	}
}

/* Chains of nodes, the last of which has no next one. */
__attribute__((noinline)) static void
lose_chains()
{
	for (int i = 2; i < 20; i++) {
		void **first = nullptr;

		for (int j = 0; j < i; j++) {
			auto **one = (void **)calloc(1, 72);

			one[2] = first;
			first = one;
		}
		lose(first, "chain");
	}
}

__attribute__((noinline)) static void *
make(size_t size)
{
	void *volatile made = calloc(1, size);

	return made;
}

/* Rings with a header, which may be at a higher address than its nodes. */
__attribute__((noinline)) static void
lose_rings()
{
	struct node *made[32];

	for (int i = 1; i < 20; i++) {
		int place = i % 2 * (i + 1), count = i + 1;
		struct head *head = nullptr;

		for (int j = 0; j <= count; j++) {
			if (j == place)
				head = (struct head *)make(sizeof(*head));
			else
				made[j - (j > place)] =
				    (struct node *)make(sizeof(struct node));
		}
		for (int j = 0; j < count; j++) {
			made[j]->before =
			    j > 0 ? made[j - 1] : (struct node *)head;
			made[j]->next =
			    j + 1 < count ? made[j + 1] : (struct node *)head;
		}
		head->first = made[0];
		head->last = made[count - 1];
		lose(head, "ring");
	}
}

/* What both of a pair lead to is one block. */
__attribute__((noinline)) static void
lose_pairs()
{
	for (int i = 0; i < 12; i++) {
		void *common = calloc(1, 1000);
		auto *one = (struct pair *)calloc(1, sizeof(pair));
		auto *other = (struct pair *)calloc(1, 2 * sizeof(pair));

		one->common = other->common = common;
		lose(one, "one of a pair");
		lose(other, "the other of a pair");
	}
}

template <class container, class fill>
__attribute__((noinline)) static void
lose_containers(const char *family, fill add)
{
	for (int i = 2; i < 30; i++) {
		auto *one = new container;

		for (int j = 0; j < i * i; j++)
			add(*one, j);
		lose(one, family);
	}
}

/* Strings fill their blocks: behind them could be an old word. */
__attribute__((noinline)) static void
lose_all()
{
	using std::string;

	lose_plain();
	lose_sessions();
	lose_chains();
	lose_rings();
	lose_pairs();
	lose_containers<std::vector<int>>("vector of int",
	    [](std::vector<int> &to, int i) { to.push_back(i); });
	lose_containers<std::vector<string *>>(
	    "vector of pointers", [](std::vector<string *> &to, int i) {
		    to.push_back(new string(39 + 16 * (i % 20), 'a'));
	    });
	lose_containers<std::list<long>>(
	    "list", [](std::list<long> &to, int i) { to.push_back(i); });
	lose_containers<std::map<int, string>>("map",
	    [](std::map<int, string> &to, int i) { to[i] = string(39, 'b'); });
	lose_containers<std::set<double>>(
	    "set", [](std::set<double> &to, int i) { to.insert(i); });
}

int
main(int argc, char **)
{
	char byte;

	lose_all();
	scrub_stack();
	for (size_t i = 0; i < num_lost; i++)
		printf("0x%lx %s\n", (unsigned long)~lost[i].hidden,
		    lost[i].family);
	puts("ready");
	fflush(stdout);
	while (argc == 1 && read(0, &byte, 1) > 0)
		continue;
	return 0;
}
