/*
 * Finding an instruction for a remote call: see remote_code.h.
 *
 * Runs in: keeper. Uses no malloc, no errno, no libc lock.
 */
#include "ptrace/remote_code.h"

#include <string.h>

#include "mu/arch_remote.h"
#include "mu/procfs.h"
#include "mu/range.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/proc.h"

/* The kernel gives whole lines, of at most a page, in a read of a page. */
#define LINES_SIZE ((size_t)16 << 10)

/* vdso.lds: text and data of the vDSO are below this on every CPU. */
#define VDSO_MAX ((size_t)64 << 10)
#define CHUNK_BYTES ((size_t)4 << 10)

/* Behind the addresses: not writable, private, of no file, and the name. */
#define VDSO_ACCESS " r-xp 00000000 00:00 0 "
#define VDSO_NAME "[vdso]"

/* Where the first one is in SIZE bytes from BEGIN, or 0. */
static uintptr_t
search(pid_t tid, uintptr_t begin, size_t size)
{
	char bytes[CHUNK_BYTES];
	size_t at = 0, n, i;

	do {
		n = size - at < sizeof(bytes) ? size - at : sizeof(bytes);
		n = mu_sys_read_memory(tid, begin + at, bytes, n);
		for (i = 0; i + MU_REMOTE_CODE_SIZE <= n;
		     i += MU_REMOTE_CODE_STEP)
			if (memcmp(bytes + i, MU_REMOTE_CODE,
				MU_REMOTE_CODE_SIZE) == 0)
				return begin + at + i;
		/* It may lie across two chunks. */
		at += sizeof(bytes) - MU_REMOTE_CODE_SIZE + MU_REMOTE_CODE_STEP;
	} while (n == sizeof(bytes) && at < size);
	return 0;
}

/*
 * "7ffd1c1f2000-7ffd1c1f4000 r-xp 00000000 00:00 0    [vdso]". A file's name
 * cannot be that: it begins with a slash.
 */
static bool
is_vdso(const char *line, const char *end, struct mu_range *range)
{
	const size_t access = sizeof(VDSO_ACCESS) - 1;
	uint64_t begin, limit;

	if (!mu_proc_number(&line, end, 16, &begin) || line == end ||
	    *line++ != '-' || !mu_proc_number(&line, end, 16, &limit) ||
	    (size_t)(end - line) < access ||
	    memcmp(line, VDSO_ACCESS, access) != 0)
		return false;
	for (line += access; line < end && *line == ' ';)
		line++;
	*range = (struct mu_range) { begin, limit };
	return (size_t)(end - line) == sizeof(VDSO_NAME) - 1 &&
	    memcmp(line, VDSO_NAME, sizeof(VDSO_NAME) - 1) == 0 &&
	    begin < limit && limit - begin <= VDSO_MAX;
}

static bool
find_in_lines(const char *text, const char *end, struct mu_range *range)
{
	const char *line = text, *line_end;

	for (; line < end; line = line_end + 1) {
		line_end = mu_proc_line_end(line, end);
		if (is_vdso(line, line_end, range))
			return true;
	}
	return false;
}

uintptr_t
mu_remote_code_find(pid_t tid)
{
	char path[32], lines[LINES_SIZE];
	struct mu_range range = { 0, 0 };
	bool found = false;
	ssize_t n;
	int fd;

	mu_text_format(path, sizeof(path), "/proc/%d/maps", tid);
	fd = mu_procfs_open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	do {
		n = mu_sys_read(fd, lines, sizeof(lines));
		found = n > 0 && find_in_lines(lines, lines + n, &range);
	} while (!found && (n > 0 || n == -EINTR));
	mu_sys_close(&fd);
	return found ? search(tid, range.begin, mu_range_size(range)) : 0;
}
