#include "ptrace/live/proc.h"

#include <limits.h>
#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"

#define FIRST_SIZE ((size_t)16 << 10)
/* seq_file returns at most this much per read unless one record is longer. */
#define READ_SIZE ((size_t)4 << 10)
#define DIR_SIZE 4096 /* buffer on the stack for directory entries */

/* The kernel's layout; the struct in <dirent.h> is libc's. */
struct entry {
	uint64_t inode;
	int64_t next;
	uint16_t length;
	uint8_t type;
	char name[];
};

static bool
make_room(struct mu_proc_text *text)
{
	return text->max - text->length >= READ_SIZE ||
	    mu_arena_more(text->arena, &text->text, &text->max, 1, FIRST_SIZE);
}

long
mu_proc_read_open(struct mu_proc_text *text, int fd)
{
	ssize_t n;

	text->length = 0;
	do {
		if (text->until_ns != 0 && mu_sys_now_ns() >= text->until_ns)
			return -ETIME;
		if (!make_room(text))
			return -ENOMEM;
		n = mu_sys_read(
		    fd, text->text + text->length, text->max - text->length);
		if (n > 0)
			text->length += (size_t)n;
	} while (n > 0 || n == -EINTR);
	return n;
}

long
mu_proc_read(struct mu_proc_text *text, const char *path)
{
	int fd = mu_procfs_open(path, O_RDONLY);
	long error;

	text->length = 0;
	if (fd < 0)
		return fd;
	error = mu_proc_read_open(text, fd);
	mu_sys_close(&fd);
	return error;
}

/* Parse a name of decimal digits only; -1 for any other name. */
static int
name_number(const char *name)
{
	const char *end = name + strlen(name);
	uint64_t value;

	if (!mu_proc_number(&name, end, 10, &value) || name != end ||
	    value > INT_MAX)
		return -1;
	return (int)value;
}

static bool
visit_entries(const char *buffer, size_t length,
    bool (*visit)(void *ctx, int number), void *ctx)
{
	const struct entry *entry;
	size_t at;
	int number;

	for (at = 0; at < length; at += entry->length) {
		entry = (const struct entry *)(const void *)(buffer + at);
		number = name_number(entry->name);
		if (number >= 0 && !visit(ctx, number))
			return false;
	}
	return true;
}

long
mu_proc_numbers_in(int dir, bool (*visit)(void *ctx, int number), void *ctx)
{
	char buffer[DIR_SIZE] __attribute__((aligned(8))) = "";
	long n;

	do {
		n = mu_sys3(SYS_getdents64, dir, (long)buffer, sizeof(buffer));
		if (n > 0 && !visit_entries(buffer, (size_t)n, visit, ctx))
			n = 0;
	} while (n > 0 || n == -EINTR);
	return n;
}

long
mu_proc_numbers(
    const char *path, bool (*visit)(void *ctx, int number), void *ctx)
{
	int dir = mu_procfs_open(path, O_RDONLY | O_DIRECTORY);
	long n;

	if (dir < 0)
		return dir;
	n = mu_proc_numbers_in(dir, visit, ctx);
	mu_sys_close(&dir);
	return n;
}

static unsigned
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return UINT_MAX;
}

bool
mu_proc_number(
    const char **cursor, const char *end, unsigned base, uint64_t *value)
{
	const char *at = *cursor;
	uint64_t sum = 0;
	unsigned digit;

	for (; at < end; at++) {
		digit = digit_value(*at);
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)digit, &sum))
			return false;
	}
	if (at == *cursor)
		return false;
	*cursor = at;
	*value = sum;
	return true;
}

