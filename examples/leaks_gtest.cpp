/*
 * With GoogleTest: the second of three tests loses memory, and fails for it.
 *
 *	c++ -g leaks_gtest.cpp \
 *	    $(pkg-config --cflags --libs gtest memunreachable)
 */
#include <memunreachable/gtest.h>

#include "split.h"

TEST(Split, AllWords)
{
	size_t count;
	char **words = split("one,two,three", &count);

	EXPECT_EQ(count, 3u);
	free_words(words, count);
}

TEST(Split, ArrayOnly)
{
	size_t count;
	char **words = split("one,two,three", &count);

	EXPECT_STREQ(words[2], "three");
	free(words); // and not the strings
}

TEST(Split, NoWords)
{
	size_t count;
	char **words = split("", &count);

	EXPECT_EQ(count, 0u);
	free_words(words, count);
}

int
main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	memunreachable::InstallGoogleTestListener();
	return RUN_ALL_TESTS();
}
