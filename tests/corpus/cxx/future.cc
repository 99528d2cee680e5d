// std::promise, packaged_task and async: state that both ends share.
#include <future>
#include <string>

#include "tests/corpus/support/corpus.h"

using text = std::string;

static std::future<text> waits, done;

static NOINLINE void
keep_some()
{
	auto *promise = new std::promise<text>;

	corpus_keep(promise);
	waits = promise->get_future();
	done = std::async(
	    std::launch::deferred, [p = text(70, 'p')] { return p + p; });
}

static NOINLINE void
lose_some()
{
	auto *promise = new std::promise<text>;
	promise->set_value(text(80, 'v'));
	auto *result = new std::future<text>(promise->get_future());
	corpus_use(result);

	auto *task = new std::packaged_task<text(int)>(
	    [p = text(60, 't')](int n) { return p + text(n, 'u'); });
	(*task)(50);
	corpus_use(task);

	auto *later = new std::shared_future<text>(
	    std::async(std::launch::deferred, [] { return text(9, 'w'); }));
	corpus_use(later);
}

static NOINLINE void
run_async()
{
	auto *result = new std::future<int>(
	    std::async(std::launch::async, [] { return 5; }));
	result->wait();
	corpus_use(result);
	delete result;
}

void
corpus_scenario()
{
	keep_some();
	run_async();
	corpus_lose("state");
	lose_some();
}
