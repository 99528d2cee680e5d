#include "ptrace/remote/remote_code.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

/* A read returns whole lines, at most a page. */
#define LINES_SIZE ((size_t)16 << 10)

/* vdso.lds: text and data of the vDSO are smaller than this on every CPU. */
#define VDSO_MAX ((size_t)64 << 10)

/* The most code that is searched for rt_sigreturn. */
#define CODE_MAX ((size_t)64 << 20)
#define CHUNK_BYTES ((size_t)16 << 10)

/* Follows the addresses: private, no file; blanks and the name come next. */
#define VDSO_ACCESS " r-xp 00000000 00:00 0 "
#define STACK_ACCESS " rw-p 00000000 00:00 0 "
#define STACK_ACCESS_CODE " rwxp 00000000 00:00 0 "
#define CODE_ACCESS " r-xp "

/* A line of /proc/PID/maps. */
struct line {
	struct mu_range range;
	const char *access, *name, *end;
};

struct search {
	pid_t tid;
	struct mu_range vdso, stack;
	bool all; /* search the code of every file, not only of libc */
	size_t left;
	uintptr_t back;
};

static bool
line_begins(const struct line *line, const char *access)
{
	size_t size = strlen(access);

	return (size_t)(line->end - line->access) >= size &&
	    memcmp(line->access, access, size) == 0;
}

static bool
line_is(const struct line *line, const char *access, const char *name)
{
	size_t size = strlen(name);

	return line_begins(line, access) &&
	    (size_t)(line->end - line->name) == size &&
	    memcmp(line->name, name, size) == 0;
}

