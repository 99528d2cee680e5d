/* Find the signal handlers that a thread is in, by the frames on its stack. */
#ifndef HEAPWALK_SUBJECT_HANDLERS_H
#define HEAPWALK_SUBJECT_HANDLERS_H

#include "heapwalk/subject/snapshot.h"

struct mu_handler {
	uintptr_t at;  /* where to search on */
	uintptr_t end; /* of the search */
	/* Where the word was found; what the handler interrupted. */
	uintptr_t frame, pc, sp;
};

/* Search the stack of a thread that is at PC with the stack pointer SP. */
void mu_handler_open(struct mu_handler *handler, const struct mu_snapshot *snap,
    uintptr_t pc, uintptr_t sp);

/*
 * The next frame at or above HANDLER->at: a word there is the address of the
 * code that a handler returns to. pc and sp are 0 if they cannot be read.
 */
bool mu_handler_next(
    struct mu_handler *handler, const struct mu_snapshot *snap);

#endif
