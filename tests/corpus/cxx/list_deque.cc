// std::list, forward_list and deque: rings, chains, maps of pieces.
#include <deque>
#include <forward_list>
#include <list>
#include <queue>
#include <stack>

#include "tests/corpus/support/corpus.h"

struct queues {
	std::list<int> ring;
	std::forward_list<long *> chain;
	std::deque<short *> pieces;
	std::priority_queue<int> heap;
	std::stack<double> stack;
};

static NOINLINE queues *
make_queues(int n)
{
	auto *all = new queues;

	for (int i = 0; i < n; i++) {
		all->ring.push_back(i);
		all->chain.push_front(new long(i));
		all->pieces.push_back(new short(1));
		all->pieces.push_front(new short(2));
		all->heap.push(i * 17 % n);
		all->stack.push(i);
	}
	corpus_use(all);
	return all;
}

static NOINLINE void
pop_pointers(queues *all)
{
	{
		lose_scope scope("popped");
		all->chain.push_front(new long(1));
	}
	all->chain.pop_front();
}

void
corpus_scenario()
{
	queues *kept = make_queues(150);

	corpus_keep(kept);
	pop_pointers(kept);
	corpus_lose("queue");
	make_queues(150);
}
