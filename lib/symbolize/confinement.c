/*
 * Rights are given up: see confinement.h.
 */
#include "lib/symbolize/confinement.h"

#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwalk/available.h"
#include "lib/symbolize/read_only.h"
#include "mu/sys.h"

#define STATUS_SIZE 8192 /* bytes of /proc/PID/status that are read */
#define MEMORY_MIN ((size_t)256 << 20)
#define MEMORY_MAX ((size_t)2 << 30)
#define CPU_SECONDS 120
#define FILES_MAX 1024

/* "Uid:\t1000\t0\t0\t0\n": real, effective, saved, for files. */
static bool
read_ids(const char *status, const char *name, unsigned ids[4])
{
	const char *line = strstr(status, name);

	return line != NULL &&
	    sscanf(line + strlen(name), "%u %u %u %u", &ids[0], &ids[1],
		&ids[2], &ids[3]) == 4;
}

static unsigned
least_of(const unsigned ids[4])
{
	size_t i;

	/* The effective one counts, unless it is root's. */
	for (i = 1; i < 4; i++) {
		if (ids[i] != 0)
			return ids[i];
	}
	return ids[0];
}

static void
read_groups(const char *status, struct mu_rights *rights)
{
	const char *line = strstr(status, "\nGroups:");
	char *end;

	if (line == NULL)
		return;
	for (line += strlen("\nGroups:");
	     *line != '\n' && rights->num_groups < MU_GROUPS_MAX; line = end) {
		rights->groups[rights->num_groups] =
		    (gid_t)strtoul(line, &end, 10);
		if (end == line)
			break;
		rights->num_groups++;
		end += *end == ' ';
	}
}

struct mu_rights
mu_rights_of_process(pid_t pid)
{
	struct mu_rights rights = { .known = false };
	char path[64], status[STATUS_SIZE];
	unsigned uids[4], gids[4];
	ssize_t length = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = mu_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0)
		length = mu_sys_read(fd, status, sizeof(status) - 1);
	mu_sys_close(&fd);
	status[length > 0 ? length : 0] = '\0';
	if (!read_ids(status, "\nUid:", uids) ||
	    !read_ids(status, "\nGid:", gids))
		return rights;
	rights.known = true;
	rights.uid = least_of(uids);
	rights.gid = least_of(gids);
	read_groups(status, &rights);
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
	if (!mu_rights_other(rights))
		return true;
	return setgroups(rights->num_groups, rights->groups) == 0 &&
	    setresgid(rights->gid, rights->gid, rights->gid) == 0 &&
	    setresuid(rights->uid, rights->uid, rights->uid) == 0;
}

static bool
drop_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	return mu_sys2(SYS_capset, (long)&header, (long)none) == 0;
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
	limit(RLIMIT_CORE, 1); /* 1 also stops a pipe; see lib/manners.c */
	limit(RLIMIT_NOFILE, FILES_MAX);
	if (!network)
		limit(RLIMIT_FSIZE, 0);
	if (!take_on(rights) || !drop_capabilities())
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!network)
		mu_read_only();
	return true;
}
