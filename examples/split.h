/* The code that the examples of tests test: "a,b,c" becomes an array. */
#ifndef EXAMPLES_SPLIT_H
#define EXAMPLES_SPLIT_H

#include <stdlib.h>
#include <string.h>

static char **
split(const char *text, size_t *count)
{
	char **words = NULL;
	size_t length;

	for (*count = 0; *text != '\0'; (*count)++) {
		length = strcspn(text, ",");
		words = (char **)realloc(words, (*count + 1) * sizeof(*words));
		words[*count] = strndup(text, length);
		text += length + (text[length] == ',');
	}
	return words;
}

static void
free_words(char **words, size_t count)
{
	while (count > 0)
		free(words[--count]);
	free(words);
}

#endif
