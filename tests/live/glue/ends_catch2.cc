/* Catch2's tests that end in other ways, sections, a second file. */
#include <memunreachable/catch2.h>
#ifdef MEMUNREACHABLE_CATCH2_V3
#include <catch2/catch_test_macros.hpp>
#endif

#include <cstdlib>
#include <cstring>
#include <stdexcept>

static inline void
use(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static __attribute__((noinline)) void
lose()
{
	use(strdup("lost"));
}

#ifdef SECOND_FILE
TEST_CASE("loses in second file")
{
	lose();
}
#else
TEST_CASE("clean")
{
	CHECK(true);
}

TEST_CASE("fails")
{
	lose();
	REQUIRE(false);
}

TEST_CASE("clean behind it")
{
}

TEST_CASE("throws")
{
	lose();
	throw std::runtime_error("thrown");
}

TEST_CASE("sections")
{
	char *p = strdup("of all sections");

	SECTION("clean")
	{
		use(p);
	}
	SECTION("loses")
	{
		p = strdup("overwrites");
	}
	SECTION("clean, too")
	{
		SECTION("nested")
		{
			use(p);
		}
	}
	free(p);
}

struct Fixture {
	char *freed = strdup("freed"), *forgotten = nullptr;

	~Fixture()
	{
		free(freed);
	}
};

TEST_CASE_METHOD(Fixture, "clean fixture")
{
	use(freed);
}

TEST_CASE_METHOD(Fixture, "loses of fixture")
{
	forgotten = strdup("forgotten");
}
#endif
