/*
 * Names of groups of blocks that stay the same from look to look: a type or a
 * size, and where it was allocated, if a recorder knows that. "probably" stands
 * before a type that is not proven.
 *
 * Pure.
 */
#ifndef LIB_WATCH_GROUP_NAME_H
#define LIB_WATCH_GROUP_NAME_H

#include "lib/explain/explained.h"
#include "lib/watch/look.h"

/*
 * "Session (handle at served.c:16)", "blocks of 48 bytes (probably at
 * served.c:41)", where no recorder knows that: the group AT, with
 * MU_WATCH_NAME bytes of room in NAME.
 */
void mu_watch_name_lost(
    char *name, const struct mu_groups_at *at, const struct mu_names *names);

/*
 * The same for live blocks. Arrays of one type are one group, whatever their
 * length, and large blocks of no known type are in groups by powers of two: a
 * table that doubles is then no new group each time.
 */
void mu_watch_name_live(char *name, const struct mu_in_use *in_use);

#endif
