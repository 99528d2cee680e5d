#include "lib/malloc_debug/dumps/output_file.h"

#include <linux/fs.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "include/mu/report_file.h"
#include "lib/malloc_debug/dumps/watch_bare.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"
#include "mu/text.h"

#define LINE_MAX_BYTES 1024
#define OTHER_NAMES 9
#define PATIENCE_NS (5 * MU_NS_PER_SEC) /* maximum wait for a full pipe */

static void
remove_beside(struct output_file *out)
{
	mu_sys3(SYS_unlinkat, AT_FDCWD, (long)out->beside, 0);
}

/*
 * True if NAME is a FIFO or a device, which is opened and written to directly.
 * Our own regular file is replaced, whatever its mode and other names.
 */
static bool
open_special(struct output_file *out, const char *name)
{
	struct stat status = { 0 };

	if (mu_sys4(SYS_newfstatat, AT_FDCWD, (long)name, (long)&status,
		AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (S_ISREG(status.st_mode)) {
		if (status.st_uid != (uid_t)mu_sys0(SYS_geteuid))
			out->why = mu_report_file_fault(&status);
		return false;
	}
	out->fd = mu_report_file_open(name, 0, &out->why);
	out->ours = out->fd >= 0;
	return out->ours;
}

/* Choose the name beside NAME; false if it is too long. */
static bool
name_beside(struct output_file *out, const char *name, uint64_t mark)
{
	size_t length = mu_text_format(out->beside, sizeof(out->beside),
	    "%s.%jd.new", name, (intmax_t)mark);

	if (length >= sizeof(out->beside)) {
		out->beside[0] = '\0';
		return false;
	}
	remove_beside(out);
	return true;
}

/*
 * O_EXCL: in a world-writable directory another user may have put something at
 * that name.
 */
static int
open_beside(struct output_file *out, const char *name, uint64_t mark)
{
	if (!name_beside(out, name, mark))
		return -ENAMETOOLONG;
	return mu_sys_open(out->beside,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* How linkat() finds a file without a name: open(2), O_TMPFILE. */
static void
link_of(const struct output_file *out, char path[64])
{
	mu_text_format(path, 64, "/proc/thread-self/fd/%d", out->fd);
}

/*
 * Open a file without a name in the directory of NAME: nothing is left of it
 * if the program is killed. Returns -1 where that is not possible.
 */
static int
open_unnamed(struct output_file *out, const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t length = slash == NULL ? 0 : (size_t)(slash + 1 - name);
	char folder[PATH_MAX] = ".", link[64];
	struct stat status;

	/* With room for what name_beside() adds. */
	if (length >= sizeof(folder) || strlen(name + length) > NAME_MAX - 32)
		return -1;
	if (length > 0) {
		memcpy(folder, name, length);
		folder[length] = '\0';
	}
	out->fd = mu_sys_open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	if (out->fd < 0)
		return -1;
	link_of(out, link);
	out->unnamed = mu_sys4(SYS_newfstatat, AT_FDCWD, (long)link,
			   (long)&status, 0) == 0;
	if (!out->unnamed)
		mu_sys_close(&out->fd);
	return out->fd;
}

/* Give a file without a name that beside NAME. Returns 0 or -errno. */
static long
link_beside(struct output_file *out, const char *name)
{
	uint64_t marks[] = { (uint64_t)mu_sys_gettid(), mu_sys_now_ns() };
	long error = -EEXIST;
	char link[64];
	size_t i;

	link_of(out, link);
	for (i = 0; i < 2 && error == -EEXIST; i++) {
		if (!name_beside(out, name, marks[i]))
			return -ENAMETOOLONG;
		error = mu_syscall6(SYS_linkat, AT_FDCWD, (long)link, AT_FDCWD,
		    (long)out->beside, AT_SYMLINK_FOLLOW, 0);
	}
	return error;
}

int
output_file_make(struct output_file *out, const char *name)
{
	*out = (struct output_file) { .fd = -1 };
	if (open_special(out, name))
		return 0;
	if (open_unnamed(out, name) < 0)
		out->fd = open_beside(out, name, (uint64_t)mu_sys_gettid());
	/*
	 * Another user's file in a sticky directory has the name: use another
	 * one.
	 */
	if (out->fd == -EEXIST)
		out->fd = open_beside(out, name, mu_sys_now_ns());
	if (out->fd < 0)
		return -out->fd;
	mu_sys2(SYS_fchmod, out->fd, 0600);
	out->ours = true;
	return 0;
}

void
output_file_given(struct output_file *out, int fd)
{
	*out = (struct output_file) { .fd = fd };
}

static void
flush(struct output_file *out)
{
	if (out->error == 0 && watch_bare_late())
		out->error = ETIMEDOUT;
	if (out->error == 0)
		out->error = mu_report_file_write(out->fd, out->buffer,
		    out->used, mu_sys_now_ns() + PATIENCE_NS);
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

/* renameat(): newer architectures have no rename(). */
static long
rename_beside(const struct output_file *out, const char *name, int flags)
{
	return mu_syscall6(SYS_renameat2, AT_FDCWD, (long)out->beside, AT_FDCWD,
	    (long)name, flags, 0);
}

/* Use NAME.1 to NAME.9, never an existing one. */
static long
rename_elsewhere(struct output_file *out, const char *name)
{
	char other[PATH_MAX];
	long error = -EEXIST;
	int i;

	for (i = 1; i <= OTHER_NAMES && error == -EEXIST; i++) {
		if (mu_text_format(other, sizeof(other), "%s.%d", name, i) >=
		    sizeof(other))
			return -ENAMETOOLONG;
		error = rename_beside(out, other, RENAME_NOREPLACE);
	}
	if (error < 0)
		return error;
	memcpy(out->beside, other, sizeof(other));
	recorder_say("%s: %s; written to %s instead", name, out->why, other);
	return 0;
}

/*
 * If something has appeared at the name since, a directory or another user's
 * file, it is not replaced.
 */
static long
give_name(struct output_file *out, const char *name)
{
	long error;

	if (out->why != NULL)
		return rename_elsewhere(out, name);
	error = rename_beside(out, name, 0);
	if (error == 0)
		return 0;
	out->why = mu_report_file_reason((int)-error);
	return rename_elsewhere(out, name);
}

int
output_file_end(struct output_file *out, const char *name)
{
	flush(out);
	if (out->unnamed && out->error == 0)
		out->error = (int)-link_beside(out, name);
	if (out->ours)
		mu_sys_close(&out->fd);
	if (out->beside[0] == '\0')
		return out->error;
	if (out->error == 0)
		out->error = (int)-give_name(out, name);
	if (out->error != 0)
		remove_beside(out);
	return out->error;
}
