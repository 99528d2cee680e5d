/*
 * With Catch2, version 2 or 3: the second of three tests loses memory, and
 * fails for it.
 *
 *	c++ -g leaks_catch2.cpp \
 *	    $(pkg-config --cflags --libs catch2-with-main memunreachable)
 *
 * Version 2 is a header: add -DCATCH_CONFIG_MAIN, and no library.
 */
#include <memunreachable/catch2.h>
#ifdef MEMUNREACHABLE_CATCH2_V3
#include <catch2/catch_test_macros.hpp>
#endif

#include "split.h"

TEST_CASE("all words")
{
	size_t count;
	char **words = split("one,two,three", &count);

	CHECK(count == 3);
	free_words(words, count);
}

TEST_CASE("array only")
{
	size_t count;
	char **words = split("one,two,three", &count);

	CHECK(strcmp(words[2], "three") == 0);
	free(words); // and not the strings
}

TEST_CASE("no words")
{
	size_t count;
	char **words = split("", &count);

	CHECK(count == 0);
	free_words(words, count);
}
