/* --doctor: findings about the machine and the user. Pure. */
#include <errno.h>
#include <string.h>

#include "lib/doctor/facts.h"
#include "lib/doctor/findings.h"

#define BITS(major, minor) ((major) << 16 | (minor))
#define PAGEMAP_SCAN_IN BITS(6u, 7u)
#define PIDFD_OPEN_IN BITS(5u, 3u)

static void
check_proc(
    const struct mu_doctor_machine *machine, struct mu_findings *findings)
{
	if (!machine->has_proc)
		mu_finding_add(findings, MU_BLOCKER, "proc",
		    "/proc is not mounted, or shows another PID namespace; "
		    "mount -t proc proc /proc");
	else if (machine->hidepid[0] != '\0' && machine->us.uid != 0)
		mu_finding_add(findings, MU_WARNING, "proc",
		    "/proc is mounted with hidepid=%s: other users' processes "
		    "are not seen; run as root",
		    machine->hidepid);
	else
		mu_finding_add(findings, MU_FINE, "proc", "/proc is there");
}

static void
check_kernel(
    const struct mu_doctor_machine *machine, struct mu_findings *findings)
{
	unsigned release = BITS(machine->kernel[0], machine->kernel[1]);

	if (release < PIDFD_OPEN_IN)
		mu_finding_add(findings, MU_WARNING, "kernel",
		    "Linux %u.%u has no pidfd (5.3): the end of a process is "
		    "seen later",
		    machine->kernel[0], machine->kernel[1]);
	else if (release < PAGEMAP_SCAN_IN)
		mu_finding_add(findings, MU_FINE, "kernel",
		    "Linux %u.%u; from 6.7 on (PAGEMAP_SCAN) large processes "
		    "are read faster",
		    machine->kernel[0], machine->kernel[1]);
	else
		mu_finding_add(findings, MU_FINE, "kernel",
		    "Linux %u.%u has all that helps", machine->kernel[0],
		    machine->kernel[1]);
	if (machine->read_error != 0)
		mu_finding_add(findings, MU_WARNING, "read",
		    "process_vm_readv() is refused (error %d), by seccomp or "
		    "the kernel's configuration; memory is read through /proc, "
		    "slower",
		    machine->read_error);
}

static void
check_yama(
    const struct mu_doctor_machine *machine, struct mu_findings *findings)
{
	int scope = machine->us.yama_scope;

	if (scope == 3)
		mu_finding_add(findings, MU_BLOCKER, "yama",
		    "Yama refuses ptrace until the next boot (ptrace_scope 3); "
		    "boot with kernel.yama.ptrace_scope=0");
	else if (scope <= 0 || machine->us.sys_ptrace == 1)
		mu_finding_add(findings, MU_FINE, "yama", "%s",
		    scope < 0 ? "there is no Yama"
			: scope == 0
			? "Yama refuses nothing (ptrace_scope 0)"
			: "Yama does not restrict us: we have CAP_SYS_PTRACE");
	else if (scope == 2)
		mu_finding_add(findings, MU_BLOCKER, "yama",
		    "Yama refuses ptrace to all but root (ptrace_scope 2); run "
		    "with sudo, or set kernel.yama.ptrace_scope=0");
	else
		mu_finding_add(findings, MU_WARNING, "yama",
		    "Yama lets us check only what we start (ptrace_scope 1); "
		    "run with sudo, or set kernel.yama.ptrace_scope=0");
}

static void
check_permission(
    const struct mu_doctor_machine *machine, struct mu_findings *findings)
{
	if (machine->call != MU_OK)
		mu_finding_add(findings, MU_BLOCKER, "ptrace", "%s",
		    machine->call_why.text);
	if (machine->us.sys_ptrace == 1)
		mu_finding_add(findings, MU_FINE, "user",
		    "we are user %d with CAP_SYS_PTRACE: other users' processes "
		    "can be checked",
		    machine->us.uid);
	else
		mu_finding_add(findings, MU_FINE, "user",
		    "we are user %d without CAP_SYS_PTRACE: our own processes "
		    "can be checked; for others run with sudo",
		    machine->us.uid);
}

/*
 * Labels look like "docker-default (enforce)", "unconfined",
 * "system_u:system_r:...".
 */
static void
check_modules(
    const struct mu_doctor_machine *machine, struct mu_findings *findings)
{
	const char *label = machine->label;

	if (label[0] == '\0' || strncmp(label, "unconfined", 10) == 0 ||
	    strstr(label, "unconfined_t") != NULL)
		mu_finding_add(findings, MU_FINE, "lsm",
		    "no security module confines us%s%s",
		    machine->lsm[0] == '\0' ? "" : "; there are: ",
		    machine->lsm);
	else
		mu_finding_add(findings, MU_WARNING, "lsm",
		    "we run confined as \"%.80s\", which may refuse ptrace; "
		    "if so, run outside of the container or the profile",
		    label);
}

static void
check_memory(
    const struct mu_doctor_machine *machine, struct mu_findings *findings)
{
	if (machine->available == 0)
		mu_finding_add(findings, MU_WARNING, "memory",
		    "how much memory is available is not known");
	else
		mu_finding_add(findings, MU_FINE, "memory",
		    "%zu MiB are available",
		    (size_t)(machine->available >> 20));
}

static void
check_cores(
    const struct mu_doctor_machine *machine, struct mu_findings *findings)
{
	const char *pattern = machine->core_pattern;

	if (pattern[0] == '\0')
		mu_finding_add(findings, MU_WARNING, "cores",
		    "the kernel writes no cores; set kernel.core_pattern, or "
		    "use gcore");
	else if (strstr(pattern, "systemd-coredump") != NULL)
		mu_finding_add(findings, MU_FINE, "cores",
		    "systemd keeps cores: coredumpctl dump -o FILE PID, then "
		    "--core FILE");
	else if (pattern[0] == '|')
		mu_finding_add(findings, MU_FINE, "cores",
		    "cores are handed to %.100s, which may keep them",
		    pattern + 1);
	else
		mu_finding_add(findings, MU_FINE, "cores",
		    "cores are written to \"%.100s\", where ulimit -c allows "
		    "it",
		    pattern);
}

void
mu_doctor_check_machine(
    const struct mu_doctor_machine *machine, struct mu_findings *findings)
{
	check_proc(machine, findings);
	check_kernel(machine, findings);
	check_permission(machine, findings);
	check_yama(machine, findings);
	check_modules(machine, findings);
	check_memory(machine, findings);
	check_cores(machine, findings);
	mu_finding_add(findings, MU_FINE, "debuginfod", "%s",
	    machine->debuginfod
		? "missing debug information is asked for (DEBUGINFOD_URLS)"
		: "only local debug information is used; for more set "
		  "DEBUGINFOD_URLS, as to https://debuginfod.elfutils.org");
}
