#include "ptrace/live/rights.h"

#include <linux/capability.h>
#include <sys/stat.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

uint64_t
mu_rights_own(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (mu_sys2(SYS_capget, (long)&header, (long)data) < 0)
		return UINT64_MAX;
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

static bool
stat_namespace(pid_t pid, struct stat *stat)
{
	char path[64];
	const char *at = path;
	int dir;

	mu_text_format(path, sizeof(path), "/proc/%d/ns/user", pid);
	dir = mu_procfs_at(&at);
	return mu_sys4(SYS_newfstatat, dir, (long)at, (long)stat, 0) == 0;
}

static bool
same_namespace(pid_t pid)
{
	struct stat ours = { 0 }, theirs = { 0 };

	return stat_namespace(mu_sys_getpid(), &ours) &&
	    stat_namespace(pid, &theirs) && ours.st_dev == theirs.st_dev &&
	    ours.st_ino == theirs.st_ino;
}

static bool
same_user(const char *status)
{
	int64_t user = mu_sys0(SYS_geteuid);
	unsigned i;

	/* Real, effective, saved and file system id. */
	for (i = 0; i < 4; i++)
		if (mu_proc_status_number(status, "\nUid:", i, 10) != user)
			return false;
	return true;
}

bool
mu_rights_exceed(pid_t pid, const char *status)
{
	int64_t theirs = mu_proc_status_number(status, "\nCapPrm:", 0, 16);
	uint64_t ours = mu_rights_own();

	if (ours == 0)
		return false;
	return theirs < 0 || (ours & ~(uint64_t)theirs) != 0 ||
	    !same_user(status) || !same_namespace(pid);
}
