/*
 * The frames of an entry: see backtrace.h.
 */
#include "lib/backtrace.h"

#include "mu/recorded.h"

#define MORE_MOST (MU_STACK_MAX_FRAMES - MEMUNREACHABLE_MAX_FRAMES)

size_t
mu_backtrace_count(const struct LeakBacktrace *backtrace)
{
	size_t num = backtrace->num_frames;

	if (num > MEMUNREACHABLE_MAX_FRAMES)
		num = MEMUNREACHABLE_MAX_FRAMES;
	return backtrace->more == NULL ? num : num + backtrace->num_more;
}

uintptr_t
mu_backtrace_frame(const struct LeakBacktrace *backtrace, size_t number)
{
	return number < backtrace->num_frames
	    ? backtrace->frames[number]
	    : backtrace->more[number - backtrace->num_frames];
}

static bool
is_possible(const struct LeakBacktrace *backtrace)
{
	return backtrace->num_frames <= MEMUNREACHABLE_MAX_FRAMES &&
	    (backtrace->num_more == 0 ||
		(backtrace->num_frames == MEMUNREACHABLE_MAX_FRAMES &&
		    backtrace->num_more <= MORE_MOST));
}

size_t
mu_backtrace_more(const struct Leak *leaks, size_t count)
{
	size_t i, num = 0;

	for (i = 0; i < count; i++)
		num += leaks[i].backtrace.num_more;
	return num;
}

bool
mu_backtrace_attach(
    struct Leak *leaks, size_t count, const uintptr_t *words, size_t num)
{
	struct LeakBacktrace *backtrace;
	size_t i;

	for (i = 0; i < count; i++) {
		backtrace = &leaks[i].backtrace;
		if (!is_possible(backtrace) || backtrace->num_more > num)
			return false;
		backtrace->more = backtrace->num_more == 0 ? NULL : words;
		words += backtrace->num_more;
		num -= backtrace->num_more;
	}
	return num == 0;
}
