#include "heapwalk/subject/tmpfs.h"

#include <linux/stat.h>
#include <string.h>

#include "heapwalk/subject/lines.h"
#include "mu/sys.h"
#include "mu/text.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#define MFD_CLOEXEC_FLAG 1u /* linux/memfd.h */

/* Skip one field and the space after it; NULL at the end of the line. */
static const char *
skip_field(const char *text, const char *end)
{
	const char *space = memchr(text, ' ', (size_t)(end - text));

	return space == NULL ? NULL : space + 1;
}

static const char *
parse_number(const char *text, const char *end, unsigned *number)
{
	const char *start = text;

	for (*number = 0; text < end && *text >= '0' && *text <= '9'; text++) {
		if (*number > 0xfffffff)
			return NULL;
		*number = *number * 10 + (unsigned)(*text - '0');
	}
	return text == start ? NULL : text;
}

/*
 * 25 24 0:23 / /dev/shm rw,relatime shared:5 - tmpfs tmpfs rw,size=24682416k
 * Spaces inside a name are written \040, so " - " is the separator.
 */
static bool
line_says_tmpfs(
    const char *text, const char *end, unsigned major, unsigned minor)
{
	static const char separator[] = " - tmpfs ";
	size_t length = sizeof(separator) - 1;
	unsigned number;
	int i;

	for (i = 0; i < 2 && text != NULL; i++)
		text = skip_field(text, end);
	if (text == NULL)
		return false;
	text = parse_number(text, end, &number);
	if (text == NULL || number != major || text == end || *text != ':')
		return false;
	text = parse_number(text + 1, end, &number);
	if (text == NULL || number != minor)
		return false;
	for (; (size_t)(end - text) >= length; text++) {
		if (memcmp(text, " - ", 3) == 0)
			return memcmp(text, separator, length) == 0;
	}
	return false;
}

bool
mu_tmpfs_parse(const char *text, size_t length, unsigned major, unsigned minor)
{
	const char *end = text + length, *newline;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (newline == NULL)
			return false;
		if (line_says_tmpfs(text, newline, major, minor))
			return true;
	}
	return false;
}

static bool
found(void *ctx, const char *lines, size_t length)
{
	const struct mu_tmpfs_answer *answer = ctx;

	return mu_tmpfs_parse(lines, length, answer->major, answer->minor);
}

/* Find the device of memfd, SysV and anonymous shared memory. */
static bool
ask_shmem_device(struct mu_tmpfs *tmpfs)
{
	struct statx about;
	long error;
	int fd;

	fd = (int)mu_sys2(SYS_memfd_create, (long)"", MFD_CLOEXEC_FLAG);
	if (fd < 0)
		return false;
	memset(&about, 0, sizeof(about));
	error = mu_syscall6(
	    SYS_statx, fd, (long)"", AT_EMPTY_PATH, STATX_INO, (long)&about, 0);
	tmpfs->shmem_major = about.stx_dev_major;
	tmpfs->shmem_minor = about.stx_dev_minor;
	mu_sys_close(&fd);
	return error == 0;
}

bool
mu_tmpfs_holds(struct mu_tmpfs *tmpfs, unsigned major, unsigned minor)
{
	if (!tmpfs->asked_shmem) {
		tmpfs->has_shmem = ask_shmem_device(tmpfs);
		tmpfs->asked_shmem = true;
	}
	return (tmpfs->has_shmem && major == tmpfs->shmem_major &&
		   minor == tmpfs->shmem_minor) ||
	    mu_tmpfs_has(tmpfs, major, minor);
}

bool
mu_tmpfs_has(struct mu_tmpfs *tmpfs, unsigned major, unsigned minor)
{
	struct mu_tmpfs_answer *answer;
	char path[64];
	size_t i;

	for (i = 0; i < MU_TMPFS_ANSWERS; i++) {
		answer = &tmpfs->answers[i];
		if (answer->known && answer->major == major &&
		    answer->minor == minor)
			return answer->tmpfs;
	}
	answer = &tmpfs->answers[tmpfs->next++ % MU_TMPFS_ANSWERS];
	*answer = (struct mu_tmpfs_answer) { major, minor, true, false };
	answer->tmpfs = mu_lines_search("/proc/self/mountinfo", found, answer);
	if (!answer->tmpfs && tmpfs->pid != 0) {
		mu_text_format(
		    path, sizeof(path), "/proc/%d/mountinfo", tmpfs->pid);
		answer->tmpfs = mu_lines_search(path, found, answer);
	}
	return answer->tmpfs;
}
