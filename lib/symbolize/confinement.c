#include "lib/symbolize/confinement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwalk/memory/available.h"
#include "lib/symbolize/identity.h"
#include "lib/symbolize/read_only.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

#define STATUS_SIZE 8192 /* bytes of /proc/PID/status that are read */
#define MEMORY_MIN ((size_t)256 << 20)
#define MEMORY_MAX ((size_t)2 << 30)
#define CPU_SECONDS 120
#define FILES_MAX 1024

/* The effective one counts, unless it is root's; -1: not known. */
static int64_t
least_of(const char *status, const char *name)
{
	int64_t id;
	unsigned i;

	for (i = 1; i < 4; i++) {
		id = mu_proc_status_number(status, name, i, 10);
		if (id != 0)
			return id;
	}
	return mu_proc_status_number(status, name, 0, 10);
}

struct mu_rights
mu_rights_of_process(pid_t pid)
{
	struct mu_rights rights = { .known = false };
	char path[64], status[STATUS_SIZE];
	int64_t user, group;
	ssize_t length = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = mu_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0)
		length = mu_sys_read(fd, status, sizeof(status) - 1);
	mu_sys_close(&fd);
	status[length > 0 ? length : 0] = '\0';
	user = least_of(status, "\nUid:");
	group = least_of(status, "\nGid:");
	if (user < 0 || group < 0)
		return rights;
	rights.known = true;
	rights.uid = (uid_t)user;
	rights.gid = (gid_t)group;
	rights.num_groups =
	    mu_identity_groups(status, rights.groups, MU_GROUPS_MAX);
	return rights;
}

struct mu_rights
mu_rights_of_file(const char *path)
{
	struct mu_rights rights = { .known = false };
	struct stat about;

	if (stat(path, &about) == 0) {
		rights.known = true;
		rights.uid = about.st_uid;
		rights.gid = about.st_gid;
	}
	return rights;
}

bool
mu_rights_other(const struct mu_rights *rights)
{
	return geteuid() == 0 && rights->known && rights->uid != 0;
}

static bool
take_on(const struct mu_rights *rights)
{
	return !mu_rights_other(rights) ||
	    mu_identity_take(
		rights->uid, rights->gid, rights->groups, rights->num_groups);
}

/* The address space that we have, and so much more. */
static rlim_t
memory_limit(void)
{
	unsigned long pages = 0;
	size_t more = MEMORY_MAX, available;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL)
		return RLIM_INFINITY;
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	if (mu_available(&available) && available / 2 < more)
		more = available / 2;
	if (more < MEMORY_MIN)
		more = MEMORY_MIN;
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
}

/* Where the hard limit is lower it stays. */
static void
limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit both;

	if (getrlimit(resource, &both) != 0)
		return;
	if (both.rlim_max != RLIM_INFINITY && both.rlim_max < value)
		value = both.rlim_max;
	both.rlim_cur = both.rlim_max = value;
	setrlimit(resource, &both);
}

bool
mu_confine(const struct mu_rights *rights, bool network)
{
	limit(RLIMIT_AS, memory_limit());
	limit(RLIMIT_CPU, CPU_SECONDS);
	limit(RLIMIT_CORE,
	    1); /* 1 also stops a pipe; see lib/helpers/sweeper_limits.c */
	limit(RLIMIT_NOFILE, FILES_MAX);
	if (!network)
		limit(RLIMIT_FSIZE, 0);
	if (!take_on(rights) || !mu_identity_limit(0))
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!network)
		mu_read_only();
	return true;
}
