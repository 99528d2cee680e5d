#include "ptrace/live/kernel_values.h"

#include <string.h>
#include <sys/epoll.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"

#define EPOLL_LINK "anon_inode:[eventpoll]"
#define PATH_SIZE 64

struct epoll_search {
	pid_t pid;
	const struct mu_kernel_files *files;
	struct mu_words *words;
	struct mu_proc_text text;
	long error; /* 0, or -errno that ended the search */
};

/* If the line starts with KEY, move *AT past it and the blanks after it. */
static bool
take_key(const char **at, const char *eol, const char *key)
{
	size_t length = strlen(key);

	if ((size_t)(eol - *at) < length || memcmp(*at, key, length) != 0)
		return false;
	*at += length;
	while (*at < eol && (**at == ' ' || **at == '\t'))
		++*at;
	return true;
}

/*
 * The number must end at a blank or at the end of the line; otherwise it was
 * cut.
 */
static bool
add_hex(const char *at, const char *eol, struct mu_words *words)
{
	uint64_t value;

	if (!mu_proc_number(&at, eol, 16, &value) || (at < eol && *at != ' ') ||
	    !mu_word_plausible((uintptr_t)value))
		return true;
	return mu_words_add(words, (uintptr_t)value);
}

/*
 * fs/eventpoll.c, ep_show_fdinfo(), Linux 3.8 and newer:
 *	tfd:        5 events:       19 data:     55d0c8a012a0  pos:0 ino:b
 *sdev:d
 */
static bool
add_epoll_line(const char *at, const char *eol, struct mu_words *words)
{
	if (!take_key(&at, eol, "tfd:"))
		return true;
	for (; at < eol; at++)
		if (take_key(&at, eol, "data:"))
			return add_hex(at, eol, words);
	return true;
}

/*
 * fs/proc/base.c, show_timer(), Linux 3.10 and newer; the value is %px:
 *	signal: 60/000055d0c8a012a0
 */
static bool
add_timer_line(const char *at, const char *eol, struct mu_words *words)
{
	uint64_t signo;

	if (!take_key(&at, eol, "signal:") ||
	    !mu_proc_number(&at, eol, 10, &signo) || at == eol || *at != '/')
		return true;
	return add_hex(at + 1, eol, words);
}

/* Take whole lines only: a last line without its newline may be cut. */
static bool
each_line(const char *text, size_t length, struct mu_words *words,
    bool (*add)(const char *at, const char *eol, struct mu_words *words))
{
	const char *end = length > 0 ? text + length : text, *eol;

	for (; text < end; text = eol + 1) {
		eol = mu_proc_line_end(text, end);
		if (eol == end)
			break;
		if (!add(text, eol, words))
			return false;
	}
	return true;
}

bool
mu_kernel_values_parse_epoll(
    const char *text, size_t length, struct mu_words *words)
{
	return each_line(text, length, words, add_epoll_line);
}

bool
mu_kernel_values_parse_timers(
    const char *text, size_t length, struct mu_words *words)
{
	return each_line(text, length, words, add_timer_line);
}

/*
 * Returns 1 if FD is an epoll set, 0 if not, or -errno. What is no epoll set is
 * EINVAL to epoll_ctl(), before it looks for the descriptor that it is to
 * remove (do_epoll_ctl() in fs/eventpoll.c): otherwise ENOENT.
 */
static long
is_epoll(const struct mu_kernel_files *files, int fd)
{
	char name[16], link[sizeof(EPOLL_LINK)];
	long n;

	if (files->ours >= 0 &&
	    mu_sys4(SYS_epoll_ctl, fd, EPOLL_CTL_DEL, files->ours, 0) ==
		-EINVAL)
		return 0;
	mu_text_format(name, sizeof(name), "%d", fd);
	n = mu_sys4(SYS_readlinkat, files->folder, (long)name, (long)link,
	    sizeof(link));
	if (n < 0)
		return n;
	return n == sizeof(EPOLL_LINK) - 1 &&
	    memcmp(link, EPOLL_LINK, (size_t)n) == 0;
}

static long
read_epoll(struct epoll_search *search, int fd)
{
	char path[PATH_SIZE];
	long error;

	mu_text_format(
	    path, sizeof(path), "/proc/%d/fdinfo/%d", search->pid, fd);
	error = mu_proc_read(&search->text, path);
	if (error == 0 &&
	    !mu_kernel_values_parse_epoll(
		search->text.text, search->text.length, search->words))
		error = -ENOMEM;
	return error;
}

/* ENOENT: another task that shares the table closed the descriptor. */
static bool
visit_descriptor(void *ctx, int fd)
{
	struct epoll_search *search = ctx;
	long error = is_epoll(search->files, fd);

	if (error == 1)
		error = read_epoll(search, fd);
	if (error < 0 && error != -ENOENT)
		search->error = error;
	return search->error == 0;
}

/* ENOENT: before Linux 3.10 or without CHECKPOINT_RESTORE. */
static long
read_timers(struct epoll_search *search, int timers)
{
	long error = timers;

	if (timers >= 0)
		error = mu_proc_read_open(&search->text, timers);
	if (error == 0 &&
	    !mu_kernel_values_parse_timers(
		search->text.text, search->text.length, search->words))
		error = -ENOMEM;
	return error == -ENOENT ? 0 : error;
}

void
mu_kernel_files_open(struct mu_kernel_files *files, pid_t pid)
{
	char path[PATH_SIZE];

	mu_text_format(path, sizeof(path), "/proc/%d/fd", pid);
	files->folder = mu_procfs_open(path, O_RDONLY | O_DIRECTORY);
	mu_text_format(path, sizeof(path), "/proc/%d/timers", pid);
	files->timers = mu_procfs_open(path, O_RDONLY);
	files->ours = -1;
}

void
mu_kernel_files_close(struct mu_kernel_files *files)
{
	mu_sys_close(&files->folder);
	mu_sys_close(&files->timers);
}

enum mu_status
mu_kernel_values_read(const struct mu_kernel_files *files, pid_t pid,
    struct mu_words *words, struct mu_why *why)
{
	struct epoll_search search = {
		.pid = pid,
		.files = files,
		.words = words,
		.text = { .arena = words->arena },
	};
	long error = files->folder;

	if (error >= 0)
		error = mu_proc_numbers_in(
		    files->folder, visit_descriptor, &search);
	if (search.error != 0)
		error = search.error;
	if (error == 0)
		error = read_timers(&search, files->timers);
	/*
	 * proc_fd_permission() and proc_fdinfo_access_allowed() ask for ptrace
	 * access.
	 */
	if (error == -EACCES || error == -EPERM)
		return mu_refusal(pid, pid, (int)-error, why);
	/* The thread whose files were opened has ended, perhaps by execve(). */
	if (files->folder >= 0 && (error == -ENOENT || error == -ESRCH))
		return mu_why(why, MU_ERR_TARGET_GONE,
		    "process %d ended, or became another program, in the"
		    " middle of the check",
		    pid);
	if (error != 0)
		return mu_why(why, mu_status_from_errno((int)-error),
		    "cannot list epoll sets and timers of process %d"
		    " (error %ld)",
		    pid, -error);
	return MU_OK;
}
