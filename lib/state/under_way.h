/*
 * The passes in progress, for a child of fork(): it inherits their memory but
 * not the threads that would free it, and old words in it would hide leaks.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_UNDER_WAY_H
#define LIB_STATE_UNDER_WAY_H

#include <sys/types.h>

#include "mu/range.h"

#define MU_UNDER_WAY 16 /* more at a time are not remembered */

struct mu_image;

struct mu_under_way {
	struct {
		pid_t pid; /* 0: the slot is free */
		struct mu_image *image;
	} slots[MU_UNDER_WAY];
};

/*
 * IMAGE, of a pass, lies on a separate stack, and has begun. Returns its slot,
 * which is for mu_under_way_remove(): to be called when nothing of its memory
 * holds words any more.
 */
size_t mu_under_way_add(struct mu_under_way *passes, struct mu_image *image);
void mu_under_way_remove(struct mu_under_way *passes, size_t slot);

/*
 * Wipe STACK, on which a pass was, before that: a child that another thread
 * forks before the wiping frees the stack; one that is forked later finds
 * nothing in it.
 */
void mu_under_way_wipe(struct mu_range stack);

/*
 * Release the memory of passes of a process that we, who take IMAGE, were
 * forked from, but not a stack that the caller is on. With the pass lock held.
 */
void mu_under_way_drop_inherited(
    struct mu_under_way *passes, const struct mu_image *image);

#endif
