/*
 * --doctor: can the process's heap be read, and its addresses be named? Pure.
 */
#include <string.h>

#include "heapwalk/heaps/table/table.h"
#include "lib/doctor/facts.h"
#include "lib/doctor/findings.h"

static bool
check_program(
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	if (target->bits == 32)
		mu_finding_add(findings, MU_BLOCKER, "program",
		    "process %d is a 32-bit program, which is not supported; "
		    "check its 64-bit build",
		    target->pid);
	else if (target->bits == 64 && !target->same_machine)
		mu_finding_add(findings, MU_BLOCKER, "program",
		    "process %d is for another kind of CPU (an emulator runs "
		    "it?): not supported",
		    target->pid);
	else
		return true;
	return false;
}

static void
check_release(
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	unsigned major = target->glibc[0], minor = target->glibc[1];
	struct mu_heap_releases known;

	if (major == 0)
		mu_finding_add(findings, MU_WARNING, "glibc",
		    "which release of glibc process %d has is not stated by its "
		    "files; the check looks into its memory",
		    target->pid);
	else if (!mu_heaps_supports(major, minor, &known))
		mu_finding_add(findings, MU_WARNING, "glibc",
		    "glibc %u.%u is not known here: its heap may not be read; "
		    "look for a newer memunreachable",
		    major, minor);
	else
		mu_finding_add(findings, MU_FINE, "glibc",
		    "glibc %u.%u is known", major, minor);
}

static void
check_allocator(
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	if (strncmp(target->allocator, "libjemalloc", 11) == 0)
		mu_finding_add(findings, MU_WARNING, "allocator",
		    "process %d has jemalloc (%s), which is read from outside"
		    " only, and only if it is release 5.2.1, 5.3.0 or 5.3.1",
		    target->pid, target->allocator);
	else if (strncmp(target->allocator, "libmimalloc", 11) == 0)
		mu_finding_add(findings, MU_WARNING, "allocator",
		    "process %d has mimalloc (%s), which is read if it is"
		    " release 2.0.9 to 2.4.1 or 3.0.3 to 3.4.3 without"
		    " MI_SECURE and MI_DEBUG",
		    target->pid, target->allocator);
	else if (strncmp(target->allocator, "libtcmalloc", 11) == 0)
		mu_finding_add(findings, MU_WARNING, "allocator",
		    "process %d has tcmalloc (%s), which is read if it is"
		    " that of gperftools 2.9.1 to 2.18.1, not for debugging",
		    target->pid, target->allocator);
	else if (target->allocator[0] != '\0')
		mu_finding_add(findings, MU_BLOCKER, "allocator",
		    "process %d has another allocator (%s), whose blocks are "
		    "not checked; run it without that",
		    target->pid, target->allocator);
	else if (target->has_musl)
		mu_finding_add(findings, MU_WARNING, "musl",
		    "process %d has musl, whose heap is read from outside only,"
		    " and only if it is release 1.2.1 to 1.2.5",
		    target->pid);
	else if (target->libc[0] != '\0' || target->is_static)
		check_release(target, findings);
	else if (target->bits != 0 && target->mem_error == 0)
		mu_finding_add(findings, MU_BLOCKER, "glibc",
		    "process %d has neither glibc nor musl mapped: its heap "
		    "cannot be found",
		    target->pid);
}

static void
check_names(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	if (target->detail == MU_SYMBOLS_LINES)
		mu_finding_add(findings, MU_FINE, "names",
		    "the program has debug information: functions, files and "
		    "lines");
	else if (machine->debuginfod)
		mu_finding_add(findings, MU_FINE, "names",
		    "the program has no debug information here; the servers of "
		    "DEBUGINFOD_URLS will be asked");
	else if (target->detail == MU_SYMBOLS_NAMES)
		mu_finding_add(findings, MU_WARNING, "names",
		    "the program has names of functions, but no lines; install "
		    "its debug information, or set DEBUGINFOD_URLS");
	else
		mu_finding_add(findings, MU_WARNING, "names",
		    "the program has no names (it is stripped); install its "
		    "debug information, or set DEBUGINFOD_URLS");
}

void
mu_doctor_check_files(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	if (!check_program(target, findings))
		return;
	if (target->is_libc_silent)
		mu_finding_add(findings, MU_BLOCKER, "files",
		    "the libc of process %d is not read within seconds (a "
		    "mount that is silent?): a check would wait for it",
		    target->pid);
	else if (target->is_silent)
		mu_finding_add(findings, MU_WARNING, "files",
		    "the files of process %d are not read within seconds (a "
		    "mount that is silent?): names will be missing",
		    target->pid);
	check_allocator(target, findings);
	if (target->mem_error == 0 && !target->is_silent)
		check_names(machine, target, findings);
}
