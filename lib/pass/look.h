/*
 * The program itself as a subject of the driver (lib/driver/driver.h): freeze
 * malloc, take an image, receive its answer.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_LOOK_H
#define LIB_PASS_LOOK_H

#include "lib/pass/pass.h"

/* Do all looks of a pass: two if the option confirm is set. Fills INFO. */
enum mu_status mu_look(
    struct mu_pass *pass, struct UnreachableMemoryInfo *info);

/* Drop what was received: INFO has nothing afterwards, and no memory. */
void mu_look_drop(struct mu_pass *pass, struct UnreachableMemoryInfo *info);

#endif
