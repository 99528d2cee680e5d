/*
 * For the plays of where and when a pass must work: a program that has lost
 * some blocks and holds others makes two passes, and prints one line:
 *	complete by ptrace: exact; the same again; unharmed
 * or what there is instead. "exact" is: all blocks that were lost, nothing of
 * what is held, byte for byte. "unharmed" is: every thread runs on, and all
 * that environment_state.h lists is as it was.
 *
 * No check here: these are whole programs, which a script judges.
 */
#ifndef TESTS_SUPPORT_ENVIRONMENTS_ENVIRONMENT_H
#define TESTS_SUPPORT_ENVIRONMENTS_ENVIRONMENT_H

#include <errno.h>
#include <sys/wait.h>

#include "tests/support/environments/environment_state.h"
#include "tests/support/live.h"

#define ENVIRONMENT_THREADS 1024
#define ENVIRONMENT_NAP_US 100000

/* How a thread passes its time. */
enum environment_kind {
	ENVIRONMENT_IDLE,     /* waits */
	ENVIRONMENT_COMPUTES, /* makes no system call */
	ENVIRONMENT_ALLOCATES,
	ENVIRONMENT_BLOCKED, /* waits with every signal blocked that can be */
	ENVIRONMENT_KINDS,
	ENVIRONMENT_NAPS =
	    ENVIRONMENT_KINDS, /* allocates, sleeps, allocates, ... */
	ENVIRONMENT_DEAF, /* waits with those blocked too that libc never blocks
			   */
};

struct environment_thread {
	pthread_t thread;
	uintptr_t hidden; /* a block that only its stack holds */
	enum environment_kind kind;
	int answered;
};

extern size_t environment_lost_bytes, environment_num_threads;
extern struct environment_thread environment_threads[ENVIRONMENT_THREADS];
extern int
    environment_asked; /* how often threads were asked whether they run */
extern int environment_output;
extern int environment_parts;
extern bool environment_has_children;   /* the program has children */
extern bool environment_small;          /* no 32 KiB of stack left to scrub */
extern char environment_words[512];     /* what the first pass said */
extern volatile bool environment_rests; /* no thread allocates now */

/* Adds to the line; its end lets it out. stdout may be closed, or half full. */
__attribute__((format(printf, 1, 2))) void environment_say(
    const char *format, ...);

void environment_plant(void);

/* Every thread is asked for a sign, and gives it; else for ever. */
void environment_ask_threads(int asked);

void environment_start(enum environment_kind kind, size_t stack_size);

/* One of each kind. */
void environment_start_some(void);

void environment_end_threads(void);

/* What it is to be compared with; two looks, as the first may map memory. */
void environment_begin(void);

bool environment_pass(char *words, size_t size);

/* Two passes and what they said, without the end of the line. */
void environment_ask(void);

/* The rest of the line; the program's exit status. */
int environment_end(void);

int environment_play(void);

#endif
