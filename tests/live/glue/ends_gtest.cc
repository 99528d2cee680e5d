/* GoogleTest's tests that end in other ways, fixtures, death tests. */
#include <memunreachable/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
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

TEST(Ends, Clean)
{
}

/* It fails once, for the assertion. */
TEST(Ends, Fails)
{
	lose();
	EXPECT_TRUE(false);
}

TEST(Ends, CleanBehindIt)
{
}

TEST(Ends, Throws)
{
	lose();
	throw std::runtime_error("thrown");
}

TEST(Ends, Skipped)
{
	lose();
	GTEST_SKIP();
}

TEST(Ends, CleanBehindSkipped)
{
}

/* What a child loses is the child's. */
TEST(EndsDeathTest, Dies)
{
	EXPECT_EXIT(
	    {
		    lose();
		    exit(3);
	    },
	    testing::ExitedWithCode(3), "");
	EXPECT_DEATH(abort(), "");
}

TEST(EndsDeathTest, DiesThreadsafe)
{
	testing::FLAGS_gtest_death_test_style = "threadsafe";
	EXPECT_EXIT(exit(3), testing::ExitedWithCode(3), "");
}

TEST(EndsDeathTest, DiesAndLoses)
{
	EXPECT_EXIT(exit(3), testing::ExitedWithCode(3), "");
	lose();
}

/* The suite fails, no test of it. */
class LosesAtSetUp : public testing::Test
{
    protected:
	static void SetUpTestSuite()
	{
		lose();
	}
};

TEST_F(LosesAtSetUp, Clean)
{
}

class LosesAtTearDown : public testing::Test
{
    protected:
	static char *shared;

	static void SetUpTestSuite()
	{
		shared = strdup("shared by the suite");
	}
	static void TearDownTestSuite()
	{
		shared = nullptr;
	}
};
char *LosesAtTearDown::shared;

TEST_F(LosesAtTearDown, Clean)
{
	EXPECT_STREQ(shared, "shared by the suite");
}

class Fixture : public testing::Test
{
    protected:
	char *freed = nullptr, *forgotten = nullptr;

	void SetUp() override
	{
		freed = strdup("freed");
	}
	void TearDown() override
	{
		free(freed);
	}
};

TEST_F(Fixture, Clean)
{
}

TEST_F(Fixture, LosesMember)
{
	forgotten = strdup("forgotten");
}

struct Peer {
	std::shared_ptr<Peer> other;
};

TEST(Cxx, LosesCycleOfPointers)
{
	auto one = std::make_shared<Peer>(), two = std::make_shared<Peer>();

	one->other = two;
	two->other = one;
}

class Numbered : public testing::TestWithParam<int>
{
};

TEST_P(Numbered, LosesTwo)
{
	if (GetParam() == 2)
		lose();
}

INSTANTIATE_TEST_SUITE_P(Of, Numbered, testing::Values(1, 2, 3));
