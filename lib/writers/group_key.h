/*
 * What identifies a group of lost blocks in every run of a program: the
 * functions of its stack, or its shape; no address, number or order.
 *
 * Runs in: the command.
 */
#ifndef LIB_WRITERS_GROUP_KEY_H
#define LIB_WRITERS_GROUP_KEY_H

#include "lib/pipe/entries.h"
#include "lib/term/names.h"
#include "mu/text.h"

#define MU_GROUP_KEY 2048 /* bytes, with its end */

/*
 * Add the key of AT's group: "handle < serve < main", or "Session {.name,
 * .data}"; without control characters.
 */
void mu_group_key(struct mu_text *text, const struct mu_groups_at *at,
    const struct mu_names *names);

#endif
