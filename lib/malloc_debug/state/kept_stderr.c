#include "lib/malloc_debug/state/kept_stderr.h"

#include <stdbool.h>
#include <sys/stat.h>

#include "mu/sys.h"

#define LEAST_FD 100 /* above the descriptors that programs count */

static int kept = -1;
static struct stat kept_file;

static bool
is_same(void)
{
	struct stat now;

	/* Programs close descriptors that they do not know, and open others. */
	return kept >= 0 && fstat(kept, &now) == 0 &&
	    now.st_dev == kept_file.st_dev && now.st_ino == kept_file.st_ino;
}

void
kept_stderr_keep(void)
{
	long fd = mu_sys3(SYS_fcntl, 2, F_DUPFD_CLOEXEC, LEAST_FD);

	if (fd >= 0 && fstat((int)fd, &kept_file) == 0)
		kept = (int)fd;
}

void
kept_stderr_drop(void)
{
	if (is_same())
		mu_sys_close(&kept);
	kept = -1;
}

void
kept_stderr_write(const char *text, size_t length)
{
	size_t done = 0;
	int fd = 2;
	ssize_t n;

	while (done < length) {
		n = mu_sys_write(fd, text + done, length - done);
		if (n > 0) {
			done += (size_t)n;
		} else if (n == -EBADF && fd == 2 && is_same()) {
			fd = kept;
		} else if (n != -EINTR) {
			return;
		}
	}
}
