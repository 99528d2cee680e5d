/*
 * Copies of a COMMAND that live on: see run.h.
 */
#include "lib/command/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ptrace/live/proc.h"

/* Has PID what we have put into the environment of the command? */
static bool
has_our_environment(const struct mu_command_run *run, pid_t pid)
{
	char path[64], *text = NULL;
	size_t size = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (!found && getdelim(&text, &size, '\0', file) > 0)
		found = strncmp(text, "MEMUNREACHABLE_OPTIONS=", 23) == 0 &&
		    strstr(text, run->report.folder) != NULL;
	free(text);
	fclose(file);
	return found;
}

static bool
tell_copy(void *ctx, int pid)
{
	struct mu_command_run *run = ctx;
	char program[PATH_MAX];

	mu_proc_program(pid, program, sizeof(program));
	if (program[0] == '\0' || strcmp(program, run->program) != 0 ||
	    !has_our_environment(run, pid))
		return true;
	fprintf(stderr,
	    "memunreachable: not checked: the command goes on as process %d;"
	    " look at it by -p %d, or with --children at its end\n",
	    pid, pid);
	run->end->unchecked = true;
	return true;
}

/* A daemon is a child by fork() that outlives the command. */
void
mu_command_tell_daemon(struct mu_command_run *run)
{
	if (run->program[0] != '\0')
		mu_proc_numbers("/proc", tell_copy, run);
}