/* True for glibc or musl, by the name of the file. */
static bool
line_is_libc(const struct line *line)
{
	static const char *const names[] = { "/libc.so", "/libc-", "/ld-musl" };
	size_t i, size = (size_t)(line->end - line->name);

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (memmem(line->name, size, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * "7ffd1c1f2000-7ffd1c1f4000 r-xp 00000000 00:00 0    [vdso]". A file's name
 * begins with a slash.
 */
static bool
parse(struct line *line, const char *at, const char *end)
{
	uint64_t begin, limit;
	unsigned field;

	if (!mu_proc_number(&at, end, 16, &begin) || at == end ||
	    *at++ != '-' || !mu_proc_number(&at, end, 16, &limit) ||
	    begin >= limit)
		return false;
	*line = (struct line) { { begin, limit }, at, NULL, end };
	for (field = 0; field < 4; field++) {
		while (at < end && *at == ' ')
			at++;
		while (at < end && *at != ' ')
			at++;
	}
	while (at < end && *at == ' ')
		at++;
	line->name = at;
	return true;
}

/*
 * Find MU_RETURN_END, with the code that belongs before it, in RANGE; 0 if
 * absent.
 */
static uintptr_t
search_code(pid_t tid, struct mu_range range)
{
	const size_t keep = MU_RETURN_END_SIZE + MU_CALL_CODE_STEP + 3;
	char bytes[CHUNK_BYTES], *found, *from;
	uintptr_t at = range.begin, back;
	size_t n;

	do {
		n = mu_range_size((struct mu_range) { at, range.end });
		n = mu_sys_read_memory(
		    tid, at, bytes, n < sizeof(bytes) ? n : sizeof(bytes));
		for (from = bytes;
		     (found = memmem(from, (size_t)(bytes + n - from),
			  MU_RETURN_END, MU_RETURN_END_SIZE)) != NULL;
		     from = found + 1) {
			back = mu_return_code_at(found, bytes, at);
			if (back != 0)
				return back;
		}
		/* The code may lie across two chunks. */
		at += sizeof(bytes) - keep;
	} while (n == sizeof(bytes) && at < range.end);
	return 0;
}

static void
visit(struct search *search, const struct line *line)
{
	size_t size = mu_range_size(line->range);

	if (line_is(line, VDSO_ACCESS, "[vdso]"))
		search->vdso = line->range;
	else if (line_is(line, STACK_ACCESS, "[stack]") ||
	    line_is(line, STACK_ACCESS_CODE, "[stack]"))
		search->stack = line->range;
	else if (search->back == 0 && line_begins(line, CODE_ACCESS) &&
	    (search->all || line_is_libc(line)) && size <= search->left) {
		search->left -= size;
		search->back = search_code(search->tid, line->range);
	}
}

static void
visit_lines(struct search *search, const char *text, const char *end)
{
	const char *at, *line_end;
	struct line line;

	for (at = text; at < end; at = line_end + 1) {
		line_end = mu_proc_line_end(at, end);
		if (parse(&line, at, line_end))
			visit(search, &line);
	}
}

static void
read_maps(struct search *search)
{
	char path[32], lines[LINES_SIZE];
	ssize_t n;
	int fd;

	mu_text_format(path, sizeof(path), "/proc/%d/maps", search->tid);
	fd = mu_procfs_open(path, O_RDONLY);
	if (fd < 0)
		return;
	do {
		n = mu_sys_read(fd, lines, sizeof(lines));
		if (n > 0)
			visit_lines(search, lines, lines + n);
	} while (n > 0 || n == -EINTR);
	mu_sys_close(&fd);
}

static void
search_maps(struct search *search)
{
	read_maps(search);
	if (search->back == 0 && mu_range_size(search->vdso) <= VDSO_MAX)
		search->back = search_code(search->tid, search->vdso);
	if (search->back == 0) {
		search->all = true;
		read_maps(search);
	}
}

uintptr_t
mu_remote_code_back(pid_t pid)
{
	struct search search = { .tid = pid, .left = CODE_MAX };

	search_maps(&search);
	return search.back;
}

/* True if BACK still is code that calls rt_sigreturn. */
static bool
is_back(pid_t tid, uintptr_t back)
{
	char bytes[MU_RETURN_END_SIZE + 3], *found;
	size_t n = mu_sys_read_memory(tid, back, bytes, sizeof(bytes));

	found = memmem(bytes, n, MU_RETURN_END, MU_RETURN_END_SIZE);
	return back != 0 && found != NULL &&
	    mu_return_code_at(found, bytes, back) == back;
}

/*
 * Find the first system call instruction in the vDSO after which the code
 * returns to the address on the stack.
 */
static uintptr_t
search_call(pid_t tid, struct mu_range vdso, unsigned *skip)
{
	unsigned char bytes[CHUNK_BYTES] = { 0 };
	const size_t size = MU_CALL_CODE_SIZE;
	uintptr_t at = vdso.begin;
	size_t n, i;

	do {
		n = mu_range_size((struct mu_range) { at, vdso.end });
		n = mu_sys_read_memory(
		    tid, at, bytes, n < sizeof(bytes) ? n : sizeof(bytes));
		for (i = 0; i + size <= n; i += MU_CALL_CODE_STEP)
			if (memcmp(bytes + i, MU_CALL_CODE, size) == 0 &&
			    mu_arch_return_tail(
				bytes + i + size, n - i - size, skip))
				return at + i;
		at += sizeof(bytes) - MU_RETURN_TAIL;
	} while (n == sizeof(bytes) && at < vdso.end);
	return 0;
}

bool
mu_remote_code_find(struct mu_remote_code *out, pid_t tid)
{
	struct search search = { .tid = tid, .left = CODE_MAX };

	if (is_back(tid, out->at.back)) {
		search.back = out->at.back;
		read_maps(&search);
	} else
		search_maps(&search);
	out->stack = search.stack;
	out->at.back = search.back;
	/* One without the other is of no use, and the next thread asks again.
	 */
	out->at.call =
	    search.back != 0 && mu_range_size(search.vdso) <= VDSO_MAX
	    ? search_call(tid, search.vdso, &out->at.skip)
	    : 0;
	return out->at.call != 0;
}
