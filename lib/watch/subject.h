/*
 * The process that is watched: found by its PID or its name, and recognised
 * again, as PIDs are used again and a process may execute another program.
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_SUBJECT_H
#define LIB_WATCH_SUBJECT_H

#include "lib/watch/look.h"

/* How to find a process. */
struct mu_watch_search {
	const char *name; /* NULL: not by name */
	bool unit;        /* it is that of a systemd unit */
};

struct mu_watch_subject {
	pid_t pid;
	uint64_t started;  /* in clock ticks after boot */
	int fd;            /* a pidfd; -1: none (Linux before 5.3) */
	char program[256]; /* path of its executable; "" if not known */
	size_t same_name;  /* how many processes the search has found */
};

/*
 * Open process PID. Returns false if there is none. Close it in any case.
 */
bool mu_watch_subject_open(struct mu_watch_subject *subject, pid_t pid);

/*
 * The same of the oldest process, other than NOT, whose name (comm), executable
 * or first argument is that of SEARCH, or which is in the control group of that
 * unit.
 */
bool mu_watch_subject_find(struct mu_watch_subject *subject,
    const struct mu_watch_search *search, pid_t not );
void mu_watch_subject_close(struct mu_watch_subject *subject);

/* True if the process has ended. */
bool mu_watch_subject_gone(const struct mu_watch_subject *subject);

/* True, once, if it executes another program than before. */
bool mu_watch_subject_execed(struct mu_watch_subject *subject);

/* Set PID, RSS, PSS and ANON of LOOK. */
void mu_watch_subject_measure(
    const struct mu_watch_subject *subject, struct mu_watch_look *look);

#endif
