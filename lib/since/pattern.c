#include "lib/since/pattern.h"

#include <string.h>

/* The SIZE bytes at PART in TEXT, or where it ends if LAST. */
static const char *
find_part(
    const char *text, const char *part, size_t size, bool first, bool last)
{
	size_t length = strlen(text);

	if (length < size)
		return NULL;
	if (last && first && length != size)
		return NULL;
	if (last)
		text += length - size;
	for (; *text != '\0' || size == 0; text++) {
		if (strncmp(text, part, size) == 0)
			return text;
		if (first || last)
			break;
	}
	return NULL;
}

bool
mu_suppression_matches(const char *pattern, const char *text)
{
	bool first = pattern[0] == '^', last;
	size_t size;

	if (text == NULL || text[0] == '\0')
		return false;
	pattern += first;
	while (*pattern != '\0') {
		if (*pattern == '*') {
			first = false;
			pattern++;
			continue;
		}
		size = strcspn(pattern, "*$");
		last = pattern[size] == '$';
		if (size == 0 && last)
			return !first || text[0] == '\0';
		text = find_part(text, pattern, size, first, last);
		if (text == NULL || last)
			return text != NULL;
		text += size;
		pattern += size;
		first = false;
	}
	return true;
}
