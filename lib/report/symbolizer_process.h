/*
 * The process that symbolizes, and the one that waits for it.
 *
 * execve() makes SIGCHLD the signal of the child's end again (de_thread() in
 * fs/exec.c), which the program would see, and its waitpid(-1) as well. So it
 * is a grandchild: its parent, the attendant, is a clone without a signal of
 * its end, shares the program's memory and descriptors, and executes nothing.
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

/* Not to be moved. */
struct mu_symbolizer_process {
	const struct mu_symbolizer *symbolizer;
	int descriptor; /* its standard input and output; closed by us */
	uint64_t deadline_ns;

	pid_t original, attendant, child;
	char *stack;
};

/* False: not started; the descriptor is closed. */
bool mu_symbolizer_process_start(struct mu_symbolizer_process *process);

/* Once it is another one than RUNS all is reaped and released. */
enum mu_symbolizer_end mu_symbolizer_process_end(
    struct mu_symbolizer_process *process);

#endif
