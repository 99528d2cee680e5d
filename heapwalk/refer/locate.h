/*
 * Describe where a reference lies in terms of the program's source: a module's
 * variable, a thread's stack or variable, a region, or a mapping.
 */
#ifndef HEAPWALK_REFER_LOCATE_H
#define HEAPWALK_REFER_LOCATE_H

#include "heapwalk/refer/owners.h"
#include "heapwalk/refer/referrers.h"

/* Fill in the location of ITEM, whose address is set and lies in ROOT. */
void mu_referrer_locate(struct mu_referrer *item, const struct mu_root *root,
    const struct mu_owners *owners);

#endif
