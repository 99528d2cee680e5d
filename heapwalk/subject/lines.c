#include "heapwalk/subject/lines.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"

/*
 * A path can be a page long, and so can an overlay's options in mountinfo; all
 * other lines are shorter.
 */
#define BUFFER_SIZE 8192

/*
 * The length of the first USED bytes of BUFFER up to and including the last
 * newline.
 */
static size_t
whole_lines(const char *buffer, size_t used)
{
	while (used > 0 && buffer[used - 1] != '\n')
		used--;
	return used;
}

static bool
search(int fd, bool (*found)(void *ctx, const char *lines, size_t length),
    void *ctx)
{
	char buffer[BUFFER_SIZE] = "";
	size_t used = 0, whole;
	ssize_t n;

	for (;;) {
		n = mu_sys_read(fd, buffer + used, sizeof(buffer) - used);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		used += (size_t)n;
		whole = whole_lines(buffer, used);
		if (found(ctx, buffer, whole))
			return true;
		if (whole == 0 && used == sizeof(buffer))
			whole = used;
		used -= whole;
		memmove(buffer, buffer + whole, used);
	}
}

bool
mu_lines_search(const char *path,
    bool (*found)(void *ctx, const char *lines, size_t length), void *ctx)
{
	int fd = mu_procfs_open(path, O_RDONLY);
	bool any = fd >= 0 && search(fd, found, ctx);

	mu_sys_close(&fd);
	return any;
}
