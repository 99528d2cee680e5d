#include "ptrace/live/mappings.h"

#include <limits.h>
#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"

#define READ_TRIES 5
#define NEWLINE "\\012" /* the only escape of seq_path(m, file, "\n") */
#define NEWLINE_SIZE 4

static size_t
count_lines(const char *text, const char *end)
{
	size_t lines = 0;

	while (text < end) {
		lines++;
		text = mu_proc_line_end(text, end);
		if (text < end)
			text++;
	}
	return lines;
}

static bool
take_char(const char **cursor, const char *end, char expected)
{
	if (*cursor >= end || **cursor != expected)
		return false;
	++*cursor;
	return true;
}

static bool
take_range(const char **cursor, const char *end, struct mu_range *range)
{
	uint64_t first, last;

	if (!mu_proc_number(cursor, end, 16, &first) ||
	    !take_char(cursor, end, '-') ||
	    !mu_proc_number(cursor, end, 16, &last) || first >= last)
		return false;
	*range = (struct mu_range) { (uintptr_t)first, (uintptr_t)last };
	return true;
}

/* Take one character, "-" or one of SET. */
static bool
take_flag(
    const char **cursor, const char *end, char set, char clear, bool *flag)
{
	*flag = take_char(cursor, end, set);
	return *flag || take_char(cursor, end, clear);
}

static bool
take_protection(const char **cursor, const char *end, struct mu_mapping *map)
{
	return take_flag(cursor, end, 'r', '-', &map->readable) &&
	    take_flag(cursor, end, 'w', '-', &map->writable) &&
	    take_flag(cursor, end, 'x', '-', &map->executable) &&
	    take_flag(cursor, end, 's', 'p', &map->shared);
}

static bool
take_device(const char **cursor, const char *end, struct mu_mapping *map)
{
	uint64_t major, minor;

	if (!mu_proc_number(cursor, end, 16, &major) ||
	    !take_char(cursor, end, ':') ||
	    !mu_proc_number(cursor, end, 16, &minor) || major > UINT_MAX ||
	    minor > UINT_MAX)
		return false;
	map->dev_major = (unsigned)major;
	map->dev_minor = (unsigned)minor;
	return true;
}

/* Parse all fields but the name; *CURSOR points to the name afterwards. */
static bool
take_fields(const char **cursor, const char *end, struct mu_mapping *map)
{
	if (!take_range(cursor, end, &map->range) ||
	    !take_char(cursor, end, ' ') ||
	    !take_protection(cursor, end, map) ||
	    !take_char(cursor, end, ' ') ||
	    !mu_proc_number(cursor, end, 16, &map->offset) ||
	    !take_char(cursor, end, ' ') || !take_device(cursor, end, map) ||
	    !take_char(cursor, end, ' ') ||
	    !mu_proc_number(cursor, end, 10, &map->inode))
		return false;
	if (*cursor < end && **cursor != ' ')
		return false;
	/* Skip padding. No name written by the kernel starts with a space. */
	while (take_char(cursor, end, ' '))
		;
	return true;
}

static char *
copy_name(const char *name, size_t length, struct mu_arena *arena)
{
	const char *end = name + length;
	char *copy = mu_arena_alloc(arena, length + 1, 1), *to = copy;

	if (copy == NULL)
		return NULL;
	while (name < end) {
		if (end - name >= NEWLINE_SIZE &&
		    memcmp(name, NEWLINE, NEWLINE_SIZE) == 0) {
			*to++ = '\n';
			name += NEWLINE_SIZE;
		} else {
			*to++ = *name++;
		}
	}
	return copy; /* the arena's bytes are zero, so the copy is terminated */
}

/*
 * Adjacent mappings often belong to one file; they share one copy of its name.
 */
struct last_name {
	const char *text; /* as in the maps file */
	size_t length;
	const char *copy;
};

static bool
set_name(struct mu_mapping *map, struct last_name *last, const char *name,
    size_t length, struct mu_arena *arena)
{
	map->name = "";
	if (length == 0)
		return true;
	if (last->copy == NULL || last->length != length ||
	    memcmp(last->text, name, length) != 0) {
		last->copy = copy_name(name, length, arena);
		last->text = name;
		last->length = length;
	}
	map->name = last->copy;
	return map->name != NULL;
}

