// std::thread, joined and detached; the detached one still runs.
#include <string>
#include <thread>
#include <vector>

#include "tests/corpus/support/corpus.h"

static std::thread *joined;

static NOINLINE void
work()
{
	auto *list = new std::vector<std::string>;

	for (size_t i = 10; i < 30; i++)
		list->push_back(std::string(i, 'w'));
	corpus_use(list);
}

static NOINLINE void
start_threads()
{
	joined = new std::thread(
	    [](std::string arg) {
		    corpus_use(arg.data());
		    lose_scope scope("joined");
		    work();
	    },
	    std::string(100, 'a'));
	joined->join();
	std::thread(
	    [](std::string arg) {
		    corpus_use(arg.data());
		    corpus_lose("detached");
		    work();
		    corpus_lose_end();
		    corpus_park();
	    },
	    std::string(200, 'b'))
	    .detach();
	corpus_await_parked(1);
}

void
corpus_scenario()
{
	start_threads();
	corpus_lose("handle");
	corpus_use(new std::thread); // not one that runs: that would abort
}
