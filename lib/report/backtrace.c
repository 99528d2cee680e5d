#include "lib/report/backtrace.h"

#include "mu/recorded.h"

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

size_t
mu_backtrace_script(const struct LeakBacktrace *backtrace)
{
	size_t i, count = mu_backtrace_count(backtrace);

	for (i = 0; i < count; i++)
		if (mu_frame_is_script(mu_backtrace_frame(backtrace, i)))
			break;
	return i;
}
