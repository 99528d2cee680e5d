#include "lib/doctor/libc_release.h"

#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "heapwalk/heaps/glibc/banner.h"

#define BANNER_MAX 256

#define PIECE ((size_t)1 << 20)
#define FILE_MAX ((off_t)1 << 30) /* a static program's */

bool
mu_libc_release_read(int fd, unsigned release[2])
{
	char *bytes = malloc(PIECE);
	bool found = false;
	ssize_t size;
	off_t at;

	release[0] = release[1] = 0;
	for (at = 0; bytes != NULL && !found && at < FILE_MAX;
	     at += PIECE - BANNER_MAX) {
		size = pread(fd, bytes, PIECE, at);
		if (size <= 0)
			break;
		found = mu_glibc_banner_parse(
		    bytes, (size_t)size, &release[0], &release[1]);
	}
	free(bytes);
	return found;
}
