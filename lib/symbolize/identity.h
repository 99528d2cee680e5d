/*
 * Read the users and groups of a process, and take them on.
 *
 * Runs in: the command, and children that it forks, which have one thread.
 */
#ifndef SYMBOLIZE_IDENTITY_H
#define SYMBOLIZE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Read the supplementary groups in STATUS, text of a status file: at most MAX.
 */
size_t mu_identity_groups(const char *status, gid_t *groups, size_t max);

/*
 * Set real, effective and saved ids to USER and GROUP. Permitted capabilities
 * stay, for mu_identity_limit() to drop; until then no other process of that
 * user can trace us, and from then on we are not dumpable. Returns false if not
 * permitted.
 */
bool mu_identity_take(
    uid_t user, gid_t group, const gid_t *groups, size_t num_groups);

/* Set permitted and effective capabilities; none are inherited. */
bool mu_identity_limit(uint64_t capabilities);

#endif
