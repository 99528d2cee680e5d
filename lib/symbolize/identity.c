#include "lib/symbolize/identity.h"

#include <grp.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "mu/sys.h"

/* The line "Groups:\t4 24 27 \n". */
size_t
mu_identity_groups(const char *status, gid_t *groups, size_t max)
{
	const char *at = strstr(status, "\nGroups:");
	size_t count = 0;
	char *end;

	if (at == NULL)
		return 0;
	at += strlen("\nGroups:");
	for (;; at = end) {
		while (*at == ' ' || *at == '\t')
			at++;
		if (*at < '0' || *at > '9' || count == max)
			return count;
		groups[count++] = (gid_t)strtoul(at, &end, 10);
	}
}

static bool
has_groups(const gid_t *groups, size_t num_groups)
{
	int count = getgroups(0, NULL);
	gid_t *own;
	bool same;

	if (count < 0 || (size_t)count != num_groups)
		return false;
	own = calloc(num_groups + 1, sizeof(*own));
	same = own != NULL && getgroups(count, own) == count &&
	    memcmp(own, groups, num_groups * sizeof(*groups)) == 0;
	free(own);
	return same;
}

/*
 * A change of ids sets the dumpable flag to fs.suid_dumpable, which may be 1.
 */
bool
mu_identity_take(
    uid_t user, gid_t group, const gid_t *groups, size_t num_groups)
{
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (!has_groups(groups, num_groups) &&
	    setgroups(num_groups, groups) != 0)
		return false;
	return setresgid(group, group, group) == 0 &&
	    setresuid(user, user, user) == 0 &&
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

bool
mu_identity_limit(uint64_t capabilities)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };
	unsigned i;

	for (i = 0; i < 2; i++)
		data[i].permitted = data[i].effective =
		    (uint32_t)(capabilities >> (32 * i));
	return mu_sys2(SYS_capset, (long)&header, (long)data) == 0;
}
