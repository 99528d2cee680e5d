/*
 * Search a program with one thread in its own memory, without an image: making,
 * touching and freeing an image takes as long as most searches.
 */
#ifndef LIB_PASS_IN_PLACE_H
#define LIB_PASS_IN_PLACE_H

#include <signal.h>

#include "lib/state/image.h"
#include "mu/signal_action.h"

/* Larger than AT_MINSIGSTKSZ on any CPU. */
#define MU_IN_PLACE_SIGNAL_STACK ((size_t)64 << 10)

/* Passes that take an image at once after a signal has ended a search. */
#define MU_IN_PLACE_NOT_FOR 15

/* Memory of the pass, which is freed with it. */
struct mu_in_place_room {
	char *tables;
	size_t size; /* of the tables */
	char *signal_stack;
};

/* Faults of a search, and what was done about them before. */
#define MU_IN_PLACE_FAULTS 4
struct mu_in_place_faults {
	struct mu_signal_action actions[MU_IN_PLACE_FAULTS];
	stack_t stack;
};

/*
 * HANDLER gets the faults, on ROOM's signal stack and with all signals blocked.
 * They have to be unblocked: a blocked one kills in spite of a handler. Returns
 * their mask. Runs in: original, sweeper.
 */
mu_sigmask mu_in_place_expect_faults(struct mu_in_place_faults *faults,
    const struct mu_in_place_room *room,
    void (*handler)(int, siginfo_t *, void *));
void mu_in_place_restore_faults(const struct mu_in_place_faults *faults);

/*
 * Map the room with the first piece of the pass's arena: each mapping of its
 * own takes 5 us. Runs in: original.
 */
void mu_in_place_reserve_room(struct mu_image *image);

/* False: there is no memory. Runs in: original. */
bool mu_in_place_find_room(
    struct mu_image *image, struct mu_in_place_room *room);

/*
 * True if a search in place will be tried and needs so little memory that it
 * may begin before mu_own_image_find_room() is called; mu_in_place_try() calls
 * it then. What image->stop says of the process is known. Runs in: original.
 */
bool mu_in_place_is_quick(const struct mu_image *image);

/*
 * True if a search in place can be tried: nothing else can change the memory,
 * and an answer does not need an image. Signals are blocked. Runs in: original.
 */
bool mu_in_place_is_fit(const struct mu_image *image);

/*
 * Returns true if the search is done: image->sweeper.pid is about to send its
 * answer, which is complete, and image->stop.method is set. False: it was not
 * tried, or an image is needed; image->snap has not changed then.
 *
 * Runs in: original, with signals blocked, after mu_allocator_find() has found
 * malloc and image->stack is mapped. Malloc is not frozen afterwards.
 */
bool mu_in_place_try(struct mu_image *image);

#endif