int64_t
mu_proc_status_number(
    const char *status, const char *key, unsigned field, unsigned base)
{
	const char *at = strstr(status, key), *end;
	uint64_t value;

	if (at == NULL)
		return -1;
	at += strlen(key);
	end = at + strlen(at);
	do {
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (!mu_proc_number(&at, end, base, &value))
			return -1;
	} while (field-- > 0);
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

uint64_t
mu_proc_status_bytes(const char *status, const char *key)
{
	int64_t kib = mu_proc_status_number(status, key, 0, 10);

	return kib < 0 || kib > INT64_MAX / 1024 ? 0 : (uint64_t)kib * 1024;
}

/* -1: the kernel does not have the field. */
bool
mu_proc_status_filtered(const char *status)
{
	return mu_proc_status_number(status, "\nSeccomp:", 0, 10) > 0;
}

bool
mu_proc_status_has_cap(const char *status, unsigned cap)
{
	int64_t caps = mu_proc_status_number(status, "\nCapEff:", 0, 16);

	return caps >= 0 && (caps >> cap & 1) != 0;
}

/*
 * Remove the line "Groups" from the LENGTH bytes read so far of STATUS. *CUT is
 * NULL at first and after the end of the line; otherwise the line continues in
 * the next read, at *CUT. Returns the new length.
 */
static size_t
cut_groups(char *status, size_t length, char **cut)
{
	char *end = status + length, *next;

	*end = '\0';
	if (*cut == NULL) {
		*cut = strstr(status, "\nGroups:");
		if (*cut == NULL)
			return length;
		++*cut;
	}
	next = memchr(*cut, '\n', (size_t)(end - *cut));
	if (next == NULL)
		return (size_t)(*cut - status);
	length -= (size_t)(next + 1 - *cut);
	memmove(*cut, next + 1, (size_t)(end - next) - 1);
	*cut = NULL;
	return length;
}

static ssize_t
read_status(int fd, char *status, size_t size)
{
	size_t length = 0;
	char *cut = NULL;
	ssize_t n;

	do {
		n = mu_sys_read(fd, status + length, size - 1 - length);
		if (n > 0)
			length = cut_groups(status, length + (size_t)n, &cut);
	} while (n > 0 || n == -EINTR);
	status[n < 0 ? 0 : length] = '\0';
	return n < 0 ? n : (ssize_t)length;
}

ssize_t
mu_proc_status_read(pid_t pid, pid_t tid, char *status, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	if (tid == 0)
		mu_text_format(path, sizeof(path), "/proc/%d/status", pid);
	else
		mu_text_format(
		    path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	status[0] = '\0';
	fd = mu_procfs_open(path, O_RDONLY);
	if (fd < 0)
		return fd;
	n = read_status(fd, status, size);
	mu_sys_close(&fd);
	return n;
}

ssize_t
mu_proc_own_status(char *status, size_t size)
{
	return mu_proc_status_read(
	    mu_sys_getpid(), mu_sys_gettid(), status, size);
}

int
mu_proc_state(pid_t pid, pid_t tid)
{
	char path[64], stat[256];
	const char *paren;
	ssize_t n;

	mu_text_format(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	n = mu_procfs_read(path, stat, sizeof(stat));
	if (n < 0)
		return (int)n;
	/*
	 * "4711 (a name) S ...": the name, up to 15 bytes, may contain
	 * parentheses
	 */
	paren = strrchr(stat, ')');
	if (paren == NULL || paren[1] != ' ' || paren[2] == '\0')
		return -ENOENT;
	return (unsigned char)paren[2];
}

bool
mu_proc_sleeps_in(pid_t tid, const char *function)
{
	char path[32], text[64];

	mu_text_format(path, sizeof(path), "/proc/%d/wchan", tid);
	return mu_procfs_read(path, text, sizeof(text)) > 0 &&
	    strncmp(text, function, strlen(function)) == 0;
}

#define OVER_NAP_NS (20 * MU_NS_PER_MS)

bool
mu_proc_await_over(pid_t pid, uint64_t deadline_ns)
{
	int fd = (int)mu_sys2(SYS_pidfd_open, pid, 0);
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	struct timespec span;
	bool over = fd == -ESRCH;
	uint64_t now;
	long n;

	while (!over) {
		now = mu_sys_now_ns();
		span =
		    mu_sys_timespec(now < deadline_ns ? deadline_ns - now : 0);
		if (fd >= 0) {
			n = mu_syscall6(
			    SYS_ppoll, (long)&ended, 1, (long)&span, 0, 0, 0);
			over = n == 1;
		} else
			over = mu_sys_kill(pid, 0) == -ESRCH ||
			    mu_proc_state(pid, pid) == 'Z';
		if (over || now >= deadline_ns)
			break;
		if (fd < 0)
			mu_sys_sleep_ns(OVER_NAP_NS);
	}
	mu_sys_close(&fd);
	return over;
}

bool
mu_proc_is_over(pid_t pid)
{
	return mu_proc_await_over(pid, 0);
}

struct living {
	pid_t pid, found;
};

static bool
take_living(void *ctx, int tid)
{
	struct living *living = ctx;

	if (mu_proc_ended(mu_proc_state(living->pid, tid)))
		return true;
	living->found = tid;
	return false;
}

pid_t
mu_proc_living(pid_t pid)
{
	struct living living = { pid, pid };
	char path[64];

	if (!mu_proc_ended(mu_proc_state(pid, pid)))
		return pid;
	mu_text_format(path, sizeof(path), "/proc/%d/task", pid);
	mu_proc_numbers(path, take_living, &living);
	return living.found;
}

void
mu_proc_program(pid_t pid, char *program, size_t size)
{
	char path[64];
	long length;

	mu_text_format(path, sizeof(path), "/proc/%d/exe", pid);
	length = mu_sys4(SYS_readlinkat, AT_FDCWD, (long)path, (long)program,
	    (long)size - 1);
	program[length > 0 ? length : 0] = '\0';
}

const char *
mu_proc_line_end(const char *text, const char *end)
{
	const char *newline = memchr(text, '\n', (size_t)(end - text));

	return newline == NULL ? end : newline;
}

pid_t
mu_proc_parent(pid_t pid)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t number = 0;

	if (mu_proc_status_read(pid, 0, status, sizeof(status)) > 0)
		number = mu_proc_status_number(status, "\nPPid:", 0, 10);
	return number > 0 ? (pid_t)number : 0;
}

/* "NSpid:\t4711\t17": from our namespace to the innermost. */
pid_t
mu_proc_inner_pid(pid_t pid)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t number, last = -1;
	unsigned field = 0;

	if (mu_proc_status_read(pid, 0, status, sizeof(status)) <= 0)
		return -1;
	while ((number = mu_proc_status_number(
		    status, "\nNSpid:", field++, 10)) >= 0)
		last = number;
	return last >= 0 ? (pid_t)last : pid;
}

bool
mu_proc_read_number(const char *path, unsigned base, uint64_t *value)
{
	char text[128];
	const char *at = text;
	ssize_t n = mu_procfs_read(path, text, sizeof(text));

	return n > 0 && mu_proc_number(&at, text + n, base, value);
}

/*
 * "35 0x7ffc... 0x0 ...", or "-1 0x7ffc... 0x..." outside of a call: the last
 * two are the stack pointer and the program counter. Or "running".
 */
struct mu_proc_call
mu_proc_call_of(pid_t pid, pid_t tid)
{
	struct mu_proc_call call = { .number = MU_PROC_NO_CALL };
	uint64_t words[MU_PROC_ARGUMENTS + 2] = { 0 }, number;
	char path[64], text[256];
	const char *at = text, *end;
	size_t count = 0;
	ssize_t n;

	mu_text_format(
	    path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	n = mu_procfs_read(path, text, sizeof(text));
	if (n <= 0)
		return call;
	end = text + n;
	if (mu_proc_number(&at, end, 10, &number))
		call.number = (long)number;
	else if (text[0] == 'r')
		call.number = MU_PROC_RUNNING;
	while (count < sizeof(words) / sizeof(*words) &&
	    (at = strstr(at, " 0x")) != NULL && (at += 3) < end &&
	    mu_proc_number(&at, end, 16, &words[count]))
		count++;
	if (count < 2)
		return call;
	call.sp = words[count - 2];
	call.pc = words[count - 1];
	if (call.number >= 0)
		memcpy(call.arguments, words, sizeof(call.arguments));
	return call;
}

long
mu_proc_call(pid_t pid, pid_t tid)
{
	return mu_proc_call_of(pid, tid).number;
}

bool
mu_proc_changes_space(pid_t pid, pid_t tid)
{
	switch (mu_proc_call(pid, tid)) {
	case SYS_brk:
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_mprotect:
	case SYS_madvise:
		return true;
	default:
		return false;
	}
}

/* Of /proc/PID/stat, counted from the state behind the name. */
#define START_STACK 25

uintptr_t
mu_proc_start_stack(pid_t tid)
{
	char path[32], text[1024];
	const char *at, *end;
	uint64_t value = 0;
	ssize_t n;
	int i;

	mu_text_format(path, sizeof(path), "/proc/%d/stat", tid);
	n = mu_procfs_read(path, text, sizeof(text));
	end = text + (n > 0 ? n : 0);
	at = n > 0 ? strrchr(text, ')') : NULL;
	for (i = 0; i <= START_STACK && at != NULL; i++) {
		at = memchr(at, ' ', (size_t)(end - at));
		at = at == NULL ? NULL : at + 1;
	}
	if (at == NULL || !mu_proc_number(&at, end, 10, &value))
		return 0;
	return (uintptr_t)value;
}