static enum mu_status
malformed(struct mu_why *why, size_t line, const char *what)
{
	return mu_why(why, MU_ERR_NO_PROC, "maps line %zu %s", line + 1, what);
}

enum mu_status
mu_mappings_parse(const char *text, size_t length, struct mu_mapping **mappings,
    size_t *count, struct mu_arena *arena, struct mu_why *why)
{
	const char *end = length > 0 ? text + length : text, *at, *eol;
	size_t lines = count_lines(text, end), i;
	struct mu_mapping *maps =
	    mu_arena_alloc(arena, lines + 1, sizeof(*maps));
	struct last_name last = { NULL, 0, NULL };

	if (maps == NULL)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for %zu maps", lines);
	for (i = 0, at = text; i < lines; i++, at = eol + 1) {
		eol = mu_proc_line_end(at, end);
		if (eol == end)
			return malformed(why, i, "is cut");
		if (memchr(at, '\0', (size_t)(eol - at)) != NULL ||
		    !take_fields(&at, eol, &maps[i]))
			return malformed(why, i, "is malformed");
		if (i > 0 && maps[i].range.begin < maps[i - 1].range.end)
			return malformed(why, i, "overlaps the one before");
		if (!set_name(&maps[i], &last, at, (size_t)(eol - at), arena))
			return mu_why(why, MU_ERR_NO_MEMORY,
			    "no memory for the names of %zu maps", lines);
	}
	*mappings = maps;
	*count = lines;
	return MU_OK;
}

static enum mu_status
unreadable(pid_t pid, long error, struct mu_why *why)
{
	if (error == -ENOMEM)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the maps of process %d", pid);
	if (error == -ETIME)
		return mu_why(why, MU_ERR_TIMEOUT,
		    "the maps of process %d were not read in time", pid);
	if (error == -ESRCH || mu_sys_kill(pid, 0) == -ESRCH)
		return mu_why(
		    why, MU_ERR_TARGET_GONE, "process %d has ended", pid);
	if (error == -EMFILE || error == -ENFILE)
		return mu_why(why, MU_ERR_RESOURCES,
		    "no descriptor for /proc/%d/maps", pid);
	if (error == -EACCES || error == -EPERM)
		return mu_refusal(pid, pid, (int)-error, why);
	return mu_why(why, MU_ERR_NO_PROC,
	    "cannot read /proc/%d/maps (error %ld)" MU_CURE
	    "mount -t proc proc /proc",
	    pid, -error);
}

enum mu_status
mu_mappings_read_until(pid_t pid, uint64_t until_ns,
    struct mu_mapping **mappings, size_t *count, struct mu_arena *arena,
    struct mu_why *why)
{
	struct mu_proc_text text = { .arena = arena, .until_ns = until_ns };
	enum mu_status status = MU_ERR_NO_PROC;
	char path[32];
	long error;
	int i;

	mu_text_format(path, sizeof(path), "/proc/%d/maps", pid);
	for (i = 0; i < READ_TRIES && status == MU_ERR_NO_PROC; i++) {
		error = mu_proc_read(&text, path);
		if (error < 0)
			return unreadable(pid, error, why);
		status = mu_mappings_parse(
		    text.text, text.length, mappings, count, arena, why);
	}
	if (status == MU_OK && *count == 0)
		/* A zombie has no memory, so its list is empty. */
		return mu_why(why, MU_ERR_TARGET_GONE,
		    "process %d has no memory; it has ended", pid);
	return status;
}

enum mu_status
mu_mappings_read(pid_t pid, struct mu_mapping **mappings, size_t *count,
    struct mu_arena *arena, struct mu_why *why)
{
	return mu_mappings_read_until(pid, 0, mappings, count, arena, why);
}

/* fs/proc/array.c, proc_pid_statm(): the first number is mm->total_vm. */
uint64_t
mu_mappings_pages(pid_t tid)
{
	char path[32];
	uint64_t pages;

	mu_text_format(path, sizeof(path), "/proc/%d/statm", tid);
	return mu_proc_read_number(path, 10, &pages) ? pages : 0;
}
