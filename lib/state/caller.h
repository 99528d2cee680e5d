/*
 * The calling thread is not stopped: it waits or does the work. Its context was
 * taken where the program called the library.
 */
#ifndef LIB_STATE_CALLER_H
#define LIB_STATE_CALLER_H

#include "lib/pass/pass.h"

/* Add it to pass->snap, unless the call came without a stack. Runs in: any. */
enum mu_status mu_caller_add(struct mu_pass *pass);

/*
 * Note the address of the calling thread's alternate signal stack, for
 * mu_caller_add(). Runs in: original, in the calling thread.
 */
void mu_caller_note_stack(struct mu_pass *pass);

#endif
