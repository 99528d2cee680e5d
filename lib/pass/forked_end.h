/*
 * A child by fork() of a command that is checked without its children, as a
 * framework makes one for each test. It still is the program that was asked
 * for, but it is not traced: a traced program could not become another user,
 * nor be debugged. At its end it asks the command to trace it, and is checked
 * like the command itself.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_FORKED_END_H
#define LIB_PASS_FORKED_END_H

#include <stdbool.h>

struct mu_forked_end {
	int pid;      /* this process is a child by fork(); 0: it is none */
	bool lacks;   /* a thread of a process that it was forked from */
	bool threads; /* there were some at the last fork() */
};

/* Note each fork() from now on. Returns false without memory. */
bool mu_forked_end_note(void);

/*
 * If this process is such a child, ask. It is none if its heap may hold what
 * only another thread, which fork() leaves out, refers to.
 */
void mu_forked_end_ask(void);

#endif
