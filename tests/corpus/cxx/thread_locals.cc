// thread_local objects are destroyed with their thread, plain pointers are not.
#include <string>
#include <thread>
#include <vector>

#include "tests/corpus/support/corpus.h"

static thread_local std::vector<std::string> strings;
static thread_local std::string *plain;

static NOINLINE void
fill()
{
	for (size_t i = 0; i < 10; i++)
		strings.push_back(std::string(20 + i, 'l'));
	plain = new std::string(55, 'p');
	corpus_use(&plain);
}

static NOINLINE void
run_and_end()
{
	lose_scope scope("plain");
	fill();
}

static NOINLINE void
run_and_stay()
{
	fill();
	corpus_park();
}

static NOINLINE void
start_threads()
{
	std::thread(run_and_stay).detach();
	corpus_await_parked(1);
	for (int i = 0; i < 3; i++)
		std::thread(run_and_end).join();
}

void
corpus_scenario()
{
	fill();
	start_threads();
}
