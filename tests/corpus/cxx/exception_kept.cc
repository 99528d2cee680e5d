// Exceptions that live: one is in flight in a thread that waits in a
// destructor, one is being handled, two are kept by exception_ptr; one is lost
// with its exception_ptr.
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/corpus/support/corpus.h"

struct payload : std::exception {
	std::string text = std::string(300, 'p');
	int *number = new int(1);
};

struct waits {
	~waits()
	{
		corpus_park();
	}
};

static std::exception_ptr held, nested;

static NOINLINE std::exception_ptr
make_exception()
{
	try {
		throw payload();
	} catch (...) {
		return std::current_exception();
	}
}

static NOINLINE void
nest()
{
	try {
		try {
			throw payload();
		} catch (...) {
			std::throw_with_nested(std::runtime_error("outer"));
		}
	} catch (...) {
		nested = std::current_exception();
	}
}

static NOINLINE void
throw_and_wait()
{
	try {
		waits here;
		corpus_use(&here);
		throw payload();
	} catch (...) {
	}
}

static NOINLINE void
catch_and_wait()
{
	try {
		throw payload();
	} catch (...) {
		corpus_park();
	}
}

void
corpus_scenario()
{
	held = make_exception();
	nest();
	std::thread(throw_and_wait).detach();
	std::thread(catch_and_wait).detach();
	corpus_await_parked(2);
	corpus_lose("exception");
	corpus_use(new std::exception_ptr(make_exception()));
}
