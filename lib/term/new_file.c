#include "lib/term/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/term/safe_text.h"

static enum mu_status
refuse(const struct mu_new_file *file, struct mu_why *why)
{
	return mu_why(why, MU_ERR_RESOURCES, "%s cannot be written: %s",
	    mu_safe_argument(file->path).text, strerror(errno));
}

/* A rename would put the file in the place of /dev/stdout for every program. */
static bool
is_no_file(const char *path)
{
	struct stat there;

	return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

enum mu_status
mu_new_file_open(struct mu_new_file *file, const char *path, struct mu_why *why)
{
	int length;

	*file = (struct mu_new_file) { .path = path, .fd = -1 };
	if (is_no_file(path))
		return mu_why(why, MU_ERR_RESOURCES,
		    "%s is a device, a pipe or a folder, and what is written"
		    " takes its place" MU_CURE "give the name of a file",
		    mu_safe_argument(path).text);
	length = snprintf(file->name, sizeof(file->name), "%s.XXXXXX", path);
	errno = ENAMETOOLONG;
	if (length < (int)sizeof(file->name))
		file->fd = mkostemp(file->name, O_CLOEXEC);
	if (file->fd >= 0)
		return MU_OK;
	file->name[0] = '\0';
	return refuse(file, why);
}

enum mu_status
mu_new_file_commit(struct mu_new_file *file, mode_t mode, struct mu_why *why)
{
	if (fchmod(file->fd, mode) != 0 || rename(file->name, file->path) != 0)
		return refuse(file, why);
	file->name[0] = '\0';
	return MU_OK;
}

void
mu_new_file_close(struct mu_new_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->name[0] != '\0')
		unlink(file->name);
	file->name[0] = '\0';
	file->fd = -1;
}
