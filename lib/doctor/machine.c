/* --doctor: facts about the machine and the user. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/doctor/facts.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

/* Read a file of one line, without the newline. "" if it cannot be read. */
static void
read_line(const char *path, char *line, size_t size)
{
	if (mu_sys_read_file(AT_FDCWD, path, line, size) < 0)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

/* Parse "36 23 0:33 / /proc rw,nosuid - proc proc rw,hidepid=invisible". */
static void
read_hidepid(char *value, size_t size)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[4096], *option;

	while (mounts != NULL && fgets(line, sizeof(line), mounts) != NULL) {
		option = strstr(line, "hidepid=");
		if (strstr(line, " /proc ") == NULL || option == NULL)
			continue;
		option += sizeof("hidepid=") - 1;
		option[strcspn(option, ",\n ")] = '\0';
		if (strcmp(option, "0") != 0 && strcmp(option, "off") != 0)
			snprintf(value, size, "%.*s", (int)size - 1, option);
	}
	if (mounts != NULL)
		fclose(mounts);
}

/* A filter may kill the caller, so call this in a child. */
static void
try_call(struct mu_doctor_machine *machine)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(mu_refusal_of_call(NULL));
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		machine->call = mu_refusal_by_sigsys(&machine->call_why);
	else if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0)
		machine->call = mu_refusal_of_call(&machine->call_why);
}

static int
try_read(void)
{
	int from = 4711, to = 0;
	struct iovec local = { &to, sizeof(to) };
	struct iovec remote = { &from, sizeof(from) };

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0)
		return errno;
	return 0;
}

/* Lines such as "MemAvailable:    12345 kB" have the form of a status file. */
static void
read_memory(struct mu_doctor_machine *machine)
{
	char text[8192] = "\n", line[16];
	uint64_t limit, used;

	if (mu_sys_read_file(
		AT_FDCWD, "/proc/meminfo", text + 1, sizeof(text) - 1) < 0)
		return;
	machine->available = mu_proc_status_bytes(text, "\nMemAvailable:");
	limit = mu_proc_status_bytes(text, "\nCommitLimit:");
	used = mu_proc_status_bytes(text, "\nCommitted_AS:");
	machine->commit_left = limit > used ? limit - used : 0;
	read_line("/proc/sys/vm/overcommit_memory", line, sizeof(line));
	machine->commit_strict = strcmp(line, "2") == 0;
}

void
mu_doctor_machine_read(struct mu_doctor_machine *machine)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct utsname kernel;

	*machine = (struct mu_doctor_machine) { 0 };
	machine->has_proc = mu_procfs_shows_us();
	read_hidepid(machine->hidepid, sizeof(machine->hidepid));
	if (uname(&kernel) == 0)
		sscanf(kernel.release, "%5u.%5u", &machine->kernel[0],
		    &machine->kernel[1]);
	machine->read_error = try_read();
	try_call(machine);
	machine->us.pid = machine->us.tid = getpid();
	mu_refusal_facts_read(&machine->us);
	read_memory(machine);
	read_line("/proc/sys/kernel/core_pattern", machine->core_pattern,
	    sizeof(machine->core_pattern));
	read_line(
	    "/sys/kernel/security/lsm", machine->lsm, sizeof(machine->lsm));
	read_line(
	    "/proc/self/attr/current", machine->label, sizeof(machine->label));
	machine->debuginfod = urls != NULL && urls[0] != '\0';
}
