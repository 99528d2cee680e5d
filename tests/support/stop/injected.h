/*
 * A system call injected into a stopped process, and a single-threaded process
 * for it: blocking_setups.h says what that is doing.
 */
#ifndef TESTS_SUPPORT_STOP_INJECTED_H
#define TESTS_SUPPORT_STOP_INJECTED_H

#include "ptrace/remote/remote_call.h"
#include "tests/support/stop/blocking_calls.h"
#include "tests/support/stop/captured.h"

extern struct mu_remote_thread injected_remote;
extern struct mu_remote_call injected_call;

enum mu_status call_stopped(long nr);

/* PID, stopped, says its own number, as its PID namespace has it. */
void must_call(pid_t pid);

void must_refuse(enum mu_status expected, const char *word);

/* Stopped, asked, let go. */
void inject(pid_t pid);

/* A tracer is killed at some moment of its calls in PID. */
void be_killed(pid_t pid);

struct sitter {
	bool (*get)(void);
	long (*sit)(void);
};

/* How the call ended, in shared memory. */
struct sat {
	int begun, ended, error;
	long result;
	uint64_t ns;
	int handled[65]; /* signals, by number */
	uint64_t mask;   /* after the call */
};

extern struct sat *sat;

/* Is it asleep, and in a system call? Its line of /proc goes to TEXT. */
bool sits(pid_t pid, char *text, size_t size);

void must_sit(pid_t pid, char *text, size_t size);

/* 0: the kernel does not support it. */
pid_t sitter_start(const struct sitter *sitter);

void sitter_end(pid_t pid);

#endif
