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

/*
 * A buffer that can be used for many files. Initialise to zero, except the
 * arena, and UNTIL_NS if there is a limit.
 */
struct mu_proc_text {
	char *text; /* LENGTH bytes, not terminated */
	size_t length, max;
	struct mu_arena *arena;
	uint64_t until_ns; /* CLOCK_MONOTONIC; 0: none */
};

/*
 * Read the whole file PATH into TEXT, replacing its contents. Returns 0 or
 * -errno; -ENOMEM if the arena is exhausted, -ETIME if it took too long.
 */
long mu_proc_read(struct mu_proc_text *text, const char *path);

/* The same for an open file, from its current offset; it stays open. */
long mu_proc_read_open(struct mu_proc_text *text, int fd);

/*
 * Call VISIT for every entry of the directory PATH whose name is a decimal
 * number that fits an int, until it returns false. 0 or -errno.
 */
long mu_proc_numbers(
    const char *path, bool (*visit)(void *ctx, int number), void *ctx);

/*
 * The same for the open directory DIR, from its current offset; it stays open.
 */
long mu_proc_numbers_in(
    int dir, bool (*visit)(void *ctx, int number), void *ctx);

/*
 * Take a number in BASE 10 or 16 (lower-case) from *CURSOR and move *CURSOR
 * past it. Returns false, without moving, if there is none or it does not fit
 * 64 bits.
 */
bool mu_proc_number(
    const char **cursor, const char *end, unsigned base, uint64_t *value);

/* The number in BASE that the file PATH begins with; false if there is none. */
bool mu_proc_read_number(const char *path, unsigned base, uint64_t *value);

/*
 * /proc/PID/status has about 1500 bytes without the line "Groups", which stands
 * before most others and may be 700 KB long (65536 groups).
 */
#define MU_PROC_STATUS_SIZE 4096

/*
 * Read the status file of process PID, or of its thread TID unless that is 0,
 * without the line "Groups": at most SIZE - 1 bytes, terminated. Returns the
 * bytes in STATUS, or -errno with an empty STATUS.
 */
ssize_t mu_proc_status_read(pid_t pid, pid_t tid, char *status, size_t size);

/* The same for the calling thread. */
ssize_t mu_proc_own_status(char *status, size_t size);

/*
 * Number FIELD (from 0, separated by blanks) after KEY in the terminated text
 * of a status file, or -1. A line looks like "Uid:\t1000\t1000\t1000\t1000".
 * KEY starts with a newline, because the first line, Name, may contain
 * anything.
 */
int64_t mu_proc_status_number(
    const char *status, const char *key, unsigned field, unsigned base);

/*
 * The value in bytes of a line such as "VmRSS:\t    1234 kB". 0 if the kernel
 * does not have the line (RssAnon: Linux 4.5) or the value is over INT64_MAX.
 */
uint64_t mu_proc_status_bytes(const char *status, const char *key);

/*
 * True if seccomp filters the thread's system calls; a filter may kill for
 * some.
 */
bool mu_proc_status_filtered(const char *status);

/* True if capability CAP is effective. */
bool mu_proc_status_has_cap(const char *status, unsigned cap);

/* The state letter of thread TID of PID (R S D T t Z X ...), or -errno. */
int mu_proc_state(pid_t pid, pid_t tid);

/*
 * True if STATE, a result of mu_proc_state(), means that the thread has ended.
 */
static inline bool
mu_proc_ended(int state)
{
	return state == -ENOENT || state == -ESRCH || state == 'Z' ||
	    state == 'X' || state == 'x';
}

/*
 * True if thread TID sleeps in a function of the kernel whose name begins with
 * FUNCTION (/proc/PID/wchan).
 */
bool mu_proc_sleeps_in(pid_t tid, const char *function);

/*
 * A thread of PID that has not ended, through which /proc shows the memory: PID
 * itself or, if the leader ended before its threads, another one. PID if there
 * is none.
 */
pid_t mu_proc_living(pid_t pid);

/*
 * The path of PID's program, arbitrary bytes, cut at SIZE - 1; "" if not known.
 */
void mu_proc_program(pid_t pid, char *program, size_t size);

/*
 * True if all threads of PID have ended; a zombie leader alone does not show
 * that. Uses a pidfd (Linux 5.3); without one only the leader is checked.
 */
bool mu_proc_is_over(pid_t pid);

/* The same at DEADLINE_NS (CLOCK_MONOTONIC), or as soon as it is true. */
bool mu_proc_await_over(pid_t pid, uint64_t deadline_ns);

#define MU_PROC_NO_CALL (-1L)
#define MU_PROC_RUNNING (-2L)

/*
 * The number of the system call that thread TID of PID waits in;
 * MU_PROC_RUNNING; or MU_PROC_NO_CALL if it is in no call or /proc does not
 * say.
 */
long mu_proc_call(pid_t pid, pid_t tid);

#define MU_PROC_ARGUMENTS 6

/*
 * The same with its arguments, and the stack pointer and program counter of the
 * thread, if it waits; 0: not known.
 */
struct mu_proc_call {
	long number;
	uint64_t arguments[MU_PROC_ARGUMENTS];
	uint64_t sp, pc;
};
struct mu_proc_call mu_proc_call_of(pid_t pid, pid_t tid);

/*
 * True if that call changes the address space, as malloc's do: the thread may
 * hold the lock of an arena, or wait for that of the address space, which
 * another thread has.
 */
bool mu_proc_changes_space(pid_t pid, pid_t tid);

/* The parent of process PID, in our PID namespace; 0 if it has none there. */
pid_t mu_proc_parent(pid_t pid);

/* The number of process PID in its own (the innermost) PID namespace; or -1. */
pid_t mu_proc_inner_pid(pid_t pid);

/*
 * Where the frames of the first thread of TID's process begin, below the
 * arguments of the program; 0 if we may not know, or TID has ended.
 */
uintptr_t mu_proc_start_stack(pid_t tid);

/* The end of the first line of [TEXT, END): its newline, or END. */
const char *mu_proc_line_end(const char *text, const char *end);

#endif
