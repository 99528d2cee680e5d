// Coroutines of C++20: a frame that is suspended is kept by its handle; one
// whose handle is gone is lost, with the locals in it.
#include "tests/corpus/support/corpus.h"

#ifdef __cpp_impl_coroutine
#include <coroutine>
#include <exception>
#include <memory>
#include <string>

struct generator {
	struct promise_type {
		std::string current;
		generator get_return_object()
		{
			return { std::coroutine_handle<
			    promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(std::string value)
		{
			current = std::move(value);
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static generator
count(std::string prefix, std::shared_ptr<int> counter)
{
	auto own = std::make_unique<std::string>(90, 'o');

	while (true)
		co_yield prefix + std::to_string((*counter)++) + *own;
}

static NOINLINE void *
start(int steps)
{
	auto c = count(std::string(40, 'c'), std::make_shared<int>(0));

	for (int i = 0; i < steps; i++)
		c.handle.resume();
	return c.handle.address();
}

void
corpus_scenario()
{
	corpus_keep(start(0));
	corpus_keep(start(3));
	corpus_lose("frame");
	start(3);
	corpus_lose("unstarted");
	start(0);
}
#else
void
corpus_scenario()
{
	corpus_skip("the compiler has no coroutines");
}
#endif
