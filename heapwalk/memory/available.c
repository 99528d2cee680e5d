#include "heapwalk/memory/available.h"

#include <stdint.h>

bool
mu_available_in(const struct mu_headroom_files *files, size_t *bytes,
    struct mu_cgroups_known *known)
{
	struct mu_headroom headroom;
	size_t left;

	mu_headroom_open_files(&headroom, files, known);
	left = mu_headroom_left(&headroom, SIZE_MAX);
	mu_headroom_close(&headroom);
	if (left == SIZE_MAX)
		return false;
	*bytes = left;
	return true;
}

bool
mu_available(size_t *bytes, struct mu_cgroups_known *known)
{
	static const struct mu_headroom_files files = { "/proc/meminfo",
		"/proc/self/mountinfo", "/proc/self/cgroup" };

	return mu_available_in(&files, bytes, known);
}
