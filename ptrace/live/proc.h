/*
 * /proc without libc: whole files, directories of numbers, and the numbers in
 * their text.
 *
 * Runs in: any.
 */
#ifndef PTRACE_LIVE_PROC_H
#define PTRACE_LIVE_PROC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/arena.h"

/* One buffer for many files; zero but for the arena at first. */
struct mu_proc_text {
	char *text; /* LENGTH bytes, not terminated */
	size_t length, max;
	struct mu_arena *arena;
};

/*
 * Read the whole file PATH into TEXT, over what was there. 0 or -errno;
 * -ENOMEM when the arena is used up.
 */
long mu_proc_read(struct mu_proc_text *text, const char *path);

/* The same of an open file, from where it stands; it stays open. */
long mu_proc_read_open(struct mu_proc_text *text, int fd);

/*
 * Call VISIT for every entry of the directory PATH whose name is a decimal
 * number that fits an int, until it returns false. 0 or -errno.
 */
long mu_proc_numbers(
    const char *path, bool (*visit)(void *ctx, int number), void *ctx);

/* The same from where the open directory DIR stands; it stays open. */
long mu_proc_numbers_in(
    int dir, bool (*visit)(void *ctx, int number), void *ctx);

/*
 * Take a number in BASE 10 or 16 (lower-case) from *CURSOR, which moves past
 * it. False, and the cursor stays, if there is none or it needs over 64 bits.
 */
bool mu_proc_number(
    const char **cursor, const char *end, unsigned base, uint64_t *value);

/*
 * /proc/PID/status has about 1500 bytes. The line of all groups, up to 65536,
 * stands before most others and may be 700 KB long.
 */
#define MU_PROC_STATUS_SIZE 4096

/*
 * Read the status file of process PID, or of its thread TID unless that is 0,
 * without the line of all groups: at most SIZE - 1 bytes, terminated. Bytes of
 * STATUS, or -errno and an empty text.
 */
ssize_t mu_proc_status_read(pid_t pid, pid_t tid, char *status, size_t size);

/* The same of the calling thread. */
ssize_t mu_proc_own_status(char *status, size_t size);

/*
 * Number FIELD (counted from 0, blanks between) after KEY in the terminated
 * text of a status file, or -1. A line is "Uid:\t1000\t1000\t1000\t1000". KEY
 * starts with a newline: the first line, Name, may hold anything else.
 */
int64_t mu_proc_status_number(
    const char *status, const char *key, unsigned field, unsigned base);

/*
 * The same in bytes, of a line as "VmRSS:\t    1234 kB". 0: the kernel does not
 * tell (RssAnon: Linux 4.5), or the amount is over INT64_MAX.
 */
uint64_t mu_proc_status_bytes(const char *status, const char *key);

/* Does seccomp filter the thread's calls? A filter may kill for some. */
bool mu_proc_status_filtered(const char *status);

/* The state letter of thread TID of PID (R S D T t Z X ...), or -errno. */
int mu_proc_state(pid_t pid, pid_t tid);

/* Does that answer say that the thread's life is over? */
static inline bool
mu_proc_ended(int state)
{
	return state == -ENOENT || state == -ESRCH || state == 'Z' ||
	    state == 'X' || state == 'x';
}

/*
 * A thread of PID that has not ended, by which /proc shows the memory: PID
 * itself, or where the leader has ended before its threads another one. PID if
 * there is none.
 */
pid_t mu_proc_living(pid_t pid);

/* The path of the program of PID, any bytes, cut at SIZE - 1; "": not known. */
void mu_proc_program(pid_t pid, char *program, size_t size);

/*
 * Have all threads of PID ended? A zombie leader alone does not say so. Asks a
 * pidfd (Linux 5.3); without one the leader has to do.
 */
bool mu_proc_is_over(pid_t pid);

#define MU_PROC_NO_CALL (-1L)
#define MU_PROC_RUNNING (-2L)

/*
 * The system call that thread TID of PID waits in; MU_PROC_RUNNING, or
 * MU_PROC_NO_CALL: in none, or /proc does not tell.
 */
long mu_proc_call(pid_t pid, pid_t tid);

/* The parent of process PID, as our PID namespace has it; 0: there is none. */
pid_t mu_proc_parent(pid_t pid);

/*
 * The number of process PID in its own PID namespace, the innermost; or -1.
 */
pid_t mu_proc_inner_pid(pid_t pid);

/* The end of [TEXT, END)'s first line: its newline, or END. */
const char *mu_proc_line_end(const char *text, const char *end);

#endif
