/*
 * The process that symbolizes, and the one that waits for it.
 *
 * execve() resets the signal of a child's end to SIGCHLD (de_thread() in
 * fs/exec.c), which the program would see, and its waitpid(-1) as well. So the
 * symboliser is a grandchild. Its parent, the attendant, is a clone without an
 * exit signal, shares the program's memory and descriptors, and executes
 * nothing.
 *
 * Runs in: original.
 */
#ifndef LIB_REPORT_SYMBOLIZER_PROCESS_H
#define LIB_REPORT_SYMBOLIZER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/report/symbolizer.h"

enum mu_symbolizer_end {
	MU_SYMBOLIZER_GOOD, /* exit statuses of the attendant */
	MU_SYMBOLIZER_FAILED,
	MU_SYMBOLIZER_LATE,
	MU_SYMBOLIZER_RUNS,
};

/* Must not be moved. */
struct mu_symbolizer_process {
	const struct mu_symbolizer *symbolizer;
	int descriptor; /* its standard input and output; closed here */
	uint64_t deadline_ns;

	pid_t original, attendant, child;
	char *stack;
};

/* Returns false if it was not started; the descriptor is closed. */
bool mu_symbolizer_process_start(struct mu_symbolizer_process *process);

/* If the result is not RUNS, everything is reaped and released. */
enum mu_symbolizer_end mu_symbolizer_process_end(
    struct mu_symbolizer_process *process);

#endif
