/*
 * One look at the heap: malloc frozen, an image taken, the image's answer
 * received. Tried again where another try can have a better answer.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
#ifndef LIB_PASS_LOOK_H
#define LIB_PASS_LOOK_H

#include "lib/pass/pass.h"

/* What the program registered is asked for anew. Fills INFO. */
enum mu_status mu_look(
    struct mu_pass *pass, struct UnreachableMemoryInfo *info);

/* Ready for another try; what the program registered stays. */
void mu_look_forget(struct mu_pass *pass, struct UnreachableMemoryInfo *info);

/* What was received is not told: INFO has nothing, and no memory. */
void mu_look_drop(struct mu_pass *pass, struct UnreachableMemoryInfo *info);

#endif
