/*
 * With Boost.Test: the second of three tests loses memory, and fails for it.
 *
 *	c++ -g leaks_boost.cpp -lboost_unit_test_framework \
 *	    $(pkg-config --cflags --libs memunreachable)
 */
#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE split
#include <boost/test/unit_test.hpp>

#include <memunreachable/test_frames.h>

#include "split.h"

/* Made at the begin of a test, it asks at its end. */
class NoLeaks
{
    public:
	NoLeaks()
	{
		memunreachable_frames_begin(&frames_, "the test", false);
	}
	~NoLeaks()
	{
		const char *lost = memunreachable_frames_end(&frames_);

		if (lost != nullptr)
			BOOST_ERROR(lost);
	}

    private:
	memunreachable_frames frames_ {};
};

BOOST_FIXTURE_TEST_CASE(all_words, NoLeaks)
{
	size_t count;
	char **words = split("one,two,three", &count);

	BOOST_TEST(count == 3u);
	free_words(words, count);
}

BOOST_FIXTURE_TEST_CASE(array_only, NoLeaks)
{
	size_t count;
	char **words = split("one,two,three", &count);

	BOOST_TEST(strcmp(words[2], "three") == 0);
	free(words); // and not the strings
}

BOOST_FIXTURE_TEST_CASE(no_words, NoLeaks)
{
	size_t count;
	char **words = split("", &count);

	BOOST_TEST(count == 0u);
	free_words(words, count);
}
