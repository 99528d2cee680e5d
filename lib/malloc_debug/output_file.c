/*
 * A text file without stdio: see output_file.h.
 *
 * Runs in: the original, any thread.
 */
#include "lib/malloc_debug/output_file.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "mu/sys.h"
#include "mu/text.h"

#define LINE_MAX_BYTES 1024

/* The type bits of its mode; 0: it is not there, or not to be asked. */
static mode_t
type_of(const char *name)
{
	struct stat status = { 0 };

	if (mu_sys4(SYS_newfstatat, AT_FDCWD, (long)name, (long)&status,
		AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return status.st_mode & S_IFMT;
}

static void
remove_beside(struct output_file *out)
{
	mu_sys3(SYS_unlinkat, AT_FDCWD, (long)out->beside, 0);
}

/* /dev/null or a pipe must stay what it is; a link is refused. */
static int
open_special(struct output_file *out, const char *name)
{
	out->ours = true;
	out->fd = mu_sys_open(name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
	return out->fd < 0 ? -out->fd : 0;
}

/* O_EXCL: in a directory of everybody's the name may be laid out for us. */
int
output_file_make(struct output_file *out, const char *name, mode_t mode)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	mode_t type = type_of(name);
	size_t length;

	*out = (struct output_file) { .fd = -1 };
	if (type != 0 && type != S_IFREG)
		return open_special(out, name);
	length = mu_text_format(out->beside, sizeof(out->beside), "%s.%d.new",
	    name, (int)mu_sys_gettid());
	if (length >= sizeof(out->beside))
		return ENAMETOOLONG;
	remove_beside(out);
	out->ours = true;
	out->fd = mu_sys_open(out->beside, flags, mode);
	return out->fd < 0 ? -out->fd : 0;
}

void
output_file_given(struct output_file *out, int fd)
{
	*out = (struct output_file) { .fd = fd };
}

static void
flush(struct output_file *out)
{
	const char *from = out->buffer;
	ssize_t n;

	while (out->used > 0 && out->error == 0) {
		n = mu_sys_write(out->fd, from, out->used);
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			out->error = n == 0 ? EIO : (int)-n;
			break;
		}
		from += n;
		out->used -= (size_t)n;
	}
	out->used = 0;
}

void
output_file_write(struct output_file *out, const char *bytes, size_t length)
{
	size_t part;

	while (length > 0) {
		if (out->used == sizeof(out->buffer))
			flush(out);
		part = sizeof(out->buffer) - out->used;
		part = length < part ? length : part;
		memcpy(out->buffer + out->used, bytes, part);
		out->used += part;
		bytes += part;
		length -= part;
	}
}

void
output_file_print(struct output_file *out, const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;
	size_t length;

	va_start(args, format);
	length = mu_text_vformat(line, sizeof(line), format, args);
	va_end(args);
	output_file_write(
	    out, line, length < sizeof(line) ? length : sizeof(line) - 1);
}

/* renameat(): there is no rename() where the tables of calls are new. */
int
output_file_end(struct output_file *out, const char *name)
{
	long error;

	flush(out);
	if (out->ours)
		mu_sys_close(&out->fd);
	if (out->beside[0] == '\0')
		return out->error;
	if (out->error == 0) {
		error = mu_syscall6(SYS_renameat2, AT_FDCWD, (long)out->beside,
		    AT_FDCWD, (long)name, 0, 0);
		out->error = error < 0 ? (int)-error : 0;
	}
	if (out->error != 0)
		remove_beside(out);
	return out->error;
}

const char *
output_file_reason(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "Permission denied";
	case EISDIR:
		return "Is a directory";
	case ELOOP:
		return "Too many levels of symbolic links";
	case ENAMETOOLONG:
		return "File name too long";
	case EMFILE:
	case ENFILE:
		return "Too many open files";
	case ENOENT:
		return "No such file or directory";
	case ENOTDIR:
		return "Not a directory";
	case ENOSPC:
	case EDQUOT:
		return "No space left on device";
	case EROFS:
		return "Read-only file system";
	default:
		return "Input/output error";
	}
}
