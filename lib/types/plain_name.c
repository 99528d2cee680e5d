#include "lib/types/plain_name.h"

#include <stdbool.h>
#include <string.h>

static void
replace(char *name, const char *from, const char *to)
{
	size_t from_length = strlen(from), to_length = strlen(to), i;

	while ((name = strstr(name, from)) != NULL) {
		memmove(name + to_length, name + from_length,
		    strlen(name + from_length) + 1);
		for (i = 0; i < to_length; i++)
			*name++ = to[i];
	}
}

/* The end of the template argument that begins at AT. */
static char *
end_of_argument(char *at)
{
	unsigned depth = 0;

	for (; *at != '\0'; at++) {
		if (strchr("<([{", *at) != NULL)
			depth++;
		else if (depth == 0 && (*at == ',' || *at == '>'))
			break;
		else if (strchr(">)]}", *at) != NULL && depth > 0)
			depth--;
	}
	return at;
}

static bool
is_default(const char *argument)
{
	static const char *const words[] = { "std::allocator<", "std::less<",
		"std::hash<", "std::equal_to<", "std::char_traits<",
		"std::default_delete<" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strncmp(argument, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

static void
drop_defaults(char *name)
{
	char *end;

	while ((name = strstr(name, ", std::")) != NULL) {
		end = end_of_argument(name + 2);
		if (is_default(name + 2) && (*end == ',' || *end == '>'))
			memmove(name, end, strlen(end) + 1);
		else
			name += 2;
	}
}

void
mu_plain_name(char *name)
{
	replace(name, "std::__cxx11::", "std::");
	replace(name, "std::__1::", "std::");
	drop_defaults(name);
	replace(name, " >", ">");
	replace(name, "std::basic_string<char>", "std::string");
	replace(name, "basic_string<char>", "string");
	replace(name, "std::basic_string_view<char>", "std::string_view");
}
