#include "lib/look/reading.h"

#include <string.h>

#define NAME_MOST 4096u /* bytes of a name */

void *
mu_reading_make(struct mu_look_reading *reading, size_t count, size_t size)
{
	void *made = mu_reading_failed(reading)
	    ? NULL
	    : mu_arena_alloc(&reading->look->arena, count + 1, size);

	reading->no_memory |= made == NULL && !reading->in.bad;
	return made;
}

struct mu_range
mu_read_range(struct mu_look_reading *reading)
{
	uintptr_t begin = (uintptr_t)mu_read_number(reading);
	uintptr_t size = (uintptr_t)mu_read_number(reading);

	mu_reading_require(reading, size > 0 && begin + size > begin);
	return (struct mu_range) { begin, begin + size };
}

struct mu_range
mu_read_range_or_none(struct mu_look_reading *reading)
{
	uintptr_t begin = (uintptr_t)mu_read_number(reading);
	uintptr_t size = (uintptr_t)mu_read_number(reading);

	mu_reading_require(reading, begin + size >= begin);
	return (struct mu_range) { begin, begin + size };
}

const char *
mu_read_string(struct mu_look_reading *reading)
{
	size_t length = mu_read_most(reading, NAME_MOST);
	char *text = mu_reading_make(reading, length, 1);

	if (text == NULL)
		return "";
	mu_get_bytes(&reading->in, text, length);
	mu_reading_require(reading, strlen(text) == length);
	return text;
}

void
mu_read_string_into(struct mu_look_reading *reading, char *text, size_t size)
{
	size_t length = mu_read_most(reading, size - 1);

	memset(text, 0, size);
	mu_get_bytes(&reading->in, text, length);
	mu_reading_require(reading, strlen(text) == length);
}
