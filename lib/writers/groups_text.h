/*
 * Groups as text: the total first, then what they are, an example, and what
 * hangs on it.
 */
#ifndef LIB_WRITERS_GROUPS_TEXT_H
#define LIB_WRITERS_GROUPS_TEXT_H

#include "lib/writers/writer.h"

/* The type of the entries of GROUP. Returns false if it is not known. */
bool mu_group_type(const struct mu_names *names,
    const struct mu_lost_group *group, struct mu_type *type);

#define MU_GROUP_CYCLE 400 /* bytes, with the end */

/*
 * Write the cycle that the example of a group is in to TEXT, if all of its
 * types are known: "Node.next → Node.next". Returns false if there is none.
 */
bool mu_group_cycle(const struct mu_names *names, const struct mu_groups_at *at,
    const char *arrow, struct mu_text *text);

/*
 * Every group, followed by an empty line, and a line about those that the limit
 * cut. Bytes of the heap are shown only with SHOWN->contents.
 */
void mu_groups_text(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown);

#endif
