/*
 * With doctest: the second of three tests loses memory, and fails for it.
 *
 *	c++ -g leaks_doctest.cpp $(pkg-config --cflags --libs memunreachable)
 */
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <memunreachable/test_frames.h>

#include <string>

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
			FAIL_CHECK(std::string(lost));
	}

    private:
	memunreachable_frames frames_ {};
};

TEST_CASE_FIXTURE(NoLeaks, "all words")
{
	size_t count;
	char **words = split("one,two,three", &count);

	CHECK(count == 3);
	free_words(words, count);
}

TEST_CASE_FIXTURE(NoLeaks, "array only")
{
	size_t count;
	char **words = split("one,two,three", &count);

	CHECK(strcmp(words[2], "three") == 0);
	free(words); // and not the strings
}

TEST_CASE_FIXTURE(NoLeaks, "no words")
{
	size_t count;
	char **words = split("", &count);

	CHECK(count == 0);
	free_words(words, count);
}
