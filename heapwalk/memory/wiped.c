#include "heapwalk/memory/wiped.h"

#include <string.h>

#include "heapwalk/subject/lines.h"
#include "mu/text.h"

#define KEY "VmFlags:"
#define KEY_LENGTH (sizeof(KEY) - 1)

bool
mu_vm_flag(const char *line, size_t length, const char *flag)
{
	size_t i;

	for (i = KEY_LENGTH; i + 3 <= length; i++) {
		if (line[i] == ' ' && line[i + 1] == flag[0] &&
		    line[i + 2] == flag[1])
			return true;
	}
	return false;
}

/* Parse hexadecimal digits up to the character STOP; NULL if there are none. */
static const char *
take_address(const char *at, const char *end, char stop, uintptr_t *address)
{
	const char *start = at;

	for (*address = 0; at < end && *at != stop; at++) {
		if (*at >= '0' && *at <= '9')
			*address = *address << 4 | (uintptr_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*address = *address << 4 | (uintptr_t)(*at - 'a' + 10);
		else
			return NULL;
	}
	return at == end || at == start || at - start > 16 ? NULL : at + 1;
}

/* "7f1c2a5d5000-7f1c2a629000 rw-p 00000000 00:00 0" */
static void
take_range(struct mu_wiped *wiped, const char *at, const char *end)
{
	struct mu_range range;

	at = take_address(at, end, '-', &range.begin);
	if (at != NULL && take_address(at, end, ' ', &range.end) != NULL &&
	    range.begin < range.end)
		wiped->mapping = range;
}

static void
add_mapping(struct mu_wiped *wiped)
{
	if (mu_range_size(wiped->mapping) == 0)
		return;
	if (wiped->count < wiped->max)
		wiped->ranges[wiped->count] = wiped->mapping;
	wiped->count++;
}

void
mu_wiped_parse(struct mu_wiped *wiped, const char *text, size_t length)
{
	const char *end = text + length, *newline;
	size_t line;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (newline == NULL)
			return;
		line = (size_t)(newline - text);
		take_range(wiped, text, newline);
		if (line > KEY_LENGTH && memcmp(text, KEY, KEY_LENGTH) == 0 &&
		    mu_vm_flag(text, line, "wf") &&
		    !mu_vm_flag(text, line, "dp"))
			add_mapping(wiped);
	}
}

static bool
take_lines(void *ctx, const char *lines, size_t length)
{
	mu_wiped_parse(ctx, lines, length);
	return false;
}

size_t
mu_wiped_find(struct mu_range *ranges, size_t max)
{
	struct mu_wiped wiped = { .ranges = ranges, .max = max };

	mu_lines_search("/proc/self/smaps", take_lines, &wiped);
	return wiped.count;
}

size_t
mu_wiped_of(pid_t pid, struct mu_range *ranges, size_t max)
{
	struct mu_wiped wiped = { .ranges = ranges, .max = max };
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/smaps", pid);
	mu_lines_search(path, take_lines, &wiped);
	return wiped.count;
}
